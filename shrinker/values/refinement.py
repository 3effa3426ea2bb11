"""What propagation and the search found out for one module, as it is handed to the next folding of it."""

from dataclasses import dataclass, fields, replace

from shrinker.values.edits import Span


@dataclass(frozen=True, slots=True)
class Refinement:
    """Derived facts that matter in one module."""

    needed: frozenset[str] = frozenset()
    """Modules that the module must load for what they do when they are imported, although it needs none of their flags."""
    attributes: frozenset[tuple[str, str, str]] = frozenset()
    """Class, attribute and its only value (``True``, ``False`` or ``None``), for code of the class that reads it."""
    stores: frozenset[str] = frozenset()
    """Attributes that nobody reads any more, so that what sets them to a literal may go."""

    unwritable: frozenset[str] = frozenset()
    """Why emission cannot write what folding decides for the module, which then stays as upstream wrote it."""
    dead: frozenset[Span] = frozenset()
    """Statements and imported names that nothing reachable names."""

    def joined(self, other: "Refinement") -> "Refinement":
        """The facts of both."""
        return replace(self, **{f.name: getattr(self, f.name) | getattr(other, f.name) for f in fields(self)})


NOTHING = Refinement()
