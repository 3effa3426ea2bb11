"""Which rule names a qualified name: patterns indexed by their last component, so that a look-up tries few."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from shrinker.ruleset.match import name_matches
from shrinker.ruleset.models import Rule

R = TypeVar("R", bound=Rule)
_NONE: tuple[()] = ()


class NamePatterns(Generic[R]):
    """Patterns over qualified names; ``.name`` is a method or attribute of any receiver."""

    def __init__(self, pairs: Iterable[tuple[str, R]]) -> None:
        """
        Args:
            pairs: pattern and the rule that it stands in, in the order in which they count.
        """
        self._by_last: dict[str, list[tuple[str, R]]] = {}
        self._open: list[tuple[str, R]] = []
        """Patterns whose last component is not a plain name."""
        self._any: dict[str, R] = {}
        self._known: dict[str, Sequence[R]] = {}
        for pattern, rule in pairs:
            if pattern.startswith("."):
                self._any.setdefault(pattern[1:], rule)
                continue
            last = pattern.rpartition(".")[2]
            rows = self._open if "*" in last else self._by_last.setdefault(last, [])
            rows.append((pattern, rule))

    @property
    def words(self) -> set[str]:
        """Last components that are plain names."""
        return {*self._by_last, *self._any}

    def find(self, name: str) -> R | None:
        """The first rule with a pattern that names exactly `name`."""
        found = self.find_all(name)
        return found[0] if found else None

    def find_all(self, name: str) -> Sequence[R]:
        """All rules with such a pattern, each once."""
        rows = self._by_last.get(name[name.rfind(".") + 1 :])
        if rows is None:
            if not self._open:
                # Most names by far.
                return _NONE
            rows = []
        found = self._known.get(name)
        if found is None:
            matching = (rule for pattern, rule in (*rows, *self._open) if name_matches(pattern, name))
            found = self._known[name] = list({rule.id: rule for rule in matching}.values())
        return found

    def find_any(self, name: str) -> R | None:
        """The rule that speaks of a method or attribute called `name` of any receiver."""
        return self._any.get(name)
