"""Comment and blank lines around a statement that goes."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

Lines = tuple[cst.EmptyLine, ...]


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
    begin = 0
    while begin < len(lines) and is_blank(lines[begin]):
        begin += 1
    return tuple(lines[begin:])


def without_trailing_blanks(lines: Sequence[cst.EmptyLine]) -> Lines:
    """The lines up to the last comment."""
    end = len(lines)
    while end and is_blank(lines[end - 1]):
        end -= 1
    return tuple(lines[:end])


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
