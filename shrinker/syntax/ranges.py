"""Where code stands in its file, as `ast` counts: lines from 1, columns from 0 in UTF-8 bytes.

The lines of a text, which of them hold a word, and which are those of another version of it.
"""

import ast
import difflib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate

from shrinker.values.edits import Span

Placed = ast.expr | ast.stmt | ast.ExceptHandler | ast.alias | ast.keyword | ast.arg | ast.pattern


def span(node: Placed) -> Span:
    """Return position of a node in the original file."""
    return Span(
        node.lineno,
        node.col_offset,
        node.end_lineno or node.lineno,
        node.end_col_offset or node.col_offset,
    )


def first_line(node: Placed) -> int:
    """Return the line on which a statement starts, its decorators included."""
    if (
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and node.decorator_list
    ):
        return node.decorator_list[0].lineno
    return node.lineno


def is_elif(rows: Sequence[str], node: ast.stmt) -> bool:
    """Tell whether a statement of a file with such lines is an `elif`."""
    return rows[node.lineno - 1].encode()[node.col_offset :].startswith(b"elif")


def meets(lines: Sequence[int], node: Placed) -> bool:
    """Tell whether a node stands on one of some lines, which are sorted; of a definition its
    decorators count, too.
    """
    first = first_line(node)
    index = bisect_left(lines, first)
    return index < len(lines) and lines[index] <= (node.end_lineno or first)


def last_line(body: Sequence[ast.stmt]) -> int:
    """Return the line on which a block ends."""
    return body[-1].end_lineno or body[-1].lineno


def extent(body: Sequence[ast.stmt]) -> int:
    """Return lines that a block covers in the original file."""
    return last_line(body) - body[0].lineno + 1 if body else 0


_WORD = re.compile(r"\w+")


class Lines:
    """Lines of one file: only the ends of line that Python knows part them, a form feed
    does not.
    """

    def __init__(self, source: str) -> None:
        self.text = source.replace("\r\n", "\n").replace("\r", "\n") if "\r" in source else source
        self.rows = self.text.split("\n")

        self._holding: dict[str, list[int]] = {}
        """The lines of each word that was asked for."""

    @property
    def words(self) -> frozenset[str]:
        """Every identifier, and every word of comments and strings."""
        return _words_of(self.text)

    @cached_property
    def _ends(self) -> list[int]:
        return [*accumulate(len(row) + 1 for row in self.rows)]

    def holding(self, words: Iterable[str]) -> list[int]:
        """Numbers (from 1, ascending) of the lines that hold one of these words as a whole."""
        return sorted(
            {line for word in self.words & frozenset(words) for line in self._lines_of(word)}
        )

    def _lines_of(self, word: str) -> list[int]:
        found = self._holding.get(word)
        if found is None:
            text, at = self.text, -1
            found = self._holding[word] = []
            while (at := text.find(word, at + 1)) >= 0:
                if not (
                    _is_word(text[at - 1 : at])
                    or _is_word(text[at + len(word) : at + len(word) + 1])
                ):
                    found.append(bisect_right(self._ends, at) + 1)
        return found


@lru_cache(maxsize=4)
def _words_of(text: str) -> frozenset[str]:
    """Of the last texts: a file is asked for its words by all that look at it, one after
    the other.
    """
    return frozenset(_WORD.findall(text))


def _is_word(sign: str) -> bool:
    return sign == "_" or sign.isalnum()


def line_elsewhere(line: int, here: str, there: str) -> int:
    """Return number of the line of another version of a text that a line of this one is, spaces
    around it left out; 0 where it has none.
    """
    rows, others = ([row.strip() for row in text.split("\n")] for text in (here, there))
    for block in difflib.SequenceMatcher(None, others, rows, autojunk=False).get_matching_blocks():
        if block.b < line <= block.b + block.size:
            return block.a + line - block.b
    return 0


def one_line(text: str, most: int) -> str:
    """Return a text as one line, cut where it is longer than this."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def count_lines(data: bytes) -> int:
    """Return lines of a text, 0 for a binary file."""
    if b"\0" in data[:8192]:
        return 0
    return data.count(b"\n") + (1 if data and not data.endswith(b"\n") else 0)
