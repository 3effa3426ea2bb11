"""pyan3: a static call graph of the package."""

from __future__ import annotations

from benchmarks.subjects.base import Place, Subject, distribution_version, script


class Pyan3(Subject):
    """Uses edges between all definitions, as text."""

    name = "pyan3"
    reads = "call graph: which function, class or module uses which"
    once = True
    quick = False
    limit_seconds = 600.0

    def version(self) -> str:
        return distribution_version("pyan3")

    def command(self, place: Place) -> list[str]:
        files = sorted(str(path) for path in place.package.rglob("*.py"))
        return [
            script("pyan3"),
            *files,
            "--uses",
            "--no-defines",
            "--text",
            "--root",
            str(place.package.parent),
        ]


SUBJECTS = (Pyan3(),)
