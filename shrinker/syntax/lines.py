"""The lines of a source text as `ast` counts them, which of them hold a word, and which are those of another version of it."""

import difflib
import re
from collections.abc import Iterable
from functools import cached_property

_WORD = re.compile(r"\w+")


class Lines:
    """Lines of one file: only the ends of line that Python knows part them, a form feed does not."""

    def __init__(self, source: str) -> None:
        self.text = source.replace("\r\n", "\n").replace("\r", "\n") if "\r" in source else source
        self.rows = self.text.split("\n")

    @cached_property
    def _holding(self) -> dict[str, list[int]]:
        """The lines of each word."""
        found: dict[str, list[int]] = {}
        for number, row in enumerate(self.rows, 1):
            for word in {*_WORD.findall(row)}:
                found.setdefault(word, []).append(number)
        return found

    @cached_property
    def words(self) -> frozenset[str]:
        """Every identifier, and every word of comments and strings."""
        return frozenset(_WORD.findall(self.text))

    def holding(self, words: Iterable[str]) -> list[int]:
        """Numbers (from 1, ascending) of the lines that hold one of these words as a whole."""
        return sorted({line for word in self._holding.keys() & words for line in self._holding[word]})


def line_elsewhere(line: int, here: str, there: str) -> int:
    """Number of the line of another version of a text that a line of this one is, spaces around it left out; 0 where it has none."""
    rows, others = ([row.strip() for row in text.split("\n")] for text in (here, there))
    for block in difflib.SequenceMatcher(None, others, rows, autojunk=False).get_matching_blocks():
        if block.b < line <= block.b + block.size:
            return block.a + line - block.b
    return 0


def one_line(text: str, most: int) -> str:
    """A text as one line, cut where it is longer than this."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
