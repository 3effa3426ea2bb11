"""Which statements do something besides binding names."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from shrinker.syntax.side_effects import is_pure_value, only_wraps


def unpacks(targets: Sequence[ast.expr]) -> bool:
    """True for targets that are names, or tuples of names."""
    return all(
        isinstance(t, ast.Name) or (isinstance(t, ast.Tuple) and all(isinstance(e, ast.Name) for e in t.elts))
        for t in targets
    )


def acts(node: ast.AST) -> bool:
    """True for a statement of the module level that does something besides binding names."""
    match node:
        case ast.Expr(value=value):
            return not is_pure_value(value)
        case ast.Try():
            parts = (*node.body, *(s for h in node.handlers for s in h.body), *node.orelse, *node.finalbody)
            return any(acts(p) for p in parts)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return not all(only_wraps(d) for d in node.decorator_list)
        case ast.Import() | ast.ImportFrom() | ast.Pass():
            return False
        case ast.If():
            return not is_pure_value(node.test) or any(acts(p) for p in (*node.body, *node.orelse))
        case ast.Assign(targets=targets, value=value):
            return not (is_pure_value(value) and unpacks(targets))
        case ast.AnnAssign(target=ast.Name(), value=value):
            return value is not None and not is_pure_value(value)
    return True


def is_quiet(node: ast.stmt) -> bool:
    """True for a statement of a class body that only binds."""
    return not acts(node)
