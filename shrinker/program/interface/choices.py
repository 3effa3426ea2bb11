"""What a list of choices holds, where the syntax tells: displays, names of lists, keys of tables."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from shrinker.program.interface.offers import Choice
from shrinker.program.interface.syntax import Syntax, values_of

_MOST_DEEP = 20

Locals = Mapping[str, ast.expr]
"""What the names of the function are bound to, each of them once."""


def choices_of(syntax: Syntax, module: str, node: ast.expr, local: Locals, depth: int = 0) -> tuple[Choice, ...] | None:
    """The values in their order; None where the syntax does not tell all of them."""
    bound: tuple[str, ast.expr | ast.ClassDef] | None = None
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return tuple(Choice(ast.unparse(item), module, item.lineno) for item in items)
        case ast.Dict(keys=keys):
            written = [key for key in keys if key is not None]
            return choices_of(syntax, module, ast.List(written), local) if written == keys else None
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            parts = [choices_of(syntax, module, part, local, depth + 1) for part in (left, right)]
            known = [part for part in parts if part is not None]
            return (*known[0], *known[1]) if len(known) == len(parts) else None
        case ast.Call(func=ast.Name(id="list" | "tuple" | "sorted"), args=[inner], keywords=[]):
            bound = module, inner
        case ast.Call(func=ast.Attribute(value=inner, attr="keys" | "copy"), args=[]):
            bound = module, inner
        case ast.Name(id=name):
            bound = (module, local[name]) if name in local else syntax.find(module, name)
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            found = syntax.find(module, owner)
            value = values_of(found[1].body).get(name) if found and isinstance(found[1], ast.ClassDef) else None
            bound = (found[0], value) if found and value is not None else None
    if bound is None or isinstance(bound[1], ast.ClassDef) or depth > _MOST_DEEP:
        return None
    return choices_of(syntax, bound[0], bound[1], local if bound[0] == module else {}, depth + 1)
