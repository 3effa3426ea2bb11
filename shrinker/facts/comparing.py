"""What a comparison gives, once its sides have values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from shrinker.facts.lattice import ON_TEXTS, UNKNOWN, Known, Removed, SwitchedOff, Value

_ORDER: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def compare_values(left: Value, kind: ast.cmpop, right: Value) -> Value:
    """Of two values that may be known; unknown unless both are."""
    identity = isinstance(kind, ast.Is | ast.IsNot)
    if identity and isinstance(left, Known) and left.truth and isinstance(right, Known) and right.value is None:
        # Whatever it is exactly, what is true is not None.
        return Known(isinstance(kind, ast.IsNot), True, left.rules | right.rules)
    if not (isinstance(left, Known) and isinstance(right, Known) and left.exact and right.exact):
        return UNKNOWN
    rules = left.rules | right.rules
    match kind:
        case ast.Is() if right.value is None or isinstance(right.value, bool):
            return Known(left.value is right.value, True, rules)
        case ast.IsNot() if right.value is None or isinstance(right.value, bool):
            return Known(left.value is not right.value, True, rules)
        case ast.Eq():
            return Known(left.value == right.value, True, rules)
        case ast.NotEq():
            return Known(left.value != right.value, True, rules)
        case ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE() as order if _are_numbers(left.value, right.value):
            return Known(_ORDER[type(order)](left.value, right.value), True, rules)
    return UNKNOWN


def _are_numbers(*values: object) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def compare_member(member: Removed, kind: ast.cmpop) -> Value:
    """Of a member of an enumeration that nothing produces, with anything."""
    if isinstance(kind, ast.Eq | ast.Is):
        return Known(False, True, frozenset({member.rule}))
    return Known(True, True, frozenset({member.rule})) if isinstance(kind, ast.NotEq | ast.IsNot) else member


def compare_switched_off(value: SwitchedOff, kind: ast.cmpop, other: ast.expr) -> Value:
    """Of the text of an environment variable, with what is written: texts that mean yes."""
    texts = other.elts if isinstance(other, ast.Tuple | ast.List | ast.Set) else [other]
    if not all(isinstance(t, ast.Constant) and t.value in ON_TEXTS for t in texts):
        return UNKNOWN
    if isinstance(kind, ast.Eq | ast.In):
        return Known(False, True, value.rules)
    return Known(True, True, value.rules) if isinstance(kind, ast.NotEq | ast.NotIn) else UNKNOWN
