"""What the rounds found out for one module, as it is handed to the next folding of it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from shrinker.values.edits import Span


@dataclass(frozen=True, slots=True)
class Refinement:
    """Derived facts that matter in one module."""

    orphans: frozenset[str] = frozenset()
    """Definitions that nobody names any more: ``function``, ``Class`` or ``Class.method``."""
    unused: frozenset[str] = frozenset()
    """Module-level names that nobody reads: neither the module itself, nor another kept module."""
    unloaded: frozenset[str] = frozenset()
    """Modules that imports of this module name and that it need not load."""
    needed: frozenset[str] = frozenset()
    """Modules that the module must load for what they do when they are imported, although it needs none of their flags."""
    bound: frozenset[str] = frozenset()
    """``module:name`` of each name that the module still imported when the facts were last derived. No fact itself."""
    attributes: frozenset[tuple[str, str, str]] = frozenset()
    """Class, attribute and its only value (``True``, ``False`` or ``None``), for code of the class that reads it."""
    stores: frozenset[str] = frozenset()
    """Attributes that nobody reads any more, so that what sets them to a literal may go."""

    results: frozenset[tuple[str, str]] = frozenset()
    """Calls and properties that are one constant, with its text: ``f()``, ``Class.m()`` of what a class asks of itself,
    ``.m()`` of any receiver; of a property without brackets."""

    calls: frozenset[tuple[str, str]] = frozenset()
    """``function`` or ``Class.method`` and a shape of its calls, as in `Usage.calls`; all shapes, and no other use."""

    parameters: frozenset[tuple[str, str]] = frozenset()
    """Definition and parameter, where nothing reads the parameter and no call gives it by position."""
    arguments: frozenset[tuple[str, str]] = frozenset()
    """Name that is called and keyword, of these parameters."""

    members: frozenset[str] = frozenset()
    """Members of enumerations that nothing produces, by qualified name."""
    unnamed: frozenset[str] = frozenset()
    """Those of them that the module defines and that nothing names any more."""

    unmade: frozenset[str] = frozenset()
    """Classes that nothing makes an instance of and that the module tests for, by qualified name."""

    unwritable: frozenset[str] = frozenset()
    """Why emission cannot write what folding decides for the module, which then stays as upstream wrote it."""
    dead: frozenset[Span] = frozenset()
    """Statements and imported names that nothing reachable names."""

    units: bool = False
    """Collect the units of the module. No fact."""

    def joined(self, other: Refinement) -> Refinement:
        """The facts of both; of the calls of one function those of `other`, which is the later.

        A function that has lost a parameter keeps the earlier ones: the later calls no longer say what the parameter is.
        """
        lost = {name for name, _ in self.parameters}
        later = {name for name, _ in other.calls} - lost
        both = {f.name: getattr(self, f.name) | getattr(other, f.name) for f in fields(self)}
        both["calls"] = frozenset(call for call in other.calls if call[0] in later) | {
            call for call in self.calls if call[0] not in later
        }
        return replace(self, **both)


NOTHING = Refinement()
