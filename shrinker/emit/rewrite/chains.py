"""DropElement of an operand of `and` or `or`.

`ast` has one node for `a and b and c`, LibCST one within another.
"""

from collections.abc import Iterator
from typing import Any

import libcst as cst

from shrinker.emit.rewrite.expressions import Expressions
from shrinker.emit.rewrite.items import NONE, thin

Pair = tuple[cst.BooleanOperation, cst.BooleanOperation]
"""An operation as upstream has it, and what has become of it."""


class Chains(Expressions):
    """Removes operands, with the comments that a reader takes to be theirs."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._within: set[cst.CSTNode] = set()
        """Operations that are the left part of a longer chain."""

    def visit_BooleanOperation(self, node: cst.BooleanOperation) -> None:
        if _continues(node):
            self._within.add(node.left)

    def leave_BooleanOperation(
        self, original_node: cst.BooleanOperation, updated_node: cst.BooleanOperation
    ) -> Any:
        if original_node in self._within:
            return updated_node
        pairs = [*_operations(original_node, updated_node)]
        first_original, first_updated = pairs[0]
        stays = [
            not self.drops(first_original.left),
            *(not self.drops(original.right) for original, _ in pairs),
        ]
        if all(stays):
            return updated_node
        if not any(stays):
            raise self.error(original_node, "no operand of a BoolOp is left")
        operands = [first_updated.left, *(updated.right for _, updated in pairs)]
        signs = [*(updated.operator for _, updated in pairs), None]
        first = updated_node.lpar[-1].whitespace_after if updated_node.lpar else NONE
        last = updated_node.rpar[0].whitespace_before if updated_node.rpar else NONE
        [whole, *others], operators, first, last = thin(operands, signs, stays, first, last)
        outer = updated_node
        if outer.lpar:
            opening = outer.lpar[-1].with_changes(whitespace_after=first)
            closing = outer.rpar[0].with_changes(whitespace_before=last)
            outer = outer.with_changes(
                lpar=[*outer.lpar[:-1], opening], rpar=[closing, *outer.rpar[1:]]
            )
        if not others:
            return self.replace(original_node, outer, whole)
        for operator, operand in zip(operators, others, strict=True):
            whole = cst.BooleanOperation(whole, operator, operand)
        return whole.with_changes(lpar=outer.lpar, rpar=outer.rpar)


def _continues(node: cst.BooleanOperation) -> bool:
    """Say whether the left operand of an operation is a part of the same chain."""
    left = node.left
    return (
        isinstance(left, cst.BooleanOperation)
        and not left.lpar
        and type(left.operator) is type(node.operator)
    )


def _operations(original: cst.BooleanOperation, updated: cst.BooleanOperation) -> Iterator[Pair]:
    """Go through the operations of a chain, from left to right."""
    if _continues(original):
        left = cst.ensure_type(original.left, cst.BooleanOperation)
        yield from _operations(left, cst.ensure_type(updated.left, cst.BooleanOperation))
    yield original, updated
