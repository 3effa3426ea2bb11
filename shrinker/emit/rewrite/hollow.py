"""Statements that go are put before LibCST as a string of as many lines: it would read, place and visit each of their tokens.

A string is a statement of one node. Only where the statement ends with its line, so that nothing else stands on the
lines that the string takes.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from shrinker.emit.rewrite.positions import Source, indent_of, is_elif, line_end, start, sub_blocks
from shrinker.values.edits import DropStatement, DropTail, Edit, Raise, Span

_GOING = (DropStatement, DropTail, Raise)


@dataclass(frozen=True, slots=True)
class Hollow:
    """Lines `first` to `last` (1-based, inclusive) that a string stands for."""

    first: int
    last: int
    indent: str


def hollowed(
    row: Sequence[ast.stmt], tail: ast.stmt, edits: Sequence[Edit], source: Source, first: int, ceiling: int
) -> tuple[Hollow | None, tuple[Edit, ...]]:
    """The lines of a statement that goes, and what is left to apply of the edits in it.

    Args:
        row: the statements that begin on one line.
        tail: the last statement of their block.
        edits: those in the row, and in what follows it where an edit drops that too.
        source: the file.
        first: line on which the row begins, decorators included.
        ceiling: the last line that may belong to the row; that of the chunk where the rest of the block goes.
    """
    node = row[0]
    own = [e for e in edits if isinstance(e, _GOING) and start(e) == (node.lineno, node.col_offset)]
    if len(row) > 1 or not own:
        return None, tuple(edits)
    end = tail if any(isinstance(e, DropTail | Raise) for e in own) else node
    last = end.end_lineno or end.lineno
    column = source.point(last, end.end_col_offset or 0)[1]
    behind = source.lines[last - 1][column:].strip()
    if last == first or (behind and not behind.startswith("#")):
        return None, tuple(edits)
    last = _footer(end, source, last, ceiling)
    span = Span(first, node.col_offset, last, 3)
    return Hollow(first, last, indent_of(source.lines[first - 1])), tuple(replace(e, span=span) for e in own)


def _footer(node: ast.stmt, source: Source, last: int, ceiling: int) -> int:
    """The last line that LibCST counts to the blocks of a statement: comments below it that are indented as they are."""
    blocks = sub_blocks(node)
    if not blocks:
        return last
    opening = blocks[-1][0]
    if isinstance(node, ast.If) and [opening] == node.orelse and is_elif(opening, source):
        return _footer(opening, source, last, ceiling)
    indent = indent_of(source.lines[opening.lineno - 1])
    if opening.lineno == node.lineno or source.point(opening.lineno, opening.col_offset)[1] != len(indent):
        return last
    return max((n for n in range(last + 1, ceiling + 1) if source.lines[n - 1].startswith(indent)), default=last)


def fill(rows: list[str], hollows: Sequence[Hollow], first: int) -> None:
    """Put the strings in place.

    Args:
        rows: lines of the file from `first` on; changed.
    """
    for hollow in hollows:
        begin, end = hollow.first - first, hollow.last - first
        newline = line_end(rows[begin])
        ended = rows[end].endswith(("\n", "\r"))
        rows[begin] = f'{hollow.indent}"""{newline}'
        rows[begin + 1 : end] = [newline] * (end - begin - 1)
        rows[end] = f'"""{newline if ended else ""}'
