"""The literal in the place of a decided expression."""

from __future__ import annotations

import ast

from shrinker.facts.decided import Decided
from shrinker.facts.lattice import UNKNOWN, Known, Removed, Value


def decided_constant(node: ast.expr, value: Known, decided: Decided) -> ast.Constant:
    """The literal in the place of an expression, of which the table still knows the rules that it rests on."""
    assert value.value is None or isinstance(value.value, bool)
    constant = ast.copy_location(ast.Constant(value.value), node)
    decided.note(constant, value)
    return constant


def without_removed(value: Value) -> Value:
    """Removed operands are handled where they stand, operand by operand."""
    return UNKNOWN if isinstance(value, Removed) else value
