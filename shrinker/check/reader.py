"""Reads the symbols of one file.

One pass over the syntax tree, with Python's scopes: a parameter that has the name of an imported
module hides it. A name that is bound in several ways is left alone; these checks are to be
trusted when they speak.
"""

import ast
from pathlib import Path

from shrinker.check import declarations
from shrinker.check.symbols import Attribute, ClassSymbols, LookUp, ModuleSymbols
from shrinker.check.uses import Uses, is_globals, look_up
from shrinker.syntax.imports import Import, names_of, package_of
from shrinker.syntax.names import first_name, last_name
from shrinker.syntax.parsing import parse
from shrinker.syntax.scopes import COMPREHENSIONS, Comprehension, Scope, scope_of
from shrinker.syntax.walk import Definition, Function
from shrinker.values.upstream import PACKAGE, module_name


def read_symbols(root: Path, path: str) -> ModuleSymbols:
    """Parse a file of a tree and read its symbols; `path` is its place in upstream's layout."""
    try:
        tree = parse((root / path).read_bytes(), path)
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        return ModuleSymbols(path, module_name(path), error=str(error))
    return symbols_of(tree, path)


def symbols_of(tree: ast.Module, path: str) -> ModuleSymbols:
    """Symbols of a file that is parsed already; the tree is not changed."""
    return _Reader(path).read(tree)


