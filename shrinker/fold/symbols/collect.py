"""The units of a module, in source order."""

import ast
from collections.abc import Sequence, Set
from typing import Any

from shrinker.fold.exports import entries, exported, is_export, replaced_names, replaces_own
from shrinker.fold.symbols.tables import SpelledTexts
from shrinker.fold.symbols.uses import Uses
from shrinker.syntax.control import is_main
from shrinker.syntax.imports import Import, is_type_checking, names_of
from shrinker.syntax.names import dotted, first_name
from shrinker.syntax.ranges import span
from shrinker.syntax.scopes import Scope, scope_of
from shrinker.syntax.side_effects import (
    acting_calls,
    bound_by,
    class_calls,
    function_calls,
    is_wrapper,
    joined,
    only_wraps,
    open_calls,
    unpacks,
)
from shrinker.syntax.walk import Function, own_nodes
from shrinker.values.folded import Symbol, SymbolTable

_DISPLAYS = (
    ast.Constant,
    ast.Dict,
    ast.DictComp,
    ast.JoinedStr,
    ast.List,
    ast.ListComp,
    ast.Set,
    ast.SetComp,
    ast.Tuple,
)
_OF_CLASS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
"""Methods that Python hands the class."""


def collect_symbols(tree: ast.Module, package: str) -> SymbolTable:
    """Return all units of a folded module, whose tree has the positions of the original file."""
    collector = _Collector(scope_of(tree, package), {"__all__"} | replaced_names(tree))
    collector.block(tree.body, -1, frozenset())
    return SymbolTable(tuple(collector.units), frozenset(exported(tree)), entries(tree))


def _owned(module: Scope) -> frozenset[str]:
    """Find the names of a module that are bound to what the tree defines.

    A `field` that `from dataclasses import field` binds is none of them, nor is a name that only
    holds Python's own dictionaries, lists and texts.
    """
    top = module.package.partition(".")[0]
    found: set[str] = set()
    for name, bindings in module.bindings.names.items():
        outside = (
            binding.module and binding.module.partition(".")[0] != top for binding in bindings
        )
        plain = (isinstance(binding.value, _DISPLAYS) for binding in bindings)
        if not all(outside) and not all(plain):
            found.add(name)
    return frozenset(found)


def _made(decorator: ast.expr) -> ast.expr:
    return decorator.func if isinstance(decorator, ast.Call) else decorator


