"""Choose the smallest runs of lines that LibCST must parse; everything else is copied byte for byte.

LibCST needs some 150 µs a line for parsing, positions and printing; `ast` finds the statements
that hold edits in a thirtieth of that. A chunk is one of:

- a run of whole statements of one block, with the comment lines above it, so that blank lines and
  comments can be settled at its seams;
- the header of a compound statement (`if …:`, `def …:`), when only the header changes.
"""

from __future__ import annotations

import ast
import bisect
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from shrinker.emit.rewrite.hollow import Hollow, hollowed
from shrinker.emit.rewrite.positions import Source, indent_of, is_elif, preamble, start, sub_blocks
from shrinker.syntax.ranges import first_line
from shrinker.values.edits import DropBlock, DropStatement, DropTail, Edit, Raise, TakeBlock

_STATEMENT_EDITS = (DropStatement, DropTail, TakeBlock, DropBlock, Raise)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Lines `first` to `last` (1-based, inclusive) and the edits in them."""

    first: int
    last: int
    indent: str
    edits: tuple[Edit, ...]
    left: tuple[Edit, ...]
    """What LibCST applies of them: not those inside statements that go."""
    header: bool = False
    """Only the header of a compound statement; `indent` is then that of the statement."""
    body_indent: str = ""
    """For a header: the indentation of the body that follows."""
    opens: bool = False
    """The first statement of its block."""
    closes: bool = False
    """The last statement of its block."""
    top: bool = False
    """The first statement of the file: comments above it are the file's, not the statement's."""
    whole: bool = False
    """The whole of a block that needs at least one statement."""
    hollows: tuple[Hollow, ...] = ()
    """Statements in it that go."""


def plan(tree: ast.Module, source: Source, edits: list[Edit]) -> tuple[list[Chunk], list[Edit]]:
    """Chunks in file order, not overlapping, and the edits that lie in no statement."""
    planner = _Planner(source)
    chunks = planner.block(tree.body, edits, floor=preamble(source.lines) + 1, is_module=True)
    assert chunks is not None, "a module's statements own their lines"
    chunks.sort(key=lambda c: c.first)
    for index, (before, after) in enumerate(pairwise(chunks), 1):
        # The comments at the end of a nested block may be claimed by the statement below, too.
        chunks[index] = replace(after, first=max(after.first, before.last + 1))
    taken = {e for chunk in chunks for e in chunk.edits}
    return chunks, [e for e in edits if e not in taken]


def last_line(node: ast.stmt) -> int:
    """Last line of a statement."""
    return node.end_lineno or node.lineno


class _Planner:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.lines = source.lines

    def block(self, body: list[ast.stmt], edits: list[Edit], floor: int, is_module: bool = False) -> list[Chunk] | None:
        """Chunks for the edits of one block; None when the statement that owns the block must be parsed whole.

        Args:
            floor: first line that may belong to the block.
        """
        rows = self._rows(body)
        if rows is None:
            return None
        held = [self._within(edits, row[0], row[-1]) for row in rows]
        parts: list[list[Chunk] | None] = []
        cut: int | None = None
        for index, (row, inside) in enumerate(zip(rows, held, strict=True)):
            starts = {(s.lineno, s.col_offset) for s in row}
            own = [e for e in inside if isinstance(e, _STATEMENT_EDITS) and start(e) in starts]
            if cut is None and any(isinstance(e, DropTail | Raise) for e in own):
                cut = index
            if not inside:
                parts.append([])
            elif own or len(row) > 1:
                parts.append(None)
            else:
                parts.append(self._statement(row[0], inside))
        if cut is not None:
            parts[cut:] = [None] * (len(rows) - cut)
        vanishing = not is_module and all(part is None for part in parts)
        chunks: list[Chunk] = []
        for whole, group in groupby(range(len(rows)), key=lambda index: parts[index] is None):
            numbers = [*group]
            if whole:
                chunk = self._run(rows, held, numbers[0], numbers[-1], floor, vanishing)
                chunks.append(replace(chunk, top=is_module and chunk.opens))
            else:
                chunks += [chunk for number in numbers for chunk in parts[number] or ()]
        return chunks

    def _run(
        self, rows: list[list[ast.stmt]], held: list[list[Edit]], begin: int, end: int, floor: int, whole: bool
    ) -> Chunk:
        statement = rows[begin][0]
        first, last = first_line(statement), max(last_line(s) for s in rows[end])
        text = self.lines[first - 1]
        indent = indent_of(text)
        bottom = max(last_line(s) for s in rows[begin - 1]) + 1 if begin else floor
        while first > bottom and self._is_comment_or_blank(first - 1):
            first -= 1
        closes = end == len(rows) - 1
        ceiling = len(self.lines) if closes else first_line(rows[end + 1][0]) - 1
        # Deeper comments below are the footer of the statement's own block; blank lines are settled at
        # the seam when a statement of the same block follows.
        probe, kept = last, last
        while probe < ceiling and self._is_comment_or_blank(probe + 1):
            probe += 1
            stripped = self.lines[probe - 1].strip()
            if stripped and self._width(self.lines[probe - 1]) <= self._width(text):
                break
            if stripped or not closes:
                kept = probe
        left: list[Edit] = []
        hollows: list[Hollow] = []
        for index in range(begin, end + 1):
            ceiling = first_line(rows[index + 1][0]) - 1 if index < end else kept
            inside = held[index]
            hollow, still = hollowed(
                rows[index], rows[end][-1], inside, self.source, first_line(rows[index][0]), ceiling
            )
            left.extend(still)
            if hollow is not None:
                hollows.append(hollow)
                if hollow.last >= last:
                    break
        return Chunk(
            first,
            kept,
            indent,
            tuple(e for inside in held[begin : end + 1] for e in inside),
            tuple(left),
            opens=begin == 0,
            closes=closes,
            whole=whole,
            hollows=tuple(hollows),
        )

    def _statement(self, node: ast.stmt, edits: list[Edit]) -> list[Chunk] | None:
        """Chunks inside one statement; None when it must be parsed whole."""
        blocks = sub_blocks(node)
        if not blocks:
            return None
        chunks: list[Chunk] = []
        rest = edits
        for block in blocks:
            inside = self._within(rest, block[0], block[-1])
            if not inside:
                continue
            arm = block[0]
            if isinstance(node, ast.If) and block is node.orelse and is_elif(arm, self.source):
                if any(isinstance(e, _STATEMENT_EDITS) and start(e) == (arm.lineno, arm.col_offset) for e in inside):
                    return None
                part = self._statement(arm, inside)
            else:
                part = self.block(block, inside, floor=node.lineno + 1)
            if part is None:
                return None
            chunks.extend(part)
            rest = [e for e in rest if e not in inside]
        if rest:
            header = self._header(node, blocks[0], rest)
            if header is None:
                return None
            chunks.append(header)
        return chunks

    def _header(self, node: ast.stmt, body: list[ast.stmt], edits: list[Edit]) -> Chunk | None:
        if isinstance(node, ast.Match | ast.Try) or is_elif(node, self.source):
            return None
        first, below = first_line(node), first_line(body[0])
        if not self._starts_line(body[0]) or any(start(e) >= (below, 0) for e in edits):
            return None
        while below - 1 > node.lineno and self._is_comment_or_blank(below - 1):
            below -= 1
        text, inner = self.lines[first - 1], self.lines[first_line(body[0]) - 1]
        return Chunk(
            first, below - 1, indent_of(text), tuple(edits), tuple(edits), header=True, body_indent=indent_of(inner)
        )

    def _rows(self, body: list[ast.stmt]) -> list[list[ast.stmt]] | None:
        """Statements grouped by the lines they share; None for a block written on its header's line."""
        if not self._starts_line(body[0]) if body else False:
            return None
        rows: list[list[ast.stmt]] = []
        for node in body:
            if rows and first_line(node) <= last_line(rows[-1][-1]):
                rows[-1].append(node)
            else:
                rows.append([node])
        return rows

    def _starts_line(self, node: ast.stmt) -> bool:
        if first_line(node) < node.lineno:
            return True
        line, column = self.source.point(node.lineno, node.col_offset)
        return not self.lines[line - 1][:column].strip()

    def _is_comment_or_blank(self, line: int) -> bool:
        stripped = self.lines[line - 1].strip()
        return not stripped or stripped.startswith("#")

    def _width(self, line: str) -> int:
        return len(indent_of(line).expandtabs())

    def _within(self, edits: list[Edit], begin: ast.stmt, end: ast.stmt) -> list[Edit]:
        """Edits that start inside these statements; `edits` is sorted by position."""
        low = (first_line(begin), 0) if first_line(begin) < begin.lineno else (begin.lineno, begin.col_offset)
        high = (last_line(end), end.end_col_offset or 0)
        return edits[bisect.bisect_left(edits, low, key=start) : bisect.bisect_right(edits, high, key=start)]
