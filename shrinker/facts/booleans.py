"""Expressions that are `True` or `False` and nothing else: in `x and False` such an `x` may go even from a value."""

from __future__ import annotations

import ast

from shrinker.facts.evaluate import evaluate
from shrinker.facts.lattice import Known, Ref, TextDomain
from shrinker.facts.world import ValueScope

_PREDICATES = frozenset(
    {"builtins.all", "builtins.any", "builtins.bool", "builtins.callable", "builtins.hasattr"}
    | {"builtins.isinstance", "builtins.issubclass", "torch.cuda.is_available"}
)


def is_boolean(node: ast.expr, scope: ValueScope) -> bool:
    """True when the value is certainly a bool: comparison operators may return anything, `in` and `is` do not."""
    match node:
        case ast.Constant(value=bool()) | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.BoolOp():
            return all(is_boolean(v, scope) for v in node.values)
        case ast.IfExp():
            return is_boolean(node.body, scope) and is_boolean(node.orelse, scope)
        case ast.Compare():
            return all(isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot) for op in node.ops) or (
                len(node.ops) == 1 and isinstance(evaluate(node.left, scope), TextDomain)
            )
        case ast.Call():
            if isinstance(node.func, ast.Attribute) and scope.environment.is_boolean_on_any(node.func.attr):
                return True
            function = evaluate(node.func, scope)
            return isinstance(function, Ref) and function.name in _PREDICATES
        case _:
            value = evaluate(node, scope)
            return isinstance(value, Known) and value.exact and isinstance(value.value, bool)
