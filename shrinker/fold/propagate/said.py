"""Words that modules say, and of which of them a round asked whether they do.

Most edits change what a module mentions, and hardly ever a name on which anything depends. So who asks is recorded: where no name
that an edit adds or takes away was asked for, the round derives what it derived.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

RECORDED = ("words", "loads", "reads", "plain", "calls")
"""The fields of `Usage` that rounds ask for single names only, by way of `Said`."""


class Said:
    """A set of words that notes what it is asked for."""

    __slots__ = ("_asked", "_words")

    def __init__(self, words: Set[str], asked: set[str]) -> None:
        """
        Args:
            words: what is said.
            asked: where the words go that this is asked for.
        """
        self._words = words
        self._asked = asked

    def __contains__(self, word: str) -> bool:
        self._asked.add(word)
        return word in self._words

    def among(self, words: Iterable[str]) -> frozenset[str]:
        """Those of some words that are said."""
        asked = frozenset(words)
        self._asked |= asked
        return asked & self._words
