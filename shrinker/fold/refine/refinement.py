"""What the rounds found out for one module, as it is handed to the next folding of it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True)
class Refinement:
    """Derived facts that matter in one module."""

    orphans: frozenset[str] = frozenset()
    """Definitions that nobody names any more: ``function``, ``Class`` or ``Class.method``."""
    unused: frozenset[str] = frozenset()
    """Module-level names that no other kept module imports or reads."""
    unloaded: frozenset[str] = frozenset()
    """Those of the unused names whose imports may go as a whole."""
    attributes: frozenset[tuple[str, str, str]] = frozenset()
    """Class, attribute and its only value (``True``, ``False`` or ``None``), for code of the class that reads it."""
    stores: frozenset[str] = frozenset()
    """Attributes that nobody reads any more, so that what sets them to a literal may go."""

    def joined(self, other: Refinement) -> Refinement:
        """The facts of both."""
        return replace(self, **{f.name: getattr(self, f.name) | getattr(other, f.name) for f in fields(self)})


NOTHING = Refinement()
