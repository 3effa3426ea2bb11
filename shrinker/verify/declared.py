"""What the statements of a class or module declare: members, and rows of tables."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def members_of(body: list[ast.stmt]) -> Iterator[tuple[str, int]]:
    """Names that the body of a class binds, on any branch, with their lines."""
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, node.lineno
            case ast.Assign(targets=targets):
                yield from ((target.id, node.lineno) for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name, node.lineno
            case ast.If() | ast.Try() | ast.With():
                for name in ("body", "orelse", "finalbody"):
                    yield from members_of(getattr(node, name, []))
                for handler in getattr(node, "handlers", []):
                    yield from members_of(handler.body)


def rows_of(body: list[ast.stmt]) -> Iterator[tuple[str, str, str, int]]:
    """See `ModuleSymbols.rows`."""
    for node in body:
        match node:
            case (
                ast.Assign(targets=[target, *_], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value)
            ):
                if isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords:
                    (value,) = value.args
                pairs: list[tuple[ast.expr | None, ast.expr]] = []
                if isinstance(value, ast.List | ast.Tuple | ast.Set):
                    pairs = [(None, item) for item in value.elts]
                elif isinstance(value, ast.Dict):
                    pairs = [*zip(value.keys, value.values, strict=True)]
                for key, item in pairs:
                    if isinstance(item, ast.Name | ast.Attribute):
                        where = ast.unparse(target)
                        yield where, "" if key is None else ast.unparse(key), ast.unparse(item), item.lineno
            case ast.Expr(value=ast.Call(func=function, args=[first, *_] as arguments)):
                for argument in arguments:
                    if isinstance(argument, ast.Name | ast.Attribute):
                        named = "" if argument is first else ast.unparse(first)
                        yield f"{ast.unparse(function)}()", named, ast.unparse(argument), argument.lineno
            case ast.If() | ast.Try() | ast.With():
                for name in ("body", "orelse", "finalbody"):
                    yield from rows_of(getattr(node, name, []))


def last_name(node: ast.expr) -> str:
    """Last name of a dotted expression, its subscripts left out; empty for any other."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
