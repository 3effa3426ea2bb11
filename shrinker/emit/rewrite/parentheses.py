"""Which parentheses an expression keeps when it takes the place of a larger one; and two mistakes of LibCST (1.9 and before) about them mended.

LibCST checks that a word and an expression beside it are kept apart by a blank or a parenthesis. For a
ternary it forgets the expression's own parentheses, and for a `lambda` the check itself fails, so
that ``return(a if b else c)`` and ``not(lambda: a)`` do not even parse.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import libcst as cst
from libcst._nodes.expression import ExpressionPosition

from shrinker.emit.rewrite.gaps import has_comment
from shrinker.emit.rewrite.sites import Sites

Parentheses = tuple[Sequence[cst.LeftParen], Sequence[cst.RightParen]]

_ATOMS = (
    cst.Name,
    cst.Attribute,
    cst.Call,
    cst.Subscript,
    cst.SimpleString,
    cst.FormattedString,
    cst.List,
    cst.Set,
    cst.Dict,
    cst.ListComp,
    cst.SetComp,
    cst.DictComp,
)
"""Expressions that bind tighter than any operator."""

_FREE: dict[type[cst.CSTNode], str] = {
    cst.If: "test",
    cst.While: "test",
    cst.Assert: "test",
    cst.Assign: "value",
    cst.AnnAssign: "value",
    cst.AugAssign: "value",
    cst.Return: "value",
    cst.Arg: "value",
    cst.Element: "value",
    cst.DictElement: "value",
    cst.Param: "default",
}


def note_free(node: cst.CSTNode, sites: Sites) -> None:
    """Remember the child of `node` that may be any expression without parentheses."""
    field = _FREE.get(type(node))
    if field is not None and not (isinstance(node, cst.Arg) and node.star):
        sites.free.add(id(getattr(node, field)))


def settle(
    replaced: cst.BaseExpression, survivor: cst.BaseExpression, sites: Sites, parentheses: Parentheses | None = None
) -> cst.BaseExpression:
    """The survivor with the parentheses of what it replaces, where it needs them.

    It needs them when it would bind differently, when it spans lines that only they join, when they
    hold a comment, or when they keep it apart from a word (`not(x)`).

    Args:
        replaced: the original node, whose position is known.
        parentheses: its parentheses where they were changed since.
    """
    left, right = parentheses or (replaced.lpar, replaced.rpar)
    if left and _needs_parentheses(replaced, survivor, sites, (left, right)):
        return survivor.with_changes(lpar=[*left, *survivor.lpar], rpar=[*survivor.rpar, *right])
    return survivor


def _needs_parentheses(
    replaced: cst.BaseExpression, survivor: cst.BaseExpression, sites: Sites, parentheses: Parentheses
) -> bool:
    blanks = [p.whitespace_after for p in parentheses[0]] + [p.whitespace_before for p in parentheses[1]]
    if any(has_comment(b) for b in blanks):
        return True
    if survivor.lpar:
        return False
    before, after = sites.around(replaced)
    if before.isidentifier() or before.isdigit() or after.isidentifier():
        return True
    if not isinstance(survivor, _ATOMS) and id(replaced) not in sites.free:
        return True
    code = cst.Module([]).code_for_node(survivor)
    if "\n" not in code and "\r" not in code:
        return False
    try:
        ast.parse(code.strip(), mode="eval")
    except SyntaxError:
        return True
    return False


def mend() -> None:
    """Mend the two classes; once is enough, more does no harm."""
    cst.IfExp._safe_to_use_with_word_operator = _ternary  # type: ignore[method-assign]
    cst.Lambda._safe_to_use_with_word_operator = _lambda  # type: ignore[method-assign]


def _ternary(self: cst.IfExp, position: Any) -> bool:
    if self.lpar:
        return True
    edge = self.body if position is ExpressionPosition.RIGHT else self.orelse
    return edge._safe_to_use_with_word_operator(position)


def _lambda(self: cst.Lambda, position: Any) -> bool:
    if self.lpar:
        return True
    return position is ExpressionPosition.LEFT and self.body._safe_to_use_with_word_operator(position)
