"""Thins out what stands between commas or operators.

LibCST keeps the comment behind an item, and the comments above the next one, in the white space of
the sign between them. When an item goes, a reader expects the comment behind it and those above it
to go, and all others to stay: so the first line of such white space is taken to belong to the item
before it, and the other lines to the item behind it.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import libcst as cst

Space = cst.BaseParenthesizableWhitespace
Node = Any
"""A node of a class that LibCST gives no common base: items with commas, signs, brackets."""
NONE = cst.SimpleWhitespace("")


class Thinned(NamedTuple):
    """Items that stay."""

    items: list[Node]
    signs: list[Node]
    """Between them."""
    first: Space
    """Before them."""
    last: Space
    """Behind them."""


def thin(
    items: Sequence[Node], signs: Sequence[Node], stays: Sequence[bool], first: Space, last: Space
) -> Thinned:
    """Drop some of several items, not all of them.

    Args:
        items: from left to right.
        signs: the comma or operator behind each item; None behind a last one without.
        stays: of each item, whether it stays.
        first: the white space behind the opening bracket.
        last: the white space before the closing bracket.
    """
    left: list[Node] = []
    behind: list[Node] = []
    for item, sign, kept in zip(items, signs, stays, strict=True):
        if kept:
            left.append(item)
            behind.append(sign)
        elif not left:
            first = _join_first(first, _space_of(sign))
        elif sign is not None:
            behind[-1] = _join_signs(behind[-1], sign)
    sign = behind.pop()
    if sign is not None:
        last = _join_last(_space_of(sign), last)
    return Thinned(left, behind, first, last)


def thin_between_commas(
    items: Sequence[Node], stays: Sequence[bool], opening: Node = None, closing: Node = None
) -> tuple[list[Node], Node, Node]:
    """Drop elements, arguments, or names of an import; all of them only between brackets.

    Args:
        items: each with its comma.
        stays: of each item, whether it stays.
        opening: the bracket before them; None without one.
        closing: the bracket behind them.

    Returns:
        The items that stay, with their commas, and the brackets. Behind the last one a comma stands
        where one stood before.
    """
    left: list[Node] = []
    signs: list[Node]
    end: Node
    *signs, end = [item.comma if isinstance(item.comma, cst.Comma) else None for item in items]
    first = opening.whitespace_after if opening else NONE
    last = _space_before(closing, end, items[-1])
    if not any(stays):
        first = NONE
        last = NONE
    else:
        left, signs, first, last = thin(items, [*signs, None], stays, first, last)
        end = (
            end.with_changes(whitespace_after=NONE)
            if end is not None
            else cst.MaybeSentinel.DEFAULT
        )
        left = [
            item.with_changes(comma=comma) for item, comma in zip(left, [*signs, end], strict=True)
        ]
    opening = opening and opening.with_changes(whitespace_after=first)
    return left, opening, closing and closing.with_changes(whitespace_before=last)


def _space_before(closing: Node, comma: Node, item: Node) -> Space:
    """Find the white space before a closing bracket.

    LibCST keeps it in the bracket, in the last comma, or in the last argument.
    """
    spaces = [getattr(comma, "whitespace_after", NONE), getattr(item, "whitespace_after_arg", NONE)]
    found = (space for space in spaces if isinstance(space, cst.ParenthesizedWhitespace))
    return next(found, closing.whitespace_before if closing else NONE)


def has_comment(space: Space) -> bool:
    """Say whether a comment stands in white space."""
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return False
    return space.first_line.comment is not None or any(line.comment for line in space.empty_lines)


def _space_of(sign: Node) -> Space:
    """Return the white space around a sign that goes: the side on which a line ends."""
    after: Space = sign.whitespace_after
    return after if isinstance(after, cst.ParenthesizedWhitespace) else sign.whitespace_before


def _join_signs(before: Node, after: Node) -> Node:
    """Join the signs on both sides of an item that goes.

    The one that is left looks as the first does before it, and as the second does behind it.
    """
    space = _join(before.whitespace_after, after.whitespace_after)
    if not isinstance(space, cst.ParenthesizedWhitespace):
        space = after.whitespace_after
    return before.with_changes(
        whitespace_before=_join(before.whitespace_before, after.whitespace_before),
        whitespace_after=space,
    )


def _join(before: Space, after: Space) -> Space:
    """Join the white space on both sides of an item that goes."""
    if not isinstance(after, cst.ParenthesizedWhitespace):
        return before
    if not isinstance(before, cst.ParenthesizedWhitespace):
        # The line is shared with an item that stays, and so is the comment on it.
        return after
    return after.with_changes(first_line=before.first_line)


def _join_first(opening: Space, after: Space) -> Space:
    """Join the white space around the first item, which goes."""
    if isinstance(opening, cst.ParenthesizedWhitespace) or not isinstance(
        after, cst.ParenthesizedWhitespace
    ):
        return _join(opening, after)
    if not any(line.comment for line in after.empty_lines):
        return opening
    return after.with_changes(first_line=cst.TrailingWhitespace())


def _join_last(before: Space, closing: Space) -> Space:
    """Join the white space behind the last item that stays with that before the closing bracket."""
    if isinstance(closing, cst.ParenthesizedWhitespace) or has_comment(before):
        return _join(before, closing)
    return closing
