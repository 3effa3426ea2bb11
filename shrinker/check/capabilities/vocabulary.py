"""What a profile drops, in words."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from shrinker.check.capabilities.formula import Atom, Each, Formula, Not
from shrinker.ruleset.models import Dropped

_PART = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Vocabulary:
    """Patterns of how parts of identifiers begin: those that something dropped goes by, and those that always hold."""

    def __init__(self, dropped: Iterable[Dropped]) -> None:
        self._rows = rows = tuple(dropped)
        self._dropped = [(row.id, _pattern(row.words)) for row in rows if row.words]
        self._holding = [(row.id, _pattern(row.holds)) for row in rows if row.holds]
        said = repr([(r.id, r.words, r.holds) for r in rows])
        self.digest = hashlib.sha256(said.encode()).hexdigest()
        """Equal ones say the same."""
        self._said: dict[tuple[str, bool], str | None] = {}

    def whole(self, name: str) -> str | None:
        """The row by which anything may be gone from a function or class of this qualified name."""
        around = ((row.id, f"{one}.") for row in self._rows for one in row.inside)
        return next((row for row, start in around if f"{name}.".startswith(start)), None)

    def permits(self, test: Formula, value: bool) -> bool:
        """Whether words alone let a test have this value, whatever all else in it is."""
        return self.reason(test, value) is not None

    def reason(self, test: Formula, value: bool) -> str | None:
        """The row whose words let a test have this value; of several the first one. None for none."""
        match test:
            case bool():
                return "a constant" if test is value else None
            case Not(of=inner):
                return self.reason(inner, not value)
            case Each(of=parts, every=every):
                reasons = [self.reason(part, value) for part in parts]
                found = [reason for reason in reasons if reason is not None]
                return found[0] if found and (every is not value or len(found) == len(reasons)) else None
            case Atom(words=words):
                return next((row for word in words if (row := self._row(word, value)) is not None), None)

    def _row(self, word: str, value: bool) -> str | None:
        """The row that says that what this word stands for has this value."""
        key = word, value
        if key not in self._said:
            rows = self._holding if value else self._dropped
            # Where a part of it begins: `input` is nothing of an `npu`, and `vlModel` something of a `vl`.
            forms = word.lower(), _PART.sub("_", word).lower()
            self._said[key] = next((row for row, pattern in rows if any(map(pattern.search, forms))), None)
        return self._said[key]


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?<![a-z])(?:{word})" for word in words))
