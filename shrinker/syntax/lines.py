"""The lines of a source text as `ast` counts them, which of them hold a word, and which are those of another version of it."""

import bisect
import difflib
import re
from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate

_WORDS = re.compile(r"[^\W\d]\w*")
_PARTED = "".join(chr(code) if chr(code).isalnum() or code == ord("_") else " " for code in range(128))


class Lines:
    """Lines of one file: only the ends of line that Python knows part them, a form feed does not."""

    def __init__(self, source: str) -> None:
        self.text = source.replace("\r\n", "\n").replace("\r", "\n") if "\r" in source else source
        self.rows = self.text.split("\n")
        self._known: dict[str, list[int]] = {}

    @cached_property
    def words(self) -> frozenset[str]:
        """Every identifier, and every word of comments and strings."""
        text = self.text
        # Whole words only: what follows a digit is no word to look for, and is not found by `of` either.
        return frozenset(text.translate(_PARTED).split() if text.isascii() else _WORDS.findall(text))

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(row) + 1 for row in self.rows), initial=0))

    def holding(self, words: Iterable[str]) -> list[int]:
        """Numbers (from 1, ascending) of the lines that hold one of these words as a whole."""
        found: set[int] = set()
        for word in self.words.intersection(words):
            found.update(self.of(word))
        return sorted(found)

    def of(self, word: str) -> list[int]:
        """Numbers (from 1, ascending) of the lines that hold a word as a whole."""
        known = self._known.get(word)
        if known is None:
            known = self._known[word] = self._find(word)
        return known

    def _find(self, word: str) -> list[int]:
        # Word by word: to search for a text is ten times as fast as to try many at each place.
        text, size, starts = self.text, len(word), self._starts
        found: list[int] = []
        place = text.find(word)
        while place >= 0:
            after = text[place + size : place + size + 1]
            before = text[place - 1 : place] if place else ""
            if _parts(before) and _parts(after):
                line = bisect.bisect_right(starts, place)
                found.append(line)
                # One find is enough for a line.
                place = text.find(word, starts[line])
            else:
                place = text.find(word, place + size)
        return found


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


def _parts(character: str) -> bool:
    """True for what is no part of a word."""
    return not (character.isalnum() or character == "_")
