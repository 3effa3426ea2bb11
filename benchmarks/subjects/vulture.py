"""vulture: unused code by name, the nearest well-known tool."""

from __future__ import annotations

import sys

from benchmarks.subjects.base import Place, Subject, distribution_version


class Vulture(Subject):
    """With its own settings, none of a project."""

    name = "vulture"
    reads = "unused functions, classes, variables and imports, by name"
    # 3: it found unused code.
    well = frozenset({0, 3})

    def version(self) -> str:
        return distribution_version("vulture")

    def command(self, place: Place) -> list[str]:
        return [sys.executable, "-m", "vulture", str(place.package)]


SUBJECTS = (Vulture(),)