class _Collector:
    def __init__(self, module: Scope, listing: Set[str]) -> None:
        self.module = module
        self.listing = listing
        """Lists of the module's own names: their texts name nothing by themselves."""
        self.own = _owned(module)
        self.tables = SpelledTexts(module, listing)
        self.units: list[Symbol] = []

    def block(self, body: Sequence[ast.stmt], parent: int, flags: frozenset[str]) -> None:
        for node in body:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self._function(node, parent, flags)
                case ast.ClassDef():
                    self._class(node, parent, flags)
                case ast.Import() | ast.ImportFrom():
                    self._import(node, parent, flags)
                case ast.If():
                    self._if(node, parent, flags)
                case ast.Assign() | ast.AnnAssign():
                    self._assign(node, parent, flags)
                case ast.Expr(value=ast.Constant()) | ast.Pass():
                    pass
                case _:
                    self._effect(node, parent, flags)

    def _effect(self, node: ast.stmt, parent: int, flags: frozenset[str]) -> None:
        uses = Uses(self.module, self.tables)
        uses.visit(node)
        if is_export(node):
            uses.texts.clear()
        if replaces_own(node):
            # Whatever it finds is there for something else.
            uses.enumerates.clear()
            uses.patterns.clear()
        self._add(
            "effect", sorted(bound_by(node)), node, parent, uses, flags=flags, **self._runs(node)
        )

    def _add(
        self, kind: str, names: Sequence[str], node: ast.stmt, parent: int, uses: Uses, **more: Any
    ) -> int:
        """Return one more unit, and its number; `more` are fields of it."""
        self.units.append(Symbol(kind, tuple(names), span(node), parent, **uses.fields(), **more))
        return len(self.units) - 1

    def _function(self, node: Function, parent: int, flags: frozenset[str]) -> None:
        uses = Uses(self.module, self.tables)
        uses.function(node)
        pure = function_calls(node, own=self.own)
        self._add(
            "function", [node.name], node, parent, uses, flags=flags, pure=pure, **self._runs(node)
        )

    def _runs(self, *nodes: ast.stmt) -> dict[str, Any]:
        """Tell, as fields of `Symbol`, whether statements do something besides binding names."""
        calls = joined(acting_calls(node, self.own) for node in nodes)
        return {"runs": calls != frozenset(), "unproven": tuple(sorted(calls or ()))}

    def _class(self, node: ast.ClassDef, parent: int, flags: frozenset[str]) -> None:
        own = bound_by(*node.body)
        uses = Uses(self.module, self.tables, own)
        members = [part for part in node.body if isinstance(part, Function)]
        uses.visit_all(
            (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords))
        )
        acting = [
            decorator for decorator in node.decorator_list if not only_wraps(decorator, self.own)
        ]
        replaced = bool(acting)
        others = [part for part in node.body if not isinstance(part, Function)]
        uses.visit_all(others)
        uses.attributes |= bound_by(*others)
        more = {"replaced"} if replaced else set()
        if any(k.arg != "metaclass" or "ABCMeta" not in dotted(k.value) for k in node.keywords):
            more.add("metaclass")
        index = self._add(
            "class",
            [node.name],
            node,
            parent,
            uses,
            bases=uses.bases_of(node.bases),
            decorators=tuple(path for each in acting for path in uses.paths_of(_made(each))),
            flags=flags | more,
            pure=class_calls(node, self.own),
            **self._class_runs(node, replaced),
        )
        for member in members:
            self._member(member, index, own)

    def _class_runs(self, node: ast.ClassDef, replaced: bool) -> dict[str, Any]:
        """Tell, as fields of `Symbol`, whether making a class does something.

        Its body may load modules, and a decorator of the tree may file a method. What decorates
        methods from outside, as a validator does, tells the class alone.
        """
        loads = any(isinstance(part, Import) for part in own_nodes(node))
        if replaced or loads:
            return {"runs": True}
        others: list[ast.stmt] = []
        for part in node.body:
            if isinstance(part, Function):
                part = ast.FunctionDef(
                    name=part.name,
                    args=part.args,
                    body=[],
                    decorator_list=[
                        d for d in part.decorator_list if first_name(_made(d)) in self.own
                    ],
                )
            others.append(part)
        return self._runs(*others)

    def _member(self, node: Function, parent: int, own: frozenset[str]) -> None:
        decorators = {
            dotted(d.func if isinstance(d, ast.Call) else d).rpartition(".")[2]
            for d in node.decorator_list
        }
        flags, first = set[str](), "@self"
        if "staticmethod" in decorators:
            flags, first = {"static"}, ""
        elif "classmethod" in decorators or node.name in _OF_CLASS:
            flags, first = {"classmethod"}, "@cls"
        if decorators & {"abstractmethod", "abstractproperty"}:
            flags.add("abstract")
        uses = Uses(self.module, self.tables, own)
        uses.function(node, first=first)
        self._add(
            "member", [node.name], node, parent, uses, flags=frozenset(flags), **self._runs(node)
        )

    def _import(self, node: Import, parent: int, flags: frozenset[str]) -> None:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            return
        for alias, (source, name, bound) in zip(
            node.names, names_of(node, self.module.package), strict=True
        ):
            whole = {"whole"} if not name and alias.asname is None else frozenset[str]()
            names, imports = (bound,) if bound != "*" else (), ((source, name, node.lineno),)
            self.units.append(
                Symbol("import", names, span(alias), parent, imports=imports, flags=flags | whole)
            )

    def _if(self, node: ast.If, parent: int, flags: frozenset[str]) -> None:
        if is_main(node):
            uses = Uses(self.module, self.tables)
            uses.visit_all(node.body)
            self._add("main", sorted(bound_by(node)), node, parent, uses, flags=flags)
            return
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            # A chain goes or stays as one.
            self._effect(node, parent, flags)
            return
        uses = Uses(self.module, self.tables)
        uses.visit(node.test)
        index = self._add(
            "if", (), node, parent, uses, flags=flags, **self._runs(ast.Expr(node.test))
        )
        inner = flags | {"typing"} if is_type_checking(node.test) else flags
        self.block(node.body, index, inner)
        self.block(node.orelse, index, flags)

    def _assign(self, node: ast.Assign | ast.AnnAssign, parent: int, flags: frozenset[str]) -> None:
        uses = Uses(self.module, self.tables)
        uses.visit(node)
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = sorted(bound_by(node))
        plain = all(isinstance(t, ast.Name) for t in targets)
        calls = open_calls(node.value, self.own) if node.value is not None else frozenset()
        value = uses.paths_of(node.value) if plain and node.value is not None else ("?",)
        if not self.listing.isdisjoint(names):
            uses.texts.clear()
        if is_export(node) and "" in uses.enumerates:
            # It lists what is there, whatever that is.
            del uses.enumerates[""]
            flags |= {"listing"}
        quiet = calls == frozenset() and (plain or all(map(unpacks, targets)))
        special = any(n.startswith("__") for n in names)
        self._add(
            "assign",
            names,
            node,
            parent,
            uses,
            runs=not quiet or special,
            value=tuple(sorted(value)),
            flags=flags | {"special"} if quiet and special else flags,
            unproven=tuple(sorted(calls or ())) if plain and not special else (),
            pure=() if plain and node.value is not None and is_wrapper(node.value) else None,
        )
