"""Divides a file into what stays, whole statements that go, and the smallest ones that hold an
edit.

Only the last are read by LibCST, each by itself; everything else is copied byte for byte.
"""

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, NamedTuple

import libcst as cst
from libcst.metadata import MetadataWrapper

from shrinker.emit.rewrite.named import OF_STATEMENTS, RewriteError
from shrinker.emit.rewrite.source import Source
from shrinker.emit.rewrite.transformer import Transformer
from shrinker.syntax.ranges import first_line, is_elif
from shrinker.values.edits import DropStatement, DropTail, Edit, Raise, Span
from shrinker.values.relations import grouped

_BLANK_LINES = re.compile(r"\A(?:[ \t\f]*(?:\r\n|\r|\n))+")
"""Those that a text begins with."""


class _Wrapper(MetadataWrapper):
    """Resolves positions.

    LibCST's own wrapper walks once more, for metadata that nobody has asked for.
    """

    def visit_batched(
        self, visitors: Iterable[cst.BatchableCSTVisitor], *hooks: Any
    ) -> cst.CSTNode:
        waiting = [*visitors]
        return super().visit_batched(waiting, *hooks) if waiting else self.module


class Row(NamedTuple):
    """Statements that share lines, with the comments that LibCST takes to be theirs."""

    body: list[ast.stmt]
    top: int
    """The first of the comment and blank lines above them."""
    first: int
    last: int
    """With the comments at the end of the last block."""


