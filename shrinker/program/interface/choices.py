"""What a list of choices holds, where the syntax tells: displays, names of lists, keys of tables, members of enumerations."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from shrinker.program.interface.syntax import Syntax

_MOST_DEEP = 20


@dataclass(frozen=True, slots=True)
class Choice:
    """One value, and where it is written."""

    text: str
    """`repr` of the value."""
    module: str
    line: int


Locals = Mapping[str, ast.expr]
"""What the names of the function are bound to, each of them once."""


def choices_of(syntax: Syntax, module: str, node: ast.expr, local: Locals, depth: int = 0) -> tuple[Choice, ...] | None:
    """The values in their order; None where the syntax does not tell all of them."""
    if depth > _MOST_DEEP:
        return None
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return _each(syntax, module, items, local, depth)
        case ast.Dict(keys=keys):
            return None if None in keys else _each(syntax, module, [k for k in keys if k is not None], local, depth)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first = choices_of(syntax, module, left, local, depth + 1)
            second = choices_of(syntax, module, right, local, depth + 1)
            return None if first is None or second is None else (*first, *second)
        case ast.Call(func=ast.Name(id="list" | "tuple" | "sorted"), args=[inner], keywords=[]):
            return choices_of(syntax, module, inner, local, depth + 1)
        case ast.Call(func=ast.Attribute(value=inner, attr="keys" | "copy"), args=[]):
            return choices_of(syntax, module, inner, local, depth + 1)
        case ast.Name(id=name) if name in local:
            return choices_of(syntax, module, local[name], {}, depth + 1)
        case ast.Subscript(value=ast.Name(id="Literal"), slice=ast.Tuple(elts=items)):
            return _each(syntax, module, items, local, depth)
        case ast.Name(id=name):
            bound = syntax.find(module, name)
            if bound is not None and isinstance(bound[1], ast.expr):
                return choices_of(syntax, bound[0], bound[1], {}, depth + 1)
            return _members(syntax, module, name, ".value") if bound is not None else None
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            bound = syntax.find(module, owner)
            if bound is not None and isinstance(bound[1], ast.ClassDef):
                value = syntax.member(bound[1], name)
                return None if value is None else choices_of(syntax, bound[0], value, {}, depth + 1)
        case ast.ListComp(
            elt=element, generators=[ast.comprehension(target=ast.Name(id=each), iter=ast.Name(id=owner), ifs=[])]
        ):
            written = ast.unparse(element)
            return _members(syntax, module, owner, written.removeprefix(each)) if written.startswith(each) else None
    return None


def _each(syntax: Syntax, module: str, items: list[ast.expr], local: Locals, depth: int) -> tuple[Choice, ...] | None:
    found: list[Choice] = []
    for item in items:
        match item:
            case ast.Constant(value=value):
                found.append(Choice(repr(value), module, item.lineno))
            case ast.Starred(value=inner):
                part = choices_of(syntax, module, inner, local, depth + 1)
                if part is None:
                    return None
                found += part
            case ast.Attribute():
                found.append(Choice(ast.unparse(item), module, item.lineno))
            case ast.Name(id=name) if (bound := syntax.find(module, name)) is not None and isinstance(
                bound[1], ast.Constant
            ):
                found.append(Choice(repr(bound[1].value), module, item.lineno))
            case _:
                return None
    return tuple(found)


def _members(syntax: Syntax, module: str, owner: str, shown: str) -> tuple[Choice, ...] | None:
    """Values or names of the members of an enumeration, as a comprehension shows them."""
    bound = syntax.find(module, owner)
    shapes = (".value", ".name", ".name.lower()", "")
    if bound is None or not isinstance(bound[1], ast.ClassDef) or shown not in shapes:
        return None
    if not any("Enum" in ast.unparse(base) for base in bound[1].bases):
        return None
    found: list[Choice] = []
    for node in bound[1].body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                texts = {".name": repr(name), ".name.lower()": repr(name.lower()), "": f"{owner}.{name}"}
                found.append(Choice(texts.get(shown, ast.unparse(value)), bound[0], node.lineno))
    return tuple(found)
