"""Expressions as paths: what is looked up where, as far as the syntax says."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from shrinker.fold.symbols.scopes import Scope

ANYTHING = "?"
_MOST = 6
"""An expression that may be more things than this is taken to be anything."""
_LONGEST = 160


def paths_of(node: ast.expr, scope: Scope | None) -> tuple[str, ...]:
    """Paths of an expression; `ANYTHING` among them when it may be something that no path tells."""
    match node:
        case ast.Name(id=name):
            return _name(name, scope)
        case ast.Attribute(value=value, attr=name):
            bases = paths_of(value, scope)
            if len(bases) == 1:
                # Nearly all.
                path = f"{bases[0]}.{name}"
                return (path,) if len(path) <= _LONGEST else (ANYTHING,)
            return _bounded(f"{p}.{name}" for p in bases)
        case ast.Call(func=ast.Name(id="super")):
            return ("@super",)
        case ast.Call(func=ast.Name(id="getattr"), args=[target, ast.Constant(value=str() as name), *rest]) if (
            name.isidentifier()
        ):
            found = [f"{p}.{name}" for p in paths_of(target, scope)]
            return _bounded([*found, *(p for default in rest for p in paths_of(default, scope))])
        case ast.IfExp(body=body, orelse=orelse):
            return _bounded([*paths_of(body, scope), *paths_of(orelse, scope)])
        case ast.BoolOp(values=values):
            return _bounded(p for value in values for p in paths_of(value, scope))
        case ast.NamedExpr(value=value):
            return paths_of(value, scope)
    return (ANYTHING,)


def _name(name: str, scope: Scope | None) -> tuple[str, ...]:
    holder = scope.find(name) if scope is not None else None
    if holder is None:
        return (name,)
    if name in holder.paths:
        return holder.paths[name]
    values = holder.names[name]
    if values is None or name in holder.resolving:
        return (ANYTHING,)
    holder.resolving.add(name)
    found: list[str] = []
    for value in values:
        found.extend((value,) if isinstance(value, str) else paths_of(value, holder))
    holder.resolving.discard(name)
    result = _bounded(found) or (ANYTHING,)
    if not holder.resolving:
        holder.paths[name] = result
    return result


def _bounded(paths: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(paths))
    if len(found) > _MOST or any(len(p) > _LONGEST for p in found):
        return (ANYTHING,)
    return found
