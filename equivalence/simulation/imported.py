"""Which modules of a package a simulated process asked for: what it did not ask for cannot have changed what it showed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

from equivalence.simulation.calls import MODULE, record


class Imported(MetaPathFinder):
    """A finder that stands first, finds nothing, and notes what is looked for.

    Args:
        package: whose modules are noted, by their dotted names.
    """

    def __init__(self, package: str) -> None:
        self._package = package
        self._start = f"{package}."

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Note it, and leave the finding to others."""
        if name == self._package or name.startswith(self._start):
            record(MODULE, name)
