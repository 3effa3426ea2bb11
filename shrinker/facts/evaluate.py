"""Evaluate expressions in the closed world.

Names are looked up through a `Scope`; `scopes` has the real ones. Calls are known through facts, or by
interpreting a short function of the tree (`interpret`), which the environment does.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Protocol

from shrinker.facts.effects import ENVIRONMENT_READERS
from shrinker.facts.lattice import NO_RULES, ON_TEXTS, UNKNOWN, Known, Ref, Removed, SwitchedOff, Value, literal

if TYPE_CHECKING:
    from shrinker.facts.environment import Environment


class Scope(Protocol):
    """Where a name is looked up."""

    environment: Environment
    module: str

    def lookup(self, name: str, line: int) -> Value:
        """Value of a name read at a line."""


def truth(node: ast.expr, scope: Scope) -> Known | None:
    """The truth of an expression in a condition, when the facts decide it."""
    value = evaluate(node, scope, condition=True)
    return value if isinstance(value, Known) else None


def evaluate(node: ast.expr, scope: Scope, *, condition: bool = False, depth: int = 0) -> Value:
    """Value of an expression in the closed world.

    Args:
        node: the expression.
        scope: where its names are looked up.
        condition: True when only the truth matters (`a and False` is then false whatever `a` is).
        depth: nesting of interpreted calls.
    """
    match node:
        case ast.Constant():
            return literal(node.value)
        case ast.Name():
            return scope.lookup(node.id, node.lineno)
        case ast.Attribute():
            return _attribute(evaluate(node.value, scope, depth=depth), node.attr, scope)
        case ast.UnaryOp(op=ast.Not()):
            inner = evaluate(node.operand, scope, condition=True, depth=depth)
            return Known(not inner.truth, True, inner.rules) if isinstance(inner, Known) else _only_removed(inner)
        case ast.BoolOp():
            return _boolean(node, scope, condition, depth)
        case ast.IfExp():
            test = evaluate(node.test, scope, condition=True, depth=depth)
            if isinstance(test, Known):
                arm = evaluate(node.body if test.truth else node.orelse, scope, condition=condition, depth=depth)
                return Known(arm.value, arm.exact, arm.rules | test.rules) if isinstance(arm, Known) else arm
            return _only_removed(test)
        case ast.Compare():
            return _compare(node, scope, depth)
        case ast.Call():
            return _call(node, scope, depth)
        case ast.Subscript():
            return _environment_item(node, scope, depth)
        case ast.NamedExpr():
            return evaluate(node.value, scope, condition=condition, depth=depth)
        case ast.BinOp():
            left = _only_removed(evaluate(node.left, scope, depth=depth))
            return left if isinstance(left, Removed) else _only_removed(evaluate(node.right, scope, depth=depth))
        case _:
            return UNKNOWN


def _only_removed(value: Value) -> Value:
    return value if isinstance(value, Removed) else UNKNOWN


def _attribute(base: Value, name: str, scope: Scope) -> Value:
    if isinstance(base, Removed):
        return base
    if not isinstance(base, Ref):
        return UNKNOWN
    environment = scope.environment
    if base.name in environment.outlines:
        return environment.resolve(base.name, name)
    qualified = f"{base.name}.{name}"
    fact = environment.named(qualified)
    if fact is not None:
        return fact
    removed = environment.removed_module(qualified)
    return removed if removed is not None else Ref(qualified)


def _boolean(node: ast.BoolOp, scope: Scope, condition: bool, depth: int) -> Value:
    is_and = isinstance(node.op, ast.And)
    rules = NO_RULES
    all_known = True
    exact = True
    last: Known | None = None
    for operand in node.values:
        value = evaluate(operand, scope, condition=True, depth=depth)
        if isinstance(value, Removed):
            return value if all_known else UNKNOWN
        if not isinstance(value, Known):
            all_known = False
            continue
        rules |= value.rules
        last = value
        exact = exact and value.exact
        if value.truth is not is_and:
            # Decides the truth of the whole chain; its exact value only when nothing unknown stands before it.
            return Known(value.value if all_known else value.truth, value.exact and all_known, rules)
    if all_known and last is not None:
        return Known(last.value, exact, rules)
    return UNKNOWN


def _compare(node: ast.Compare, scope: Scope, depth: int) -> Value:
    if len(node.ops) != 1:
        return UNKNOWN
    left = evaluate(node.left, scope, depth=depth)
    right = evaluate(node.comparators[0], scope, depth=depth)
    for side in (left, right):
        if isinstance(side, Removed):
            return side
    if isinstance(left, SwitchedOff):
        return _compare_off(left, node.ops[0], node.comparators[0])
    if not (isinstance(left, Known) and isinstance(right, Known) and left.exact and right.exact):
        return UNKNOWN
    rules = left.rules | right.rules
    match node.ops[0]:
        case ast.Is() if right.value is None or isinstance(right.value, bool):
            return Known(left.value is right.value, True, rules)
        case ast.IsNot() if right.value is None or isinstance(right.value, bool):
            return Known(left.value is not right.value, True, rules)
        case ast.Eq():
            return Known(left.value == right.value, True, rules)
        case ast.NotEq():
            return Known(left.value != right.value, True, rules)
    return UNKNOWN


def _compare_off(value: SwitchedOff, operator: ast.cmpop, other: ast.expr) -> Value:
    texts = other.elts if isinstance(other, ast.Tuple | ast.List | ast.Set) else [other]
    if not all(isinstance(t, ast.Constant) and t.value in ON_TEXTS for t in texts):
        return UNKNOWN
    if isinstance(operator, ast.Eq | ast.In):
        return Known(False, True, value.rules)
    return Known(True, True, value.rules) if isinstance(operator, ast.NotEq | ast.NotIn) else UNKNOWN


def _call(node: ast.Call, scope: Scope, depth: int) -> Value:
    environment = scope.environment
    variable = environment_variable(node, scope)
    if variable is not None:
        return variable
    for argument in node.args:
        if isinstance(argument, ast.Constant):
            removed = environment.named_by_string(argument.value)
            if removed is not None:
                return removed
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("lower", "upper", "strip"):
        text = evaluate(node.func.value, scope, depth=depth)
        if isinstance(text, SwitchedOff):
            return text
    function = evaluate(node.func, scope, depth=depth)
    if isinstance(function, Removed):
        # A fact may say what the function returns where its feature is off.
        return environment.called(function.name) or function
    if not isinstance(function, Ref):
        return UNKNOWN
    fact = environment.called(function.name)
    if fact is not None:
        return fact
    if function.name == "builtins.bool" and len(node.args) == 1 and not node.keywords:
        inner = evaluate(node.args[0], scope, condition=True, depth=depth)
        return Known(inner.truth, True, inner.rules) if isinstance(inner, Known) else _only_removed(inner)
    if function.name == "builtins.int" and len(node.args) == 1 and not node.keywords:
        inner = evaluate(node.args[0], scope, depth=depth)
        return Known(0, False, inner.rules) if isinstance(inner, SwitchedOff) else _only_removed(inner)
    return environment.interpret(function.name, depth)


def environment_variable(node: ast.Call, scope: Scope) -> Value | None:
    """Value of ``os.getenv("X")``, ``get_bool_env_var("X")``, ``envs.X.get()`` … for a variable that a fact fixes."""
    environment = scope.environment
    if not environment.variables:
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get" and isinstance(node.func.value, ast.Attribute):
        name = node.func.value.attr
        if name in environment.variables and not node.args:
            return environment.variable(name)
    if node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value in environment.variables:
        reader = evaluate(node.func, scope)
        if isinstance(reader, Ref) and any(
            reader.name == r or reader.name.endswith("." + r) for r in ENVIRONMENT_READERS
        ):
            value = environment.variable(str(node.args[0].value))
            if value is not None and reader.name.startswith("os."):
                return UNKNOWN if value.truth else SwitchedOff(value.rules)
            return value
    return None


def _environment_item(node: ast.Subscript, scope: Scope, depth: int) -> Value:
    base = evaluate(node.value, scope, depth=depth)
    return _only_removed(base)
