"""White space around what goes: comment and blank lines around a statement, and what stands between the elements of a list, with the comments
in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import dropwhile
from typing import Any, TypeVar

import libcst as cst

Lines = tuple[cst.EmptyLine, ...]
Gap = cst.BaseParenthesizableWhitespace
NOTHING = cst.SimpleWhitespace("")
_AFTER = ("whitespace_after_arg", "whitespace_after_param")
"""Where an argument or a parameter keeps what follows it."""

T = TypeVar("T", bound=cst.CSTNode)


def is_blank(line: cst.EmptyLine) -> bool:
    """True for a line without a comment."""
    return line.comment is None


def detached(lines: Sequence[cst.EmptyLine]) -> Lines:
    """The leading lines of a dropped statement that stay: all but the comments directly above it."""
    end = len(lines)
    while end and not is_blank(lines[end - 1]) and lines[end - 1].indent and not lines[end - 1].whitespace.value:
        end -= 1
    return tuple(lines[:end])


def without_leading_blanks(lines: Sequence[cst.EmptyLine]) -> Lines:
    """The lines from the first comment on."""
    return tuple(dropwhile(is_blank, lines))


def without_trailing_blanks(lines: Sequence[cst.EmptyLine]) -> Lines:
    """The lines up to the last comment."""
    return tuple(dropwhile(is_blank, reversed(lines)))[::-1]


def join(before: Sequence[cst.EmptyLine], after: Sequence[cst.EmptyLine], *, opens: bool = False) -> Lines:
    """What is left of two runs of lines when the statement between them went.

    The blank lines that meet become the longer of the two runs, so that two blank lines between
    functions stay two. Right below a block's header (`opens`) the first run alone counts.
    """
    head, tail = without_trailing_blanks(before), without_leading_blanks(after)
    left, right = tuple(before[len(head) :]), tuple(after[: len(after) - len(tail)])
    if opens and not head:
        return (*left, *tail)
    return (*head, *(left if len(left) >= len(right) else right), *tail)


def has_comment(gap: Gap) -> bool:
    """True when a comment stands in the gap."""
    return isinstance(gap, cst.ParenthesizedWhitespace) and (
        gap.first_line.comment is not None or any(not is_blank(line) for line in gap.empty_lines)
    )


def merge(before: Gap, after: Gap, *, begins: bool = False, ends: bool = False) -> Gap:
    """The gap left of two when the element between them goes.

    `before` ends its first line with the comment of what precedes the element and holds the comments
    above it; `after` ends its first line with the element's own comment, and holds the comments above what follows.

    Args:
        begins: nothing but the bracket precedes.
        ends: nothing but the bracket follows.
    """
    if isinstance(before, cst.ParenthesizedWhitespace) and isinstance(after, cst.ParenthesizedWhitespace):
        above = list(before.empty_lines)
        while above and not is_blank(above[-1]):
            above.pop()
        return after.with_changes(first_line=before.first_line, empty_lines=[*above, *after.empty_lines])
    if isinstance(before, cst.ParenthesizedWhitespace):
        return after if ends and not has_comment(before) else before
    if isinstance(after, cst.ParenthesizedWhitespace):
        if not begins:
            # The line is shared with an element that stays, and so is the comment on it.
            return after
        if not has_comment(after) or not any(not is_blank(line) for line in after.empty_lines):
            return before
        plain = after.first_line.with_changes(comment=None, whitespace=NOTHING)
        return after.with_changes(first_line=plain)
    return after if ends else before


def drop(items: Sequence[T], gone: frozenset[int], opening: Gap, closing: Gap) -> tuple[list[T], Gap, Gap]:
    """Drop elements of a comma-separated list.

    Args:
        items: nodes with a `comma`.
        gone: indices of the dropped ones.
        opening: white space after the opening bracket.
        closing: white space before the closing bracket, where the bracket holds it.

    Returns:
        The elements that stay and the two gaps. A trailing comma stays when there was one. When
        nothing stays the two gaps have become one, the first.
    """
    last = items[-1]
    trailing = isinstance(comma_of(last), cst.Comma)
    after = next((name for name in _AFTER if hasattr(last, name)), "")
    inside = comma_of(last).whitespace_after if trailing else getattr(last, after, NOTHING) if after else NOTHING
    if not inside.empty:
        # LibCST keeps the white space before a call's or signature's end in its last element.
        closing = inside
    gaps: list[Gap] = [opening, *(comma_of(item).whitespace_after for item in items[:-1]), closing]
    kept: list[tuple[Gap, T]] = []
    gap = gaps[0]
    for index, item in enumerate(items):
        if index in gone:
            gap = merge(gap, gaps[index + 1], begins=not kept, ends=index == len(items) - 1)
        else:
            kept.append((gap, item))
            gap = gaps[index + 1]
    if not kept:
        return [], (gap if has_comment(gap) else NOTHING), NOTHING
    out: list[T] = []
    for number, (_, item) in enumerate(kept):
        comma: Any = comma_of(item)
        if number + 1 < len(kept):
            comma = comma.with_changes(whitespace_after=kept[number + 1][0])
        elif trailing:
            comma = comma.with_changes(whitespace_after=NOTHING)
        else:
            comma = cst.MaybeSentinel.DEFAULT
        changes: dict[str, Any] = {"comma": comma}
        if item is last and after:
            changes[after] = NOTHING if not trailing else getattr(item, after)
        out.append(item.with_changes(**changes))
    return out, kept[0][0], gap


def drop_between(items: Sequence[T], gone: frozenset[int], left: Any, right: Any) -> tuple[list[T], Any, Any]:
    """Drop elements between two brackets, None for a bracket that is not written; the elements that stay and the brackets."""
    opening, closing = left.whitespace_after if left else NOTHING, right.whitespace_before if right else NOTHING
    kept, first, last = drop(items, gone, opening, closing)
    return (
        kept,
        left and left.with_changes(whitespace_after=first),
        right and right.with_changes(whitespace_before=last),
    )


def comma_of(item: cst.CSTNode) -> Any:
    """The comma after an element, or LibCST's sentinel."""
    return item.comma  # type: ignore[attr-defined]
