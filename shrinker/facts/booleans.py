"""Expressions that are `True` or `False` and nothing else: in `x and False` such an `x` may go even from a value."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shrinker.facts.evaluate import Scope, evaluate
from shrinker.facts.lattice import Domain, Known, Ref

if TYPE_CHECKING:
    from shrinker.facts.environment import Environment

_PREDICATES = frozenset(
    {
        "builtins.all",
        "builtins.any",
        "builtins.bool",
        "builtins.callable",
        "builtins.hasattr",
        "builtins.isinstance",
        "builtins.issubclass",
        "torch.cuda.is_available",
    }
)


def is_boolean(node: ast.expr, scope: Scope) -> bool:
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
                len(node.ops) == 1 and isinstance(evaluate(node.left, scope), Domain)
            )
        case ast.Call():
            if isinstance(node.func, ast.Attribute) and scope.environment.is_boolean_on_any(node.func.attr):
                return True
            function = evaluate(node.func, scope)
            return isinstance(function, Ref) and (
                function.name in _PREDICATES or scope.environment.boolean_function(function.name)
            )
        case _:
            value = evaluate(node, scope)
            return isinstance(value, Known) and value.exact and isinstance(value.value, bool)


def returns_boolean(function: str, environment: Environment) -> bool:
    """True for a short function of the tree whose every way out returns a bool."""
    from shrinker.facts.interpret import is_cache
    from shrinker.facts.scopes import ModuleScope, function_scope

    module, _, name = function.rpartition(".")
    found = environment.outlines.get(module)
    bindings = found.names.get(name, []) if found is not None else []
    if found is None or len(bindings) != 1 or not isinstance(bindings[0].node, ast.FunctionDef):
        return False
    definition = bindings[0].node
    if any(not is_cache(d) for d in definition.decorator_list):
        return False
    scope = function_scope(definition, ModuleScope(environment, module), found.package)
    return _always_returns(definition.body, scope)


def _always_returns(body: list[ast.stmt], scope: Scope) -> bool:
    """Every `return` of the block is a bool, and the block does not end without one."""
    for statement in body:
        for part in ast.walk(statement):
            if isinstance(part, ast.Return) and (part.value is None or not is_boolean(part.value, scope)):
                return False
            if isinstance(part, ast.Yield | ast.YieldFrom | ast.FunctionDef | ast.AsyncFunctionDef):
                return False
    return bool(body) and _ends(body[-1])


def _ends(node: ast.stmt) -> bool:
    match node:
        case ast.Return() | ast.Raise():
            return True
        case ast.If():
            return bool(node.orelse) and _ends(node.body[-1]) and _ends(node.orelse[-1])
        case ast.Try():
            blocks = [node.orelse or node.body, *(h.body for h in node.handlers)]
            return all(_ends(b[-1]) for b in blocks)
        case _:
            return False
