"""Reads the symbols of one file, in one pass over the syntax tree with Python's scopes: a parameter
that has the name of an imported module hides it. A name that is bound in several ways is left
alone; these checks are to be trusted when they speak.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from shrinker.check import symbols
from shrinker.check.symbols import ClassSymbols, ModuleSymbols
from shrinker.syntax.imports import Import, names_of, package_of
from shrinker.syntax.names import attribute_chain, dotted, first_name, last_name, names_in_fields
from shrinker.syntax.parsing import parse
from shrinker.syntax.scopes import COMPREHENSIONS, Comprehension, Scope, scope_of
from shrinker.syntax.walk import ByClass, Definition, children
from shrinker.values.upstream import PACKAGE, module_name

_DOTTED = re.compile(r"sglang(?:\.[A-Za-z_]\w*)+(?::[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?")
_TARGET = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*:[A-Za-z_]\w*(?:\.\w+)*")
_OPERATOR = re.compile(r"[A-Za-z_]\w*::([A-Za-z_]\w*)(?:\.\w+)?")
_FILE = re.compile(r"[\w./+-]*[\w+-]\.\w{1,10}")
_ENDING = re.compile(r"[^.]\.[a-z]{2,5}$|^\.[a-z]{2,5}$")
_HANDLERS = ByClass[Callable[["_Reader", Any, Scope], None]]()
_READ, _TEXT, _MADE = "read", "text", "made"


def read_symbols(root: Path, path: str) -> ModuleSymbols:
    """Parse a file of a tree and read its symbols; `path` is its place in upstream's layout."""
    try:
        tree = parse((root / path).read_bytes(), path)
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        return ModuleSymbols(path, module_name(path), error=str(error))
    return symbols_of(tree, path)


def symbols_of(tree: ast.Module, path: str) -> ModuleSymbols:
    """Return symbols of a file that is parsed already; the tree is not changed."""
    return _Reader(path).read(tree)


def look_up(scope: Scope, name: str) -> list[str]:
    """Return dotted names that imports from the package let `name` be, read in `scope`; none when
    it may be anything else too, but for ``name = None``.
    """
    owner = scope.owner(name)
    bindings = (owner.values(name) if owner is not None else None) or ()
    found = [
        b for b in bindings if not (isinstance(b.value, ast.Constant) and b.value.value is None)
    ]
    ours = all(
        b.kind in ("module", "from") and b.module.partition(".")[0] == PACKAGE for b in found
    )
    return sorted({f"{b.module}.{b.name}" if b.name else b.module for b in found}) if ours else []


class _Use(NamedTuple):
    """What is asked of a name: attributes one of the other, or a text (`getattr`); or what making
    one of it asks for by a keyword.
    """

    scope: Scope
    root: str
    names: tuple[str, ...]
    line: int
    how: str


