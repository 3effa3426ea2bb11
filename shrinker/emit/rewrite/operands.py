"""Literal and TakeOperand: an expression becomes a constant or one of its children."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from shrinker.emit.rewrite.chains import Chain, flatten
from shrinker.emit.rewrite.parentheses import settle
from shrinker.emit.rewrite.sites import Sites
from shrinker.values.edits import Literal

Action = Callable[[cst.CSTNode], cst.CSTNode]

_FIELDS = {"operand": "expression"}
"""Fields that LibCST names otherwise than `ast`."""


def find_operand(node: cst.BaseExpression, sites: Sites) -> Action | None:
    """The action that replaces an expression; None when no edit names it."""
    edit = sites.expression(node)
    if edit is None:
        return None
    if isinstance(edit, Literal):
        sites.skip(node)
        text = edit.text
        constant = cst.SimpleString(text) if text[0] in "\"'" else cst.Name(text)
        return lambda updated: settle(node, constant, sites)
    name, _, number = edit.child.partition(":")
    if number and name == "values":
        chain = flatten(node, sites)
        index = int(number)
        if chain is None or index >= len(chain.operands):
            raise sites.error(node, f"{type(node).__name__} has no operand {edit.child!r}")
        for other, operand in enumerate(chain.operands):
            if other != index:
                sites.skip(operand)
        sites.void_element("BoolOp", chain.operands[index])
        return _take_from(node, chain, index, sites)
    field = _FIELDS.get(name, name)
    kept = getattr(node, field, None)
    if number or not isinstance(kept, cst.BaseExpression):
        raise sites.error(node, f"{type(node).__name__} has no child {edit.child!r}")
    for child in node.children:
        if child is not kept and isinstance(child, cst.BaseExpression | cst.SubscriptElement | cst.Arg):
            sites.skip(child)
    return lambda updated: settle(node, getattr(updated, field), sites)


def _take_from(node: cst.BaseExpression, chain: Chain, index: int, sites: Sites) -> Action:
    return lambda updated: settle(node, chain.updated(updated).operands[index], sites)
