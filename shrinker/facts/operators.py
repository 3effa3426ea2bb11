"""Chains of `and` and `or`, and comparisons: what they give, once their sides have values."""

import ast
import operator
from collections.abc import Callable
from typing import Any

from shrinker.facts.evaluate import ValueScope, evaluate, evaluates
from shrinker.facts.lattice import UNKNOWN, Known, Ref, Removed, TextDomain, Value, join

_EQUALITY = ast.Eq | ast.NotEq | ast.Is | ast.IsNot
_ANSWERS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


@evaluates(ast.BoolOp)
def _boolean(node: ast.BoolOp, scope: ValueScope, condition: bool) -> Value:
    is_and = isinstance(node.op, ast.And)
    rules: frozenset[str] = frozenset()
    all_known = exact = True
    values: list[Value] = []
    for index, operand in enumerate(node.values):
        value = evaluate(operand, scope, condition=True)
        values.append(value)
        if isinstance(value, Removed):
            return value if all_known else UNKNOWN
        if not isinstance(value, Known):
            all_known = False
            continue
        rules |= value.rules
        exact = exact and value.exact
        if value.truth is not is_and:
            # Decides the truth of the whole chain; its exact value only when nothing unknown stands
            # before it, or when that could only be the same.
            same = all_known or (
                isinstance(value.value, bool)
                and value.exact
                and all(is_boolean(v, scope) for v in node.values[:index])
            )
            return Known(value.value if all_known else value.truth, value.exact and same, rules)
    if all_known and isinstance(value, Known):
        return Known(value.value, exact, rules)
    return UNKNOWN if condition else join(values)


def _links(node: ast.Compare, scope: ValueScope, condition: bool) -> Value:
    """``a < b < c``, which is ``a < b and b < c``."""
    operands = (node.left, *node.comparators)
    links: list[ast.expr] = [
        ast.copy_location(ast.Compare(left, [link], [right]), node)
        for left, link, right in zip(operands, node.ops, operands[1:], strict=False)
    ]
    value = _boolean(ast.copy_location(ast.BoolOp(ast.And(), links), node), scope, condition)
    return value if isinstance(value, Known) else UNKNOWN


@evaluates(ast.Compare)
def _compare(node: ast.Compare, scope: ValueScope, condition: bool) -> Value:
    if len(node.ops) > 1:
        return _links(node, scope, condition)
    left = evaluate(node.left, scope)
    right = evaluate(node.comparators[0], scope)
    kind = node.ops[0]
    for side in (left, right):
        if isinstance(side, Removed):
            # Nothing equals a member that is removed, so no collection holds it.
            decided = isinstance(kind, _EQUALITY) or (
                side is left and isinstance(kind, ast.In | ast.NotIn)
            )
            return _unequal(kind, frozenset({side.rule})) if side.member and decided else side
    for domain, other in ((left, node.comparators[0]), (right, node.left)):
        if isinstance(domain, TextDomain):
            return _compare_domain(domain, kind, other, scope, right is domain)
    display = node.comparators[0]
    if isinstance(kind, ast.In | ast.NotIn) and isinstance(display, ast.Tuple | ast.List | ast.Set):
        return _compare_elements(left, kind, display, scope)
    return _compare_values(left, kind, right)


def _unequal(kind: ast.cmpop, rules: frozenset[str]) -> Known:
    """Return the answer where one side never equals the other, nor anything in it."""
    return Known(isinstance(kind, ast.NotEq | ast.IsNot | ast.NotIn), True, rules)


def _compare_domain(
    domain: TextDomain, kind: ast.cmpop, other: ast.expr, scope: ValueScope, swapped: bool
) -> Value:
    """``device == "npu"``, ``device in ("npu", "xpu")`` for a device that is never one of them."""
    equal = isinstance(kind, _EQUALITY)
    if swapped and isinstance(kind, ast.In | ast.NotIn):
        part = evaluate(other, scope)
        if isinstance(part, Known) and part.exact and domain.lacks(part.value):
            return _unequal(kind, domain.rules | part.rules)
    if domain.items or not (equal or (isinstance(kind, ast.In | ast.NotIn) and not swapped)):
        return UNKNOWN
    texts = (
        [other]
        if equal
        else other.elts
        if isinstance(other, ast.Tuple | ast.List | ast.Set)
        else []
    )
    values = [evaluate(t, scope) for t in texts]
    never = values and all(
        isinstance(v, Known) and v.exact and domain.excludes(v.value) for v in values
    )
    return _unequal(kind, domain.rules) if never else UNKNOWN


def _compare_elements(
    asked: Value, kind: ast.cmpop, display: ast.Tuple | ast.List | ast.Set, scope: ValueScope
) -> Value:
    """``"npu" in (device, other)`` for devices that are never it."""
    domains = [evaluate(element, scope) for element in display.elts]
    rules = frozenset[str]()
    for domain in domains:
        if not (isinstance(domain, TextDomain) and not domain.items):
            return UNKNOWN
        if not (isinstance(asked, Known) and asked.exact and domain.excludes(asked.value)):
            return UNKNOWN
        rules |= domain.rules
    return _unequal(kind, rules) if domains else UNKNOWN


def _compare_values(left: Value, kind: ast.cmpop, right: Value) -> Value:
    """Of two values that may be known; unknown unless both are."""
    identity = isinstance(kind, ast.Is | ast.IsNot)
    if (
        identity
        and isinstance(left, Known)
        and left.truth
        and isinstance(right, Known)
        and right.value is None
    ):
        # Whatever it is exactly, what is true is not None.
        return Known(isinstance(kind, ast.IsNot), True, left.rules | right.rules)
    if not (isinstance(left, Known) and isinstance(right, Known) and left.exact and right.exact):
        return UNKNOWN
    rules = left.rules | right.rules
    answer = _ANSWERS.get(type(kind))
    if identity:
        comparable = right.value is None or isinstance(right.value, bool)
    else:
        comparable = isinstance(kind, ast.Eq | ast.NotEq) or (
            _is_number(left.value) and _is_number(right.value)
        )
    return Known(answer(left.value, right.value), True, rules) if answer and comparable else UNKNOWN


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_PREDICATES = frozenset(
    {"builtins.all", "builtins.any", "builtins.bool", "builtins.callable", "builtins.hasattr"}
    | {"builtins.isinstance", "builtins.issubclass", "torch.cuda.is_available"}
)


def is_boolean(node: ast.expr, scope: ValueScope) -> bool:
    """Tell whether the value is certainly a bool: comparison operators may return anything, `in`
    and `is` do not.
    """
    match node:
        case ast.Constant(value=bool()) | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.BoolOp():
            return all(is_boolean(v, scope) for v in node.values)
        case ast.IfExp():
            return is_boolean(node.body, scope) and is_boolean(node.orelse, scope)
        case ast.Compare():
            return all(
                isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot) for op in node.ops
            ) or (len(node.ops) == 1 and isinstance(evaluate(node.left, scope), TextDomain))
        case ast.Call():
            if isinstance(node.func, ast.Attribute) and scope.environment.is_boolean(
                f".{node.func.attr}"
            ):
                return True
            function = evaluate(node.func, scope)
            return isinstance(function, Ref) and function.name in _PREDICATES
        case _:
            value = evaluate(node, scope)
            return isinstance(value, Known) and value.exact and isinstance(value.value, bool)