class _Reader:
    """Walks one file; a handler by the type of node, `children` for what has none."""

    def __init__(self, path: str) -> None:
        self.found = ModuleSymbols(path, module_name(path))
        module = self.found.module
        self.package = (
            package_of(module, path.endswith("/__init__.py")) if module is not None else None
        )
        self.around: list[str] = []
        """Names of the classes around a node."""
        self.whole: dict[str, str] = {}
        """Modules of other packages by the names that imports bind to them."""
        self.foreign: set[str] = set()
        """What imports from other packages bind."""
        self.installed: set[str] = set()
        """Those of them that Python itself does not have."""
        self.named_classes: dict[str, str] = {}
        self.stored: dict[str, dict[str, int]] = {}
        """By class, attributes stored on `self`, with their first lines."""
        self.by_text: set[tuple[str, str]] = set()
        self.uses: list[_Use] = []

    def read(self, tree: ast.Module) -> ModuleSymbols:
        found = self.found
        top = scope_of(tree, self.package or "")
        self.children(tree, top)
        found.bound = top.bindings.names.keys() | top.bindings.declared
        found.exports = _exports(top)
        found.rows = [*symbols.rows_of(tree.body)]
        found.registers = [*symbols.registers_of(tree.body)]
        found.assigned = [*symbols.assigned_of(tree.body)]
        found.held = {*symbols.held_by(tree, self.package or "")}
        found.loaded = (
            {*symbols.loaded_by(tree, found.module, self.package or "")} if found.module else set()
        )
        # `hasattr(triton.language, "gather")` asks another package.
        found.by_text = {name for root, name in self.by_text if root not in self.foreign}
        found.named = {
            name: tuple(each) for name in top.bindings.names if (each := look_up(top, name))
        }
        for use in self.uses:
            self._resolve(use)
            if use.how == _READ and (module := self.whole.get(use.root)) is not None:
                for size in range(len(use.names)):
                    found.outside_reads.setdefault(
                        ".".join([module, *use.names[: size + 1]]), use.line
                    )
        return found

    def _resolve(self, use: _Use) -> None:
        """What is asked of a name, now that all of the file is known that may bind it."""
        owner, made = self.named_classes.get(use.root), use.how == _MADE
        targets = [] if made else look_up(use.scope, use.root)
        if use.how == _READ:
            self.found.attributes += ((use.line, each, use.names) for each in targets)
        for at, name in enumerate(use.names):
            on: list[tuple[str, str]] = []
            if owner is not None and not at:
                on = [(_MADE if made and name != "__init__" else "class", owner)]
            elif not made and use.root not in self.foreign:
                on = [("named", ".".join([each, *use.names[:at]])) for each in targets] or [
                    ("any", "")
                ]
            for each in on:
                self.found.lookups.setdefault((name, *each), use.line)

    def children(self, node: ast.AST, scope: Scope) -> None:
        for child in children(node):
            self.visit(child, scope)

    def visit(self, node: ast.AST, scope: Scope) -> None:
        _HANDLERS.get(node.__class__, _Reader.children)(self, node, scope)

    @_HANDLERS.of(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    def definition(self, node: Definition | ast.Lambda, scope: Scope) -> None:
        if isinstance(node, Definition) and isinstance(scope.node, ast.Module | ast.ClassDef):
            name = ".".join(
                self.around if isinstance(node, ast.ClassDef) else [*self.around, node.name]
            )
            plain = (
                each.func if isinstance(each, ast.Call) else each for each in node.decorator_list
            )
            # A computed one (`a if flag else b`) is another one by right when its condition is
            # decided.
            decorators = tuple(
                ast.unparse(each) for each in plain if isinstance(each, ast.Name | ast.Attribute)
            )
            self.found.decorated.setdefault(name, []).append((node.lineno, decorators))
        inner = scope.inside(node)
        inside = {
            *(node.body if isinstance(node.body, list) else [node.body]),
            *getattr(node, "type_params", ()),
        }
        for child in children(node):
            self.visit(child, inner if child in inside else scope)

    @_HANDLERS.of(ast.ClassDef)
    def class_(self, node: ast.ClassDef, scope: Scope) -> None:
        self.named_classes[node.name] = node.name
        members = dict(reversed([*symbols.assigned_of(node.body, definitions=True)]))
        self.around.append(node.name)
        name = ".".join(self.around)
        self.definition(node, scope)
        self.around.pop()
        bases, fields = tuple(map(last_name, node.bases)), frozenset(symbols.fields_of(node.body))
        foreign = tuple(last_name(base) for base in node.bases if first_name(base) in self.foreign)
        data, stores = symbols.made_by_fields(node), tuple(self.stored.get(name, {}).items())
        self.found.classes.append(
            ClassSymbols(
                name=name,
                bases=bases,
                members=tuple(members.items()),
                fields=fields,
                data=data,
                foreign=foreign,
                stores=stores,
                handed=frozenset(self.handed(node)),
                values=frozenset(value for value, _ in symbols.assigned_of(node.body)),
                abstract=frozenset(_abstract_methods(node)),
            )
        )

    def handed(self, node: ast.ClassDef) -> Iterator[str]:
        """Find the methods of a class under a decorator of another package: it may file them for
        who drives the objects.
        """
        for method in _methods(node):
            decorators = (
                each.func if isinstance(each, ast.Call) else each for each in method.decorator_list
            )
            if any(first_name(each) in self.installed for each in decorators):
                yield method.name

    @_HANDLERS.of(*COMPREHENSIONS)
    def comprehension(self, node: Comprehension, scope: Scope) -> None:
        self.children(node, scope.inside(node))

    @_HANDLERS.of(ast.For, ast.comprehension)
    def loop(self, node: ast.For | ast.comprehension, scope: Scope) -> None:
        if isinstance(node.iter, ast.Name):
            self.found.loops.add(node.iter.id)
        self.children(node, scope)

    @_HANDLERS.of(ast.AugAssign)
    def augmented(self, node: ast.AugAssign, scope: Scope) -> None:
        target: ast.expr = node.target
        if isinstance(target, ast.Attribute):
            # It reads what another statement has stored.
            target = ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
        self.visit(target, scope)
        self.visit(node.value, scope)

    @_HANDLERS.of(ast.AnnAssign)
    def annotated(self, node: ast.AnnAssign, scope: Scope) -> None:
        if node.value is None and isinstance(node.target, ast.Attribute):
            self.visit(node.annotation, scope)
        else:
            self.children(node, scope)

    @_HANDLERS.of(ast.Import, ast.ImportFrom)
    def import_(self, node: Import, scope: Scope) -> None:
        level = getattr(node, "level", 0)
        known = self.package is not None or not level
        for module, name, bound in names_of(node, self.package or ""):
            ours = known and module.partition(".")[0] == PACKAGE
            if ours:
                self.found.imports.append((node.lineno, module, name or None))
            else:
                written = getattr(node, "module", module) or ""
                self.found.outside.append((node.lineno, level, written, name or None))
            if name == "*":
                self.found.stars.append(module if known else "")
            elif not ours:
                self.foreign.add(bound)
                if module.partition(".")[0] not in sys.stdlib_module_names:
                    self.installed.add(bound)
                if not name:
                    self.whole[bound] = bound if bound == module.partition(".")[0] else module
            elif name[:1].isupper() and not name.isupper():
                self.named_classes[bound] = name

    @_HANDLERS.of(ast.Constant)
    def constant(self, node: ast.Constant, scope: Scope) -> None:
        text = node.value
        if not isinstance(text, str):
            return
        for name in names_in_fields(text):
            self.found.lookups.setdefault((name, "any", ""), node.lineno)
        if not 0 < len(text) < 200:
            return
        if text.isidentifier():
            self.found.binds.add(text)
        elif text.startswith("sglang.") and _DOTTED.fullmatch(text):
            self.found.paths.append((node.lineno, text))
        if "::" in text and (operator := _OPERATOR.fullmatch(text)):
            self.found.operators.append((node.lineno, operator[1]))
        if "." in text and _FILE.fullmatch(text):
            self.found.files.append((node.lineno, text))

    @_HANDLERS.of(ast.JoinedStr)
    def computed(self, node: ast.JoinedStr, scope: Scope) -> None:
        last = node.values[-1] if node.values else None
        if isinstance(last, ast.Constant) and _ENDING.search(str(last.value)):
            parts = (
                re.escape(str(v.value)) if isinstance(v, ast.Constant) else ".*"
                for v in node.values
            )
            self.found.computed_files.add("".join(parts).rpartition("/")[2])
        self.children(node, scope)

    @_HANDLERS.of(ast.List, ast.Tuple, ast.Set, ast.Dict)
    def display(self, node: ast.List | ast.Tuple | ast.Set | ast.Dict, scope: Scope) -> None:
        if rows := tuple(symbols.dispatch_of(node)):
            self.found.dispatches.append(rows)
        if isinstance(node, ast.List | ast.Tuple):
            self.neighbours(node.elts)
        self.children(node, scope)

    def neighbours(self, items: Sequence[ast.expr]) -> None:
        """A module's name with the next text names an attribute: ``LazyImport("sglang.a.b",
        "Name")`` and its like.
        """
        for pair in pairwise(items):
            match pair:
                case ast.Constant(value=str(module), lineno=line), ast.Constant(value=str(name)):
                    if module.startswith("sglang.") and _DOTTED.fullmatch(f"{module}:{name}"):
                        self.found.paths.append((line, f"{module}:{name}"))

    @_HANDLERS.of(ast.Expr)
    def expression(self, node: ast.Expr, scope: Scope) -> None:
        # A string that stands alone is documentation, not a use.
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value, scope)

    @_HANDLERS.of(ast.Attribute)
    def attribute(self, node: ast.Attribute, scope: Scope) -> None:
        if isinstance(node.ctx, ast.Store):
            self.found.binds.add(node.attr)
            if dotted(node.value) == "self":
                self.stored.setdefault(".".join(self.around), {}).setdefault(node.attr, node.lineno)
        root, names = attribute_chain(node)
        if len(names) > 2 and names[0] == "ops" and dotted(root) == "torch":
            self.found.operators.append((node.lineno, names[2]))
        read = names if isinstance(node.ctx, ast.Load) else names[:-1]
        self.ask(root, _Use(scope, dotted(root), read, node.lineno, _READ))
        self.visit(root, scope)

    def ask(self, root: ast.AST, use: _Use) -> None:
        """Names are looked up on what an expression gives."""
        owner = self.around[-1] if self.around else ""
        own = use.root in {"self", "cls"}
        if use.root and not own:
            self.uses.append(use)
            return
        above = owner and (own or (isinstance(root, ast.Call) and dotted(root.func) == "super"))
        for at, name in enumerate(use.names):
            self.found.lookups.setdefault(
                (name, "self", owner) if above and not at else (name, "any", ""), use.line
            )

    @_HANDLERS.of(ast.Call)
    def call(self, node: ast.Call, scope: Scope) -> None:
        args, function = node.args, dotted(node.func)
        named = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
        self.found.binds.update(named)
        match args:
            case [asked, ast.Constant(value=str(name)), *_] if function in {"getattr", "hasattr"}:
                root = asked.id if isinstance(asked, ast.Name) else ""
                self.ask(asked, _Use(scope, root, (name,), node.lineno, _TEXT))
                self.by_text.add((first_name(asked), name))
        if isinstance(node.func, ast.Name):
            self.uses += (
                _Use(scope, function, (made,), node.lineno, _MADE) for made in ("__init__", *named)
            )
        self.found.open |= function == "globals"
        constants = (
            (name, value) for name, value in named.items() if isinstance(value, ast.Constant)
        )
        texts = {
            name: (each.value, each.lineno)
            for name, each in constants
            if isinstance(each.value, str)
        }
        if len(texts) > 1 and any(
            ":" in text and _TARGET.fullmatch(text) for text, _ in texts.values()
        ):
            self.found.targets.append((last_name(node.func), texts))
        # `getattr` and `hasattr` say on what they look it up.
        for given in () if function in {"getattr", "hasattr"} else (*args, *named.values()):
            if (
                isinstance(given, ast.Constant)
                and isinstance(given.value, str)
                and given.value.isidentifier()
            ):
                self.found.handed_texts.setdefault(given.value, given.lineno)
        self.neighbours(args)
        self.children(node, scope)


def _methods(node: ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions that stand in the body of a class itself."""
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield statement


def _abstract_methods(node: ast.ClassDef) -> Iterator[str]:
    """Yield the names of methods under ``@abstractmethod`` or ``@abc.abstractmethod``."""
    for method in _methods(node):
        if any(last_name(each) == "abstractmethod" for each in method.decorator_list):
            yield method.name


def _exports(top: Scope) -> list[tuple[str, int]] | None:
    """Return texts of ``__all__`` with their lines; None where there is none, or it is not spelled
    out.
    """
    bindings = top.bindings.names.get("__all__", ())
    items = [item for binding in bindings for item in getattr(binding.value, "elts", [None])]
    texts = [
        (i.value, i.lineno)
        for i in items
        if isinstance(i, ast.Constant) and isinstance(i.value, str)
    ]
    return texts if bindings and len(texts) == len(items) else None
