"""Literals where upstream has an expression, and that fail there: `len(None)`, `None.append(x)`, `y - None`.

A fact that makes kept code fail is false in that place, or the place is never reached and something should have said so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

KIND = "failing literals"
_LITERAL = r"(?:None|True|False)"
_MAY_FAIL = re.compile(
    rf"\b{_LITERAL}\s*[.\[(]|[(,]\s*None\s*[,)]|\*\s*{_LITERAL}\b|\b(?:in|await|with)\s+{_LITERAL}\b"
    r"|[-+/%<>@&^~]=?\s*None\b|\bNone\s*(?:[-+*/%<>@&^]|//)"
)
"""Cheap: what matches it is parsed and looked at."""
_NEEDS_A_VALUE = frozenset(
    {"abs", "dict", "enumerate", "float", "int", "iter", "len", "list", "max", "min", "next", "range"}
    | {"reversed", "round", "set", "sorted", "sum", "tuple", "zip"}
)
"""Builtins that raise when they are given `None` by position."""
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def may_hold(text: str) -> bool:
    """False for a text that holds none, without parsing it."""
    return _MAY_FAIL.search(text) is not None


def failing_literals(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The expressions, as they are written, with their lines; in the order of a walk."""
    for node in ast.walk(tree):
        if _fails(node):
            shown = node.iter if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension) else node
            shown = shown.context_expr if isinstance(shown, ast.withitem) else shown
            yield ast.unparse(shown), getattr(shown, "lineno", 1)


def _fails(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Await(value=value):
            return _is_literal(value)
        case ast.For(iter=items) | ast.AsyncFor(iter=items) | ast.comprehension(iter=items):
            return _is_literal(items)
        case ast.withitem(context_expr=manager):
            return _is_literal(manager)
        case ast.Call(func=function, args=arguments, keywords=keywords):
            needs = isinstance(function, ast.Name) and function.id in _NEEDS_A_VALUE
            return (
                _is_literal(function)
                or any(isinstance(a, ast.Starred) and _is_literal(a.value) for a in arguments)
                or any(k.arg is None and _is_literal(k.value) for k in keywords)
                or (needs and any(_is_none(a) for a in arguments))
            )
        case ast.BinOp(left=left, op=operator, right=right):
            # `int | None` is a type.
            return not isinstance(operator, ast.BitOr) and (_is_none(left) or _is_none(right))
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=operand):
            return _is_none(operand)
        case ast.Compare(left=left, ops=operators, comparators=others):
            sides = [left, *others]
            return any(
                (isinstance(operator, ast.In | ast.NotIn) and _is_literal(after))
                or (isinstance(operator, _ORDERED) and (_is_none(before) or _is_none(after)))
                for before, operator, after in zip(sides, operators, others, strict=False)
            )
    return False


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))
