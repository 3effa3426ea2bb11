"""A source file in characters: `ast` counts UTF-8 bytes."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, takewhile

Place = tuple[int, int]
"""Where something begins and ends, in characters from the start of the file."""

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_CODING = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")
_TOKEN = re.compile(r"(?P<space>(?:\s|\\[\r\n]|#[^\r\n]*)+)|\w+|->|\*\*|.")


@dataclass(frozen=True)
class Source:
    """A decoded file."""

    text: str
    """The whole file, without its byte-order mark."""
    encoding: str
    """``utf-8-sig`` where it begins with a byte-order mark."""

    @cached_property
    def lines(self) -> list[str]:
        """With their line ends. A form feed does not end a line."""
        return LINE.findall(self.text)

    @cached_property
    def newline(self) -> str:
        """The file's first line end; ``\\n`` when it has none."""
        found = re.search(r"\r\n|\r|\n", self.text)
        return found[0] if found else "\n"

    @cached_property
    def preamble(self) -> int:
        """How many lines must stay first: the shebang and the coding cookie."""
        remarks = takewhile(self.is_remark, range(1, 1 + len(self.lines[:2])))
        coding = (line for line in remarks if _CODING.match(self.lines[line - 1]))
        return next(coding, int(self.text.startswith("#!")))

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins, the first at index 1, and where the file ends."""
        return [0, *accumulate(map(len, self.lines), initial=0)]

    def point(self, line: int, column: int) -> int:
        """The place that `ast` gives as a line and a column."""
        text = self.lines[line - 1]
        if not text.isascii():
            column = len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace"))
        return self.starts[line] + column

    def place(self, node: ast.AST) -> Place:
        """Where a node with a position stands, without parentheses around it."""
        return (
            self.point(node.lineno, node.col_offset),  # type: ignore[attr-defined]
            self.point(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
        )

    def tokens(self, start: int, end: int, nodes: Iterable[Place] = ()) -> Iterator[Place]:
        """What is no white space and no comment in a part of the file, from left to right; `nodes` are parts of it, in order, that count as
        one token each, and in which alone strings stand."""
        for first, last in (*nodes, (end, end)):
            if start < first:
                found = _TOKEN.finditer(self.text, start, first)
                yield from (match.span() for match in found if match["space"] is None)
            if first < last:
                yield first, last
            start = max(start, last)

    def brackets(self, start: int, end: int, nodes: Sequence[Place]) -> Place | None:
        """Where the first pair of parentheses opens and closes; None without one. The arguments are those of `tokens`."""
        opening, depth = -1, 0
        for first, last in self.tokens(start, end, nodes):
            text = self.text[first:last]
            if text == "(":
                opening, depth = (first if depth == 0 else opening), depth + 1
            elif text == ")" and depth:
                depth -= 1
                if not depth:
                    return opening, first
        return None

    def parentheses(self, place: Place, left: int, right: int) -> tuple[Place, Place]:
        """What the innermost parentheses around an expression hold, and the expression with all of them; none opens before `left` or closes
        after `right`."""
        opening: list[int] = []
        for first, last in self.tokens(left, place[0]):
            opening = [*opening, first] if self.text[first:last] == "(" else []
        following = takewhile(lambda token: self.text[slice(*token)] == ")", self.tokens(place[1], right))
        closing = [last for _, last in following]
        count = min(len(opening), len(closing))
        if not count:
            return place, place
        return (opening[-1] + 1, closing[0] - 1), (opening[-count], closing[count - 1])

    def indent(self, line: int) -> str:
        """The white space that a line begins with."""
        text = self.lines[line - 1]
        return text[: len(text) - len(text.lstrip(" \t\f"))]

    def is_remark(self, line: int) -> bool:
        """True for a blank line and for one with a comment alone."""
        stripped = self.lines[line - 1].lstrip()
        return not stripped or stripped.startswith("#")

    def is_blank(self, line: int) -> bool:
        """True for a line with white space alone."""
        return not self.lines[line - 1].strip()
