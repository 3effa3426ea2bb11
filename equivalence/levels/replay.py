"""What programs showed on a tree, kept for copies of it in which one file is another.

A program that never asked for the module of that file shows on the copy what it showed on the tree: it is not run again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from equivalence.simulation.calls import MODULE

Shown = TypeVar("Shown")


@dataclass(slots=True)
class Replay:
    """Answers for copies of one tree."""

    damaged: str | None = None
    """Module in which the copy differs from the tree; None while it does not, empty for a file that is no module."""
    skipped: int = 0
    """Programs that were not run."""
    _known: dict[str, tuple[Any, frozenset[str]]] = field(default_factory=dict)

    def ask(
        self, key: str, show: Callable[[], Shown], called: Callable[[Shown], Mapping[str, frozenset[str]]]
    ) -> Shown:
        """What a program shows.

        Args:
            key: all that the answer depends on beside the tree.
            show: runs the program.
            called: what it called, by kind (`simulate.calls`), of what it showed.
        """
        if self.damaged is not None and key in self._known:
            shown, modules = self._known[key]
            if self.damaged and self.damaged not in modules:
                self.skipped += 1
                known: Shown = shown
                return known
        fresh = show()
        if self.damaged is None:
            self._known[key] = fresh, called(fresh).get(MODULE, frozenset())
        return fresh