class _Reader(Uses):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        module = self.found.module
        self.package = package_of(module, path.endswith("/__init__.py")) if module is not None else None
        self.foreign: set[str] = set()
        self.named_classes: dict[str, str] = {}

    def read(self, tree: ast.Module) -> ModuleSymbols:
        found = self.found
        top = scope_of(tree, self.package or "")
        self.children(tree, top)
        found.bound = top.bindings.names.keys() | top.bindings.declared
        found.dynamic = found.dynamic or "__getattr__" in found.bound
        found.words = self.words if found.dynamic else set()
        found.exports = found.exports if self.exports_known else None
        found.rows = [*declarations.rows_of(tree.body)]
        found.registers = [*declarations.registers_of(tree.body)]
        found.assigned = [*declarations.assigned_of(tree.body)]
        # `hasattr(triton.language, "gather")` asks another package.
        found.by_text = {name for root, name in self.by_text if root not in self.foreign}
        found.named = [(name, tuple(sorted(each))) for name in top.bindings.names if (each := look_up(top, name))]
        for scope, root, chain, line, stored in self.chains:
            for target in sorted(look_up(scope, root)):
                found.attributes.append(Attribute(line, target, chain, stored))
        for scope, root, rest, keyword, name, line in self.on_names:
            owner = self.named_classes.get(root)
            if owner is not None and not rest:
                made = keyword and name != "__init__"
                self.lookups.setdefault((name, "made" if made else "class", owner), line)
            elif root not in self.foreign and not keyword:
                for target in sorted(look_up(scope, root) or {""}):
                    on, what = ("named", ".".join([target, *rest])) if target else ("any", "")
                    self.lookups.setdefault((name, on, what), line)
        found.lookups = [LookUp(name, line, on, owner) for (name, on, owner), line in self.lookups.items()]
        return found

    def function(self, node: Function | ast.Lambda, scope: Scope) -> None:
        inner = scope.inside(node)
        if not isinstance(node, ast.Lambda):
            self.decorators(node, scope)
            if node.returns is not None:
                self.visit(node.returns, scope)
        self.visit(node.args, scope)
        body = node.body if isinstance(node.body, list) else [node.body]
        for part in (*getattr(node, "type_params", ()), *body):
            self.visit(part, inner)

    def decorators(self, node: Definition, scope: Scope) -> None:
        if isinstance(scope.node, ast.Module | ast.ClassDef):
            plain = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
            # A computed one (`a if flag else b`) is another one by right when its condition is decided.
            written = tuple(ast.unparse(d) for d in plain if isinstance(d, ast.Name | ast.Attribute))
            self.found.decorated.append((".".join([*self.around, node.name]), node.lineno, written))
        for decorator in node.decorator_list:
            self.visit(decorator, scope)

    def class_(self, node: ast.ClassDef, scope: Scope) -> None:
        self.decorators(node, scope)
        for outside in (*node.bases, *node.keywords):
            self.visit(outside, scope)
        inner = scope.inside(node)
        self.named_classes[node.name] = node.name
        members: dict[str, int] = {}
        for member, line in declarations.assigned_of(node.body, definitions=True):
            members.setdefault(member, line)
        foreign = tuple(last_name(base) for base in node.bases if first_name(base) in self.foreign)
        self.around.append(node.name)
        name = ".".join(self.around)
        for part in (*getattr(node, "type_params", ()), *node.body):
            self.visit(part, inner)
        self.around.pop()
        self.found.classes.append(
            ClassSymbols(
                name,
                tuple(map(last_name, node.bases)),
                tuple(members.items()),
                frozenset(declarations.fields_of(node.body)),
                declarations.made_by_fields(node),
                foreign,
                tuple(self.stored.get(name, {}).items()),
            )
        )

    def comprehension(self, node: Comprehension, scope: Scope) -> None:
        self.children(node, scope.inside(node))

    def loop(self, node: ast.For | ast.comprehension, scope: Scope) -> None:
        if isinstance(node.iter, ast.Name):
            self.found.loops.add(node.iter.id)
        self.children(node, scope)

    def assign(self, node: ast.Assign | ast.AugAssign | ast.AnnAssign, scope: Scope) -> None:
        self.found.open = self.found.open or (node.value is not None and is_globals(node.value))
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
            # It reads what another statement has stored.
            read = ast.Attribute(node.target.value, node.target.attr, ast.Load())
            self.attribute(ast.copy_location(read, node), scope)
            return self.visit(node.value, scope)
        if isinstance(node, ast.AnnAssign) and node.value is None and isinstance(node.target, ast.Attribute):
            return self.visit(node.annotation, scope)
        for target in targets:
            match target:
                case ast.Name(id="__all__") if scope.outer is None:
                    self.found.exports = self.found.exports if isinstance(node, ast.AugAssign) else None
                    self.extend_exports(node.value, False)
                case ast.Subscript(value=ast.Attribute(attr="modules"), slice=ast.Name(id="__name__")):
                    # `sys.modules[__name__]`: the module replaces itself.
                    self.found.dynamic = True
                case ast.Subscript(value=value) if is_globals(value):
                    self.found.dynamic = True
        self.children(node, scope)

    def import_(self, node: Import, scope: Scope) -> None:
        level = node.level if isinstance(node, ast.ImportFrom) else 0
        known = self.package is not None or not level
        for module, name, bound in names_of(node, self.package or ""):
            ours = known and module.partition(".")[0] == PACKAGE
            if ours:
                self.found.imports.append((node.lineno, module, name or None))
            else:
                written = node.module or "" if isinstance(node, ast.ImportFrom) else module
                self.found.outside.append((node.lineno, level, written, name or None))
            if name == "*":
                self.found.stars.append(module if known else "")
            elif not ours:
                self.foreign.add(bound)
            elif name[:1].isupper() and not name.isupper():
                self.named_classes[bound] = name


_Reader.handlers = {
    ast.Constant: _Reader.constant,
    ast.JoinedStr: _Reader.computed,
    ast.Expr: _Reader.expression,
    ast.Attribute: _Reader.attribute,
    ast.Call: _Reader.call,
    ast.ClassDef: _Reader.class_,
    **dict.fromkeys((ast.Import, ast.ImportFrom), _Reader.import_),
    **dict.fromkeys((ast.Assign, ast.AugAssign, ast.AnnAssign), _Reader.assign),
    **dict.fromkeys((ast.List, ast.Tuple, ast.Set, ast.Dict), _Reader.display),
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda), _Reader.function),
    **dict.fromkeys(COMPREHENSIONS, _Reader.comprehension),
    **dict.fromkeys((ast.For, ast.comprehension), _Reader.loop),
}
