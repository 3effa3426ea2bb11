"""Scopes inside a unit: which names are local, and what a local name may hold."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from shrinker.syntax.walk import HOLDERS, children, statements

Function = ast.FunctionDef | ast.AsyncFunctionDef
_BINDING = frozenset(
    {
        ast.Assign,
        ast.AnnAssign,
        ast.AugAssign,
        ast.NamedExpr,
        ast.Delete,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
    }
    | {
        ast.Import,
        ast.ImportFrom,
        ast.Lambda,
        ast.ListComp,
        ast.SetComp,
        ast.DictComp,
        ast.GeneratorExp,
        ast.For,
        ast.AsyncFor,
    }
    | {
        ast.With,
        ast.AsyncWith,
        ast.ExceptHandler,
        ast.Global,
        ast.Nonlocal,
        ast.MatchAs,
        ast.MatchStar,
        ast.MatchMapping,
    }
)
"""Nodes that may bind a name, or that are a scope of their own."""
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(slots=True)
class Scope:
    """Names bound in a function, lambda or comprehension; the module and class bodies have none."""

    outer: Scope | None
    names: dict[str, list[ast.expr | str] | None] = field(default_factory=dict)
    """Local name to the expressions (or paths) that it is given; None when it may hold anything."""
    away: set[str] = field(default_factory=set)
    """Names declared `global`."""
    resolving: set[str] = field(default_factory=set)
    paths: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def find(self, name: str) -> Scope | None:
        """The scope that binds a name; None for the module level and beyond."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.away:
                return None
            if name in scope.names:
                return scope
            scope = scope.outer
        return None

    def give(self, name: str, value: ast.expr | str | None) -> None:
        """One more value that the name may hold; None for an unknown one."""
        if value is None:
            self.names[name] = None
            return
        known = self.names.setdefault(name, [])
        if known is not None:
            known.append(value)


def bind_target(scope: Scope, target: ast.expr, value: ast.expr | None) -> None:
    """Bind the names of an assignment's target."""
    if isinstance(target, ast.Name):
        scope.give(target.id, value)
    elif isinstance(target, ast.Starred):
        bind_target(scope, target.value, value)
    elif isinstance(target, ast.Tuple | ast.List):
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            for item, element in zip(target.elts, value.elts, strict=True):
                bind_target(scope, item, None if isinstance(element, ast.Starred) else element)
        else:
            for item in target.elts:
                bind_target(scope, item, None)


def bind_body(scope: Scope, body: list[ast.stmt], imported: Callable[[ast.Import | ast.ImportFrom], list[str]]) -> None:
    """Bind all names that the statements of a function bind in its scope.

    Args:
        scope: of the function.
        body: its statements.
        imported: paths of the names that an import binds, in their order.
    """
    declared: set[str] = set()
    outer: set[str] = set()
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        kind = node.__class__
        if kind is ast.Name:
            if not isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
                scope.names.setdefault(node.id, None)  # type: ignore[attr-defined]
            continue
        if kind not in _BINDING:
            # `children`, without a generator for every node of every function.
            values = node.__dict__
            for field_name in HOLDERS[kind]:
                value = values.get(field_name)
                if value.__class__ is list:
                    stack += [item for item in value if isinstance(item, ast.AST)]
                elif isinstance(value, ast.AST):
                    stack.append(value)
            continue
        if isinstance(node, ast.Assign):
            for target in node.targets:
                bind_target(scope, target, node.value)
            # Names in the targets are bound now; what is left in them only reads.
            stack.append(node.value)
            stack.extend(t for t in node.targets if not isinstance(t, ast.Name))
            continue
        if isinstance(node, ast.AnnAssign):
            if node.value is not None:
                bind_target(scope, node.target, node.value)
                stack.append(node.value)
            elif isinstance(node.target, ast.Name):
                scope.names.setdefault(node.target.id, [])
            continue
        if isinstance(node, ast.NamedExpr):
            scope.give(node.target.id, node.value)
            stack.append(node.value)
            continue
        if isinstance(node, ast.Delete):
            continue
        if isinstance(node, ast.AugAssign):
            if isinstance(node.target, ast.Name):
                scope.give(node.target.id, None)
            stack.append(node.value)
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            scope.give(node.name, None)
            stack.extend(node.decorator_list)
            for inner in statements(node):
                if isinstance(inner, ast.Nonlocal):
                    for name in inner.names:
                        scope.names[name] = None
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias, path in zip(node.names, imported(node), strict=True):
                whole = isinstance(node, ast.Import) and alias.asname is None
                scope.give(alias.asname or (alias.name.partition(".")[0] if whole else alias.name), path)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, COMPREHENSIONS):
            stack.extend(n for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
            continue
        if isinstance(node, ast.For | ast.AsyncFor):
            bind_target(scope, node.target, None)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                if item.optional_vars is not None:
                    bind_target(scope, item.optional_vars, None)
        elif isinstance(node, ast.ExceptHandler):
            if node.name:
                scope.give(node.name, None)
        elif isinstance(node, ast.Global):
            declared.update(node.names)
        elif isinstance(node, ast.Nonlocal):
            outer.update(node.names)
        elif isinstance(node, ast.MatchAs | ast.MatchStar):
            if node.name:
                scope.give(node.name, None)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            scope.give(node.rest, None)
        stack.extend(children(node))
    for name in declared | outer:
        scope.names.pop(name, None)
    scope.away |= declared


def bound_by(node: ast.AST) -> set[str]:
    """Names that a statement binds around it; definitions inside are one name."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {node.name}
        case ast.Import():
            return {a.asname or a.name.partition(".")[0] for a in node.names}
        case ast.ImportFrom():
            return {a.asname or a.name for a in node.names}
    found: set[str] = set()
    stack: list[ast.AST] = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            found.add(part.id)
        elif isinstance(part, ast.ExceptHandler) and part.name:
            found.add(part.name)
        for child in children(part):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
                found |= bound_by(child)
            elif not isinstance(child, ast.Lambda):
                stack.append(child)
    return found
