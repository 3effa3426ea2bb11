"""The lines of statements, blocks and clauses: which comments belong to which, and which blank lines stay when something between them goes.

A run of comment and blank lines is a list of line numbers. What is asked for a part of one drops the others.
"""

import ast
from collections.abc import Sequence
from itertools import dropwhile, takewhile
from typing import NamedTuple

from shrinker.emit.rewrite.sites import Patches
from shrinker.syntax.ranges import first_line

Lines = Sequence[int]


class Clause(NamedTuple):
    """A part of a compound statement: a header and a block."""

    name: str
    """As `TakeBlock` names it."""
    lead: Lines
    """Comment and blank lines above its first line; those above a statement's first clause are the statement's."""
    first: int
    """The line on which its keyword stands."""
    body: list[ast.stmt]
    top: int
    """The first line of its block, with the comments between the header and it."""
    last: int
    """The last line, with the comments at the end of its block."""
    arm: ast.If | None = None
    """The `elif` that it is."""
    inline: bool = False
    """Whether the block stands on the line of the header."""


class Row(NamedTuple):
    """Statements of a block that share lines."""

    body: list[ast.stmt]
    first: int
    last: int


class Layout:
    """Where statements stand in a file."""

    def __init__(self, patches: Patches) -> None:
        self.source = patches.source
        self._patches = patches
        self._clauses: dict[ast.stmt, list[Clause]] = {}

    def above(self, line: int, bottom: int) -> Lines:
        """Comment and blank lines directly above a line, none above `bottom`."""
        first = line
        while first > bottom and self.source.is_remark(first - 1):
            first -= 1
        return [*range(first, line)]

    def detached(self, lines: Lines, indent: str) -> Lines:
        """The lines above a dropped statement that stay: all but the comments directly above it."""
        end = len(lines)
        while end and not self.source.is_blank(lines[end - 1]) and self.source.indent(lines[end - 1]) == indent:
            end -= 1
        return self._left(lines, lines[:end])

    def without_leading_blanks(self, lines: Lines) -> Lines:
        """The lines from the first comment on."""
        return self._left(lines, [*dropwhile(self.source.is_blank, lines)])

    def without_trailing_blanks(self, lines: Lines) -> Lines:
        """The lines up to the last comment."""
        return self._left(lines, [*dropwhile(self.source.is_blank, lines[::-1])][::-1])

    def join(self, before: Lines, after: Lines, *, opens: bool = False) -> Lines:
        """What is left of two runs of lines when the statement between them went.

        The blank lines that meet become the longer of the two runs, so that two blank lines between
        functions stay two. Right below a block's header (`opens`) the first run alone counts.
        """
        left = [*takewhile(self.source.is_blank, before[::-1])][::-1]
        right = [*takewhile(self.source.is_blank, after)]
        head, tail = before[: len(before) - len(left)], after[len(right) :]
        blanks = left if (opens and not head) or len(left) >= len(right) else right
        return self._left([*before, *after], [*head, *blanks, *tail])

    def _left(self, lines: Lines, kept: Lines) -> Lines:
        self._patches.drop_lines({*lines}.difference(kept))
        return kept

    def rows(self, body: Sequence[ast.stmt]) -> list[Row]:
        """The statements of a block by the lines that they share."""
        found: list[list[ast.stmt]] = []
        for node in body:
            if found and first_line(node) <= self.last_line(found[-1][-1]):
                found[-1].append(node)
            else:
                found.append([node])
        return [Row(nodes, first_line(nodes[0]), self.last_line(nodes[-1])) for nodes in found]

    def last_line(self, node: ast.stmt) -> int:
        """The last line of a statement, with the comments at the end of its last block."""
        clauses = self.clauses(node)
        return clauses[-1].last if clauses else node.end_lineno or node.lineno

    def end(self, body: Sequence[ast.stmt]) -> int:
        """The last line of a block: comments below its statements belong to it down to the last that is indented as they are."""
        last = line = self.last_line(body[-1])
        if self.is_inline(body):
            return last
        indent = self.source.indent(first_line(body[0]))
        while line < len(self.source.lines) and self.source.is_remark(line + 1):
            line += 1
            if self.source.lines[line - 1].startswith(indent):
                last = line
        return last

    def is_inline(self, body: Sequence[ast.stmt]) -> bool:
        """Whether a block stands on the line of its header."""
        node, source = body[0], self.source
        start = source.starts[node.lineno]
        return first_line(node) == node.lineno and bool(source.text[start : source.place(node)[0]].strip())

    def clauses(self, node: ast.stmt) -> list[Clause]:
        """The clauses of a compound statement, in the order of the source; none of a simple one."""
        if node in self._clauses:
            return self._clauses[node]
        found = self._clauses[node] = []
        parts: list[tuple[str, list[ast.stmt]]] = [("body", getattr(node, "body", []))]
        parts += [(f"handler:{i}", handler.body) for i, handler in enumerate(getattr(node, "handlers", []))]
        parts += [(f"case:{i}", case.body) for i, case in enumerate(getattr(node, "cases", []))]
        parts += [(name, getattr(node, name, [])) for name in ("orelse", "finalbody")]
        for name, body in parts:
            if body:
                found.append(self._clause(node, name, body, found[-1].last if found else 0))
        return found

    def _clause(self, node: ast.stmt, name: str, body: list[ast.stmt], before: int) -> Clause:
        arm = body[0]
        if isinstance(arm, ast.If) and self.source.text.startswith("elif", self.source.place(arm)[0]):
            lead = self.above(arm.lineno, before + 1)
            return Clause(name, lead, arm.lineno, body, arm.lineno, self.last_line(arm), arm)
        inline = self.is_inline(body)
        top = first_line(arm) - (0 if inline else len(self.above(first_line(arm), node.lineno + 1)))
        # The keyword and the colon of what `ast` has no node for stand on one line.
        first = top - (not inline)
        if name == "body":
            first = first_line(node)
        elif name.startswith("handler"):
            first = node.handlers[int(name.partition(":")[2])].lineno  # type: ignore[attr-defined]
        lead = self.above(first, before + 1) if before else []
        return Clause(name, lead, first, body, top, self.end(body), inline=inline)