class Regions:
    """Applies edits to one file."""

    def __init__(self, source: Source, edits: Sequence[Edit]) -> None:
        self._source = source
        self._edits = sorted({*edits}, key=lambda edit: edit.span)
        self._lines = [edit.span.line for edit in self._edits]
        self._of_statements = grouped(
            ((edit.span.line, edit.span.col), edit)
            for edit in self._edits
            if isinstance(edit, OF_STATEMENTS)
        )
        self._texts: dict[tuple[int, int], str] = {}
        """What takes the place of lines, by the first and the last of them."""

    def rewrite(self) -> str:
        """Give the new text of the file.

        Raises RewriteError and SyntaxError as `rewrite_file` does.
        """
        lines = self._source.lines
        self._block(ast.parse(self._source.text).body, self._source.preamble + 1, is_module=True)
        self._refuse_unmet()
        text: list[str] = []
        below = 0
        for (first, last), new in sorted(self._texts.items()):
            text += [*lines[below : first - 1], new]
            below = last
        return "".join([*text, *lines[below:]])

    def _refuse_unmet(self) -> None:
        """Raise RewriteError for an edit whose lines nothing has replaced: no node of its kind is
        there.
        """
        for edit in self._edits:
            if not any(first <= edit.span.line <= last for first, last in self._texts):
                raise _unmet(edit, 0)

    def _block(self, body: Sequence[ast.stmt], bottom: int, *, is_module: bool = False) -> None:
        """Apply the edits to the statements of a block; none of its lines stands above `bottom`."""
        rows = [*self._rows(body, bottom)]
        heading = is_module and rows and rows[0].top < rows[0].first
        if heading:
            # Comments above the first statement of a file are the file's.
            rows[0] = rows[0]._replace(top=rows[0].first)
        gone: list[Row] = []
        """Those that went since the last one that stays."""
        stays = False
        for index, row in enumerate(rows):
            if self._row(row):
                self._close_up(gone, row, opens=not stays and not heading)
                gone = []
                stays = True
            else:
                gone.append(row)
            if index + 1 < len(rows) and any(self._has(node, Raise, DropTail) for node in row.body):
                self._texts[rows[index + 1].top, rows[-1].last] = ""
                break
        if rows and not stays and not is_module:
            indent = self._source.indent(rows[0].first)
            self._texts[rows[0].top, rows[0].last] = f"{indent}pass{self._source.newline}"

    def _close_up(self, gone: Sequence[Row], row: Row, *, opens: bool) -> None:
        """Leave as many blank lines where statements went as stood above one of them or the next
        one.

        None are left at the top of a block (`opens`).
        """
        if not gone:
            return
        own = self._blanks(row)
        lines = (row.top, row.last)
        if opens and lines in self._texts:
            self._texts[lines] = _BLANK_LINES.sub("", self._texts[lines])
        elif opens and own:
            self._texts[row.top, row.top + own - 1] = ""
        missing = max(self._blanks(each) for each in gone) - own
        if not opens and missing > 0:
            self._texts[gone[-1].top, gone[-1].last] = self._source.newline * missing

    def _blanks(self, row: Row) -> int:
        """Count the blank lines above the comments of a row."""
        return len([*takewhile(self._source.is_blank, range(row.top, row.first))])

    def _rows(self, body: Sequence[ast.stmt], bottom: int) -> Iterator[Row]:
        """Go through the statements of a block by the lines that they share."""
        shared: list[ast.stmt] = []
        for node, following in zip(body, [*body[1:], None], strict=True):
            shared.append(node)
            last = node.end_lineno or node.lineno
            if following is not None and first_line(following) <= last:
                continue
            first = first_line(shared[0])
            top = first
            while top > bottom and self._source.is_remark(top - 1):
                top -= 1
            if self._ends_indented(node):
                last = self._with_footer(last, self._source.indent(first))
            yield Row(shared, top, first, last)
            shared, bottom = [], last + 1

    def _ends_indented(self, node: ast.stmt) -> bool:
        """Say whether the last block of a statement stands below its header.

        Then comments below may be the block's.
        """
        blocks = [*_blocks(node)]
        if not blocks:
            return False
        last = blocks[-1]
        return (
            self._ends_indented(last[0])
            if self._is_elif(node, last)
            else self._begins_its_line(last[0])
        )

    def _with_footer(self, line: int, indent: str) -> int:
        """Find the last line of a compound statement, with comments below that are indented
        further.
        """
        last = line
        while line < len(self._source.lines) and self._source.is_remark(line + 1):
            line += 1
            if not self._source.is_blank(line) and len(self._source.indent(line)) > len(indent):
                last = line
        return last

    def _row(self, row: Row) -> bool:
        """Apply the edits to statements that share lines; say whether any of them is left."""
        if not self._within(row.first, row.last):
            return True
        if all(
            self._has(node, DropStatement, DropTail) and not self._has(node, Raise)
            for node in row.body
        ):
            self._texts[row.top, row.last] = ""
            return False
        node, *others = row.body
        if others or self._is_read(node):
            text = self._texts[row.top, row.last] = self._read(row)
            return bool(text)
        self._inside(node)
        return True

    def _is_read(self, node: ast.stmt) -> bool:
        """Say whether an edit names a statement, its header, or a block on the line of its
        header.
        """
        if self._has(node, *OF_STATEMENTS):
            return True
        blocks = [*_blocks(node)]
        count = 0
        for block in blocks:
            if self._is_elif(node, block):
                if self._is_read(block[0]):
                    return True
            elif not self._begins_its_line(block[0]):
                return True
            count += len(self._within(first_line(block[0]), block[-1].end_lineno or 0))
        return count < len(self._within(first_line(node), node.end_lineno or 0))

    def _inside(self, node: ast.stmt) -> None:
        """Apply the edits to the blocks of a statement that stays as it is."""
        for block in _blocks(node):
            if self._is_elif(node, block):
                self._inside(block[0])
            else:
                self._block(block, node.lineno + 1)

    def _is_elif(self, node: ast.stmt, block: Sequence[ast.stmt]) -> bool:
        """Say whether a block of a statement is an `elif`."""
        return (
            isinstance(node, ast.If)
            and block is node.orelse
            and is_elif(self._source.lines, block[0])
        )

    def _begins_its_line(self, node: ast.stmt) -> bool:
        """Say whether nothing but white space stands before a statement."""
        line = self._source.lines[node.lineno - 1]
        return first_line(node) < node.lineno or not line.encode()[: node.col_offset].strip()

    def _has(self, node: ast.stmt, *kinds: type[Edit]) -> bool:
        """Say whether an edit of some kinds names a statement."""
        named = self._of_statements.get((node.lineno, node.col_offset), ())
        return any(isinstance(edit, kinds) for edit in named)

    def _within(self, first: int, last: int) -> list[Edit]:
        """Find the edits that begin on some lines."""
        return self._edits[bisect_left(self._lines, first) : bisect_right(self._lines, last)]

    def _read(self, row: Row) -> str:
        """Give what LibCST makes of some lines by their edits."""
        source = self._source
        indent = source.indent(row.first)
        # Re-indented, the lines of a string would change: an `if` of our own makes the indentation
        # right.
        header = [f"if 0:{source.newline}"] if indent else []
        lines = [*header, *source.lines[row.top - 1 : row.last]]
        shift = len(header) + 1 - row.top
        edits = [self._moved(edit, shift) for edit in self._within(row.first, row.last)]
        transformer = Transformer(edits, lines, shift)
        module = self._transform(row, "".join(lines), transformer)
        for edit in transformer.pending:
            raise _unmet(edit, shift)
        body: Sequence[cst.CSTNode] = module.body
        if indent:
            body = cst.ensure_type(
                cst.ensure_type(module.body[0], cst.If).body, cst.IndentedBlock
            ).body
        return module.code.removeprefix("".join(header)) if body else ""

    def _transform(self, row: Row, text: str, transformer: Transformer) -> cst.Module:
        """Let LibCST read lines and apply their edits.

        Raises RewriteError: LibCST refuses a few spellings of valid Python, as `return(a if b else
        c)`.
        """
        try:
            module = cst.parse_module(text)
        except (cst.CSTValidationError, cst.ParserSyntaxError, TypeError) as error:
            # A TypeError is its answer to `not(lambda: x)`.
            raise self._unread(row, error) from error
        try:
            return _Wrapper(module, unsafe_skip_copy=True).visit(transformer)
        except cst.CSTValidationError as error:
            raise self._unread(row, error) from error

    @staticmethod
    def _unread(row: Row, error: Exception) -> RewriteError:
        return RewriteError(f"line {row.first}: LibCST does not read the statement: {error}")

    def _moved(self, edit: Edit, shift: int) -> Edit:
        """Count the lines of an edit from another line, and its columns in characters."""
        where = edit.span
        start = self._source.column(where.line, where.col)
        end = self._source.column(where.end_line, where.end_col)
        return replace(edit, span=Span(where.line + shift, start, where.end_line + shift, end))


def _unmet(edit: Edit, shift: int) -> RewriteError:
    where = edit.span
    return RewriteError(
        f"line {where.line - shift}, column {where.col}: no node to apply {edit!r} to"
    )


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Go through the blocks of a compound statement."""
    yield from filter(None, [getattr(node, "body", None)])
    for part in [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]:
        yield part.body
    yield from filter(None, (getattr(node, name, None) for name in ("orelse", "finalbody")))
