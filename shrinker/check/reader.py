"""Reads the symbols of one file.

One pass over the syntax tree, with Python's scopes: a parameter that has the name of an imported
module hides it. A name that is bound in several ways is left alone; these checks are to be
trusted when they speak.
"""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

from shrinker.check.declarations import (
    assigned_of,
    fields_of,
    made_by_fields,
    members_of,
    members_of_others,
    registers_of,
    rows_of,
)
from shrinker.check.symbols import Attribute, ClassSymbols, LookUp, ModuleSymbols
from shrinker.check.uses import Uses, is_globals, is_name, look_up, stands_for
from shrinker.syntax.imports import absolute, bound_name, package_of
from shrinker.syntax.names import first_name, last_name
from shrinker.syntax.scopes import COMPREHENSIONS, Comprehension, Scope, arguments_of, scope_of
from shrinker.values.upstream import PACKAGE, module_name

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)


def read_symbols(file: Path, path: str) -> ModuleSymbols:
    """Parse `file` and read its symbols; `path` is its place in upstream's layout."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = file.read_bytes()
            tree = ast.parse(data, path)
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        return ModuleSymbols(path, module_name(path), error=str(error))
    return symbols_of(tree, path, data)


def symbols_of(tree: ast.Module, path: str, data: bytes) -> ModuleSymbols:
    """Symbols of a file that is parsed already; the tree is not changed."""
    return _Reader(path).read(tree, b":=" in data)


class _Reader(Uses):
    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self.module = module_name(path)
        self.is_package = path.endswith("/__init__.py")
        self.stars: list[str] = []
        self.exports: list[tuple[str, int]] | None = None
        self.exports_known = True
        self.imports: list[tuple[int, str, str | None]] = []
        self.outside: list[tuple[int, int, str, str | None]] = []
        self.classes: list[ClassSymbols] = []
        self.decorated: list[tuple[str, int, tuple[str, ...]]] = []
        self.foreign: set[str] = set()
        self.named_classes: dict[str, str] = {}

    def read(self, tree: ast.Module, walrus: bool) -> ModuleSymbols:
        package = package_of(self.module, self.is_package) if self.module is not None else ""
        top = scope_of(tree, package, walrus=walrus)
        self.children(tree, top)
        bound = top.bindings.names.keys() | top.bindings.declared
        self.dynamic = self.dynamic or "__getattr__" in bound
        attributes = []
        for scope, root, chain, line, stored in self.chains:
            for target in sorted(look_up(scope, root) or ()):
                attributes.append(Attribute(line, target, chain, stored))
        for scope, root, rest, how, name, line in self.on_names:
            owner = self.named_classes.get(root)
            if owner is not None and how != "below":
                made = how == "keyword" and name != "__init__"
                self.lookups.setdefault((name, "made" if made else "class", owner), line)
            elif root not in self.foreign and how != "keyword":
                targets = stands_for(scope, root)
                if targets == set() and self.stars and root not in bound:
                    # One of the star imports may give it.
                    targets = {f"{self.module}.{root}"}
                for target in sorted(targets or {""}):
                    on, what = ("named", ".".join([target, *rest])) if target else ("any", "")
                    self.lookups.setdefault((name, on, what), line)
        return ModuleSymbols(
            path=self.path,
            module=self.module,
            classes=tuple(self.classes),
            decorated=tuple(self.decorated),
            rows=tuple(rows_of(tree.body)),
            dispatches=tuple(self.dispatches),
            registers=tuple(registers_of(tree.body)),
            assigned=tuple(assigned_of(tree.body)),
            binds=frozenset(self.binds),
            # `hasattr(triton.language, "gather")` asks another package.
            by_text=frozenset(name for root, name in self.by_text if root not in self.foreign),
            computed_files=frozenset(self.computed_files),
            lookups=tuple(LookUp(name, line, on, owner) for (name, on, owner), line in self.lookups.items()),
            bound=frozenset(bound),
            named=tuple(
                (name, tuple(sorted(found))) for name in top.bindings.names if (found := stands_for(top, name))
            ),
            stars=tuple(self.stars),
            dynamic=self.dynamic,
            open=self.open,
            words=frozenset(self.words) if self.dynamic else frozenset(),
            exports=tuple(self.exports) if self.exports is not None and self.exports_known else None,
            imports=tuple(self.imports),
            outside=tuple(self.outside),
            attributes=tuple(attributes),
            paths=tuple(self.paths),
            files=tuple(self.files),
        )

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope) -> None:
        inner = scope.inside(node)
        if not isinstance(node, ast.Lambda):
            self.decorators(node, scope)
            for decorator in node.decorator_list:
                self.visit(decorator, scope)
            if node.returns is not None:
                self.visit(node.returns, scope)
        parameters = node.args
        for default in (*parameters.defaults, *parameters.kw_defaults):
            if default is not None:
                self.visit(default, scope)
        for each in arguments_of(parameters):
            if each.annotation is not None:
                self.visit(each.annotation, scope)
        for parameter in getattr(node, "type_params", []):
            self.visit(parameter, inner)
        for statement in node.body if isinstance(node.body, list) else [node.body]:
            self.visit(statement, inner)

    def decorators(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, scope: Scope) -> None:
        if isinstance(scope.node, ast.Module | ast.ClassDef):
            plain = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
            # A computed one (`a if flag else b`) is another one by right when its condition is decided.
            written = tuple(ast.unparse(d) for d in plain if isinstance(d, ast.Name | ast.Attribute))
            self.decorated.append((".".join([*self.around, node.name]), node.lineno, written))

    def class_(self, node: ast.ClassDef, scope: Scope) -> None:
        self.decorators(node, scope)
        for outside in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(outside, scope)
        inner = scope.inside(node)
        for parameter in getattr(node, "type_params", []):
            self.visit(parameter, inner)
        self.named_classes[node.name] = node.name
        bases = tuple(last_name(base) for base in node.bases)
        members: dict[str, int] = {}
        for name, line in members_of(node.body):
            members.setdefault(name, line)
        self.around.append(node.name)
        foreign = tuple(last_name(base) for base in node.bases if first_name(base) in self.foreign)
        fields = frozenset(fields_of(node.body))
        data = made_by_fields(node)
        name = ".".join(self.around)
        others = tuple(members_of_others(node.body))
        for statement in node.body:
            self.visit(statement, inner)
        self.around.pop()
        stores = tuple(self.stored.get(name, {}).items())
        self.classes.append(ClassSymbols(name, bases, tuple(members.items()), fields, data, foreign, others, stores))

    def comprehension(self, node: Comprehension, scope: Scope) -> None:
        self.children(node, scope.inside(node))

    def assign(self, node: ast.Assign | ast.AugAssign | ast.AnnAssign, scope: Scope) -> None:
        self.open = self.open or (node.value is not None and is_globals(node.value))
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
            # It reads what another statement has stored.
            self.attribute(
                ast.copy_location(ast.Attribute(node.target.value, node.target.attr, ast.Load()), node), scope
            )
            return self.visit(node.value, scope)
        if isinstance(node, ast.AnnAssign) and node.value is None and isinstance(node.target, ast.Attribute):
            return self.visit(node.annotation, scope)
        for target in targets:
            if is_name(target, "__all__") and scope.outer is None:
                if not isinstance(node, ast.AugAssign):
                    self.exports = None
                self.extend_exports(node.value, False)
            elif isinstance(target, ast.Subscript) and (is_globals(target.value) or _is_own_entry(target)):
                self.dynamic = True
        self.children(node, scope)

    def extend_exports(self, value: ast.expr | None, single: bool) -> None:
        self.exports = self.exports if self.exports is not None else []
        items = [value] if single else value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
        for item in items:
            if isinstance(item, ast.Constant) and isinstance(item.value, str):
                self.exports.append((item.value, item.lineno))
            else:
                self.exports_known = False

    def import_(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            first, name = alias.name.partition(".")[0], bound_name(node, alias)
            if first == PACKAGE:
                self.imports.append((node.lineno, alias.name, None))
            else:
                self.foreign.add(name)
                self.outside.append((node.lineno, 0, alias.name, None))

    def import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        module = node.module
        if node.level:
            start = package_of(self.module, self.is_package) if self.module is not None else None
            module = absolute(node.module, node.level, start) if start is not None else None
        ours = module is not None and module.partition(".")[0] == PACKAGE
        for alias in node.names:
            name = bound_name(node, alias)
            if module is not None and ours:
                self.imports.append((node.lineno, module, alias.name))
            else:
                self.outside.append((node.lineno, node.level, node.module or "", alias.name))
            if name == "*":
                self.stars.append(module or "")
                continue
            if not ours:
                self.foreign.add(name)
            elif alias.name[:1].isupper() and not alias.name.isupper():
                self.named_classes[name] = alias.name


def _is_own_entry(node: ast.Subscript) -> bool:
    """`sys.modules[__name__]`: the module replaces itself."""
    holder = isinstance(node.value, ast.Attribute) and node.value.attr == "modules"
    return holder and is_name(node.slice, "__name__")


_Reader.handlers = {
    ast.Constant: _Reader.constant,
    ast.JoinedStr: _Reader.computed,
    ast.Expr: _Reader.expression,
    ast.Attribute: _Reader.attribute,
    ast.Call: _Reader.call,
    ast.ClassDef: _Reader.class_,
    ast.Assign: _Reader.assign,
    ast.AugAssign: _Reader.assign,
    ast.AnnAssign: _Reader.assign,
    ast.Import: _Reader.import_,
    ast.ImportFrom: _Reader.import_from,
    **dict.fromkeys(_DISPLAYS, _Reader.display),
    **dict.fromkeys(_FUNCTIONS, _Reader.function),
    **dict.fromkeys(COMPREHENSIONS, _Reader.comprehension),
}
