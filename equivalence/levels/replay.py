"""What programs showed, kept where many copies of a tree are compared with the same upstream.

On upstream a program runs once. One that never asked for the module in which a copy differs shows on the copy what it showed
on the tree: it is not run again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from equivalence.simulation.calls import MODULE

Shown = TypeVar("Shown")
UPSTREAM, GENERATED = SIDES = ("upstream", "generated")
Called = Mapping[str, frozenset[str]]
"""Names of what was called, by kind (`simulation.calls`)."""


@dataclass(slots=True)
class Replay:
    """Answers for upstream, and for copies of one tree."""

    damaged: str | None = None
    """Module in which the copy differs from the tree; None while it does not, empty for a file that is no module."""
    _known: dict[tuple[str, str], tuple[Any, frozenset[str]]] = field(default_factory=dict)

    def ask(self, side: str, key: str, show: Callable[[], Shown], called: Callable[[Shown], Called]) -> Shown:
        """What a program shows.

        Args:
            side: which tree.
            key: all that the answer depends on beside the tree.
            show: runs the program.
            called: what it called, of what it showed.
        """
        whole = side == UPSTREAM or self.damaged is None
        if (side, key) in self._known and (side == UPSTREAM or self.damaged is not None):
            known: Shown
            known, modules = self._known[side, key]
            if whole or (self.damaged and self.damaged not in modules):
                return known
        fresh = show()
        if whole:
            self._known[side, key] = fresh, called(fresh).get(MODULE, frozenset())
        return fresh
