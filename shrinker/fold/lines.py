"""The lines of a source text as `ast` counts them, and which of them hold a word."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate

_WORDS = re.compile(r"[^\W\d]\w*")


class Lines:
    """Lines of one file: only the ends of line that Python knows part them, a form feed does not."""

    def __init__(self, source: str) -> None:
        self.text = source.replace("\r\n", "\n").replace("\r", "\n")
        self.rows = self.text.split("\n")

    @cached_property
    def words(self) -> frozenset[str]:
        """Every identifier, and every word of comments and strings."""
        return frozenset(_WORDS.findall(self.text))

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(row) + 1 for row in self.rows), initial=0))

    def holding(self, words: Iterable[str]) -> list[int]:
        """Numbers (from 1, ascending) of the lines that hold one of these words as a whole."""
        present = sorted(self.words.intersection(words))
        if not present:
            return []
        found = re.compile(rf"\b(?:{'|'.join(present)})\b").finditer(self.text)
        return sorted({bisect.bisect_right(self._starts, match.start()) for match in found})
