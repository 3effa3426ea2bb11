"""What the code of one file names: texts, attributes, and names that are looked up on objects; and what of the package imports make of a name.

The walk itself is here, too: `reader` adds what the file binds.
"""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import ClassVar

from shrinker.check.declarations import dispatch_of
from shrinker.check.symbols import ModuleSymbols
from shrinker.syntax.names import first_name, last_name
from shrinker.syntax.scopes import Scope
from shrinker.syntax.walk import children
from shrinker.values.upstream import PACKAGE, module_name

_DOTTED = re.compile(r"sglang(?:\.[A-Za-z_]\w*)+(?::[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?")
_TARGET = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*:[A-Za-z_]\w*(?:\.\w+)*")
_FILE = re.compile(r"[\w./+-]*[\w+-]\.\w{1,10}")
_ENDING = re.compile(r"[^.]\.[a-z]{2,5}$|^\.[a-z]{2,5}$")


class Uses:
    """Walks one file; a handler by the type of node, `visit` for what has none."""

    handlers: ClassVar[Mapping[type[ast.AST], Callable[..., None]]] = {}

    def __init__(self, path: str) -> None:
        self.found = ModuleSymbols(path, module_name(path))
        self.around: list[str] = []
        """Names of the classes around a node."""
        self.exports_known = True
        self.words: set[str] = set()
        self.stored: dict[str, dict[str, int]] = {}
        """By class, attributes stored on `self`, with their first lines."""
        self.by_text: set[tuple[str, str]] = set()
        """First name of the object that is asked, and the name looked up on it."""
        self.chains: list[tuple[Scope, str, tuple[str, ...], int, bool]] = []
        self.lookups: dict[tuple[str, str, str], int] = {}
        self.on_names: list[tuple[Scope, str, tuple[str, ...], bool, str, int]] = []
        """What is asked of a name: below what, whether by a keyword of a call, name and line."""

    def extend_exports(self, value: ast.expr | None, single: bool) -> None:
        """A value is added to ``__all__``, as one element or as all of them."""
        self.found.exports = self.found.exports if self.found.exports is not None else []
        for item in value.elts if isinstance(value, ast.List | ast.Tuple) and not single else [value]:
            if isinstance(item, ast.Constant) and isinstance(item.value, str):
                self.found.exports.append((item.value, item.lineno))
            else:
                self.exports_known = False

    def children(self, node: ast.AST, scope: Scope) -> None:
        for child in children(node):
            self.visit(child, scope)

    def visit(self, node: ast.AST, scope: Scope) -> None:
        handler = self.handlers.get(node.__class__)
        if handler is not None:
            handler(self, node, scope)
        else:
            self.children(node, scope)

    def constant(self, node: ast.Constant, scope: Scope) -> None:
        text = node.value
        if not isinstance(text, str) or not 0 < len(text) < 200:
            return
        if text.isidentifier():
            self.words.add(text)
            self.found.binds.add(text)
        elif text.startswith("sglang.") and _DOTTED.fullmatch(text):
            self.found.paths.append((node.lineno, text))
        if "." in text and _FILE.fullmatch(text):
            self.found.files.append((node.lineno, text))

    def computed(self, node: ast.JoinedStr, scope: Scope) -> None:
        last = node.values[-1] if node.values else None
        if isinstance(last, ast.Constant) and _ENDING.search(str(last.value)):
            parts = (re.escape(str(v.value)) if isinstance(v, ast.Constant) else ".*" for v in node.values)
            self.found.computed_files.add("".join(parts).rpartition("/")[2])
        self.children(node, scope)

    def display(self, node: ast.List | ast.Tuple | ast.Set | ast.Dict, scope: Scope) -> None:
        if rows := tuple(dispatch_of(node)):
            self.found.dispatches.append(rows)
        if isinstance(node, ast.List | ast.Tuple):
            self.neighbours(node.elts)
        self.children(node, scope)

    def neighbours(self, items: Sequence[ast.expr]) -> None:
        """A module's name with the next text names an attribute: ``LazyImport("sglang.a.b", "Name")`` and its like."""
        for one, other in pairwise(items):
            match one, other:
                case ast.Constant(value=str(module)), ast.Constant(value=str(name)):
                    if module.startswith("sglang.") and _DOTTED.fullmatch(f"{module}:{name}"):
                        self.found.paths.append((one.lineno, f"{module}:{name}"))

    def expression(self, node: ast.Expr, scope: Scope) -> None:
        # A string that stands alone is documentation, not a use.
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value, scope)

    def attribute(self, node: ast.Attribute, scope: Scope) -> None:
        if isinstance(node.ctx, ast.Store):
            self.found.binds.add(node.attr)
            if is_name(node.value, "self"):
                self.stored.setdefault(".".join(self.around), {}).setdefault(node.attr, node.lineno)
        read = isinstance(node.ctx, ast.Load)
        value, names = attribute_chain(node)
        for at, name in enumerate(names if read else names[:-1]):
            self.look_up(value, name, node.lineno, scope, names[:at])
        if not isinstance(value, ast.Name):
            self.visit(value, scope)
        elif value.id not in {"self", "cls", "torch"}:
            self.chains.append((scope, value.id, names, node.lineno, not read))

    def look_up(self, root: ast.expr, name: str, line: int, scope: Scope, rest: tuple[str, ...] = ()) -> None:
        """A name is looked up on what an expression gives, or on what the look-up of `rest` below it gives."""
        owner = self.around[-1] if self.around else ""
        own = isinstance(root, ast.Name) and root.id in {"self", "cls"}
        if owner and not rest and (own or (isinstance(root, ast.Call) and is_name(root.func, "super"))):
            self.lookups.setdefault((name, "self", owner), line)
        elif isinstance(root, ast.Name) and not (rest and own):
            # `torch.cuda.device`: nothing below a module of another package is ours.
            self.on_names.append((scope, root.id, rest, False, name, line))
        else:
            self.lookups.setdefault((name, "any", ""), line)

    def call(self, node: ast.Call, scope: Scope) -> None:
        args = node.args
        named = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
        self.found.binds.update(named)
        if isinstance(node.func, ast.Name):
            asked = args[1].value if len(args) > 1 and isinstance(args[1], ast.Constant) else None
            if node.func.id in {"getattr", "hasattr"} and isinstance(asked, str):
                self.look_up(args[0], asked, node.lineno, scope)
                self.by_text.add((first_name(args[0]), asked))
            for made in ("__init__", *named):
                self.on_names.append((scope, node.func.id, (), True, made, node.lineno))
        self.found.open = self.found.open or any(is_globals(a) for a in args)
        texts = {
            name: (value.value, value.lineno)
            for name, value in named.items()
            if isinstance(value, ast.Constant) and isinstance(value.value, str)
        }
        if len(texts) > 1 and any(":" in text and _TARGET.fullmatch(text) for text, _ in texts.values()):
            self.found.targets.append((last_name(node.func), texts))
        self.neighbours(args)
        match node.func:
            case ast.Attribute(value=value, attr="update" | "setdefault" | "__setitem__") if is_globals(value):
                self.found.dynamic = True
            case ast.Attribute(value=ast.Name(id="__all__"), attr=method) if scope.outer is None:
                self.extend_exports(args[0] if args else None, method == "append")
        self.children(node, scope)


def attribute_chain(node: ast.expr) -> tuple[ast.expr, tuple[str, ...]]:
    """Root of an attribute chain and the names below it; ``a.b().c.d`` has the root ``a.b()``."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return node, tuple(reversed(parts))


def is_globals(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and is_name(node.func, "globals")


def is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def look_up(scope: Scope, name: str) -> set[str]:
    """Dotted names that imports from the package let `name` be, read in `scope`; none when it may be anything else too, but for ``name = None``."""
    owner = scope.owner(name)
    bindings = (owner.values(name) if owner is not None else None) or ()
    found = [b for b in bindings if not (isinstance(b.value, ast.Constant) and b.value.value is None)]
    ours = all(b.kind in ("module", "from") and b.module.partition(".")[0] == PACKAGE for b in found)
    return {f"{b.module}.{b.name}" if b.name else b.module for b in found} if ours else set()
