"""What a profile drops, in words."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

from shrinker.ruleset.models import Dropped
from shrinker.verify.capabilities.formula import Atom, Each, Formula, Not


class Vocabulary:
    """Patterns of identifiers: those that something dropped goes by, and those that always hold."""

    def __init__(self, dropped: Iterable[Dropped]) -> None:
        rows = tuple(dropped)
        self._dropped = [(row.id, _pattern(row.words)) for row in rows if row.words]
        self._holding = [(row.id, _pattern(row.holds)) for row in rows if row.holds]
        said = repr([(r.id, r.words, r.holds) for r in rows])
        self.digest = hashlib.sha256(said.encode()).hexdigest()
        """Equal ones say the same."""
        self._said: dict[tuple[str, bool], str | None] = {}
        self.rested: Counter[str] = Counter()
        """By row, how much of what is gone rests on it."""

    def permits(self, test: Formula, value: bool) -> bool:
        """Whether words alone let a test have this value, whatever all else in it is."""
        match test:
            case bool():
                return test is value
            case Not(of=inner):
                return self.permits(inner, not value)
            case Each(of=parts, every=every):
                return (all if every is value else any)([self.permits(part, value) for part in parts])
            case Atom(words=words):
                return self._find(words, value)

    def drops(self, words: Iterable[str]) -> bool:
        """Whether any of these is a word of something that is dropped."""
        return self._find(words, False)

    def _find(self, words: Iterable[str], value: bool) -> bool:
        for word in words:
            row = self._row(word, value)
            if row is not None:
                self.rested[row] += 1
                return True
        return False

    def _row(self, word: str, value: bool) -> str | None:
        """The row that says that what this word stands for has this value."""
        key = word, value
        if key not in self._said:
            rows = self._holding if value else self._dropped
            self._said[key] = next((row for row, pattern in rows if pattern.search(word)), None)
        return self._said[key]


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{word})" for word in words), re.IGNORECASE)
