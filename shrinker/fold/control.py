"""Small questions about control flow: does a statement run something, leave its block, make a generator."""

from __future__ import annotations

import ast

from shrinker.facts.walk import walk


def runs_something(node: ast.stmt | ast.expr) -> bool:
    """True for code that calls: more than an alias, or the row of a table that only names."""
    return any(isinstance(part, ast.Call) for part in walk(node))


def leaves(node: ast.stmt) -> bool:
    """True when control never reaches the statement after this one."""
    match node:
        case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
            return True
        case ast.If():
            return bool(node.orelse) and leaves(node.body[-1]) and leaves(node.orelse[-1])
        case _:
            return False


def is_generator(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    stack: list[ast.AST] = list(node.body)
    while stack:
        part = stack.pop()
        if isinstance(part, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            stack.extend(ast.iter_child_nodes(part))
    return False
