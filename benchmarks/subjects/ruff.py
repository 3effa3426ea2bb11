"""ruff: not Python, and no analysis across files; for scale."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.subjects.base import Place, Subject, distribution_version, script


class Ruff(Subject):
    """The pyflakes rules, without its cache."""

    name = "ruff"
    reads = "`ruff check --select F`: every file by itself"

    def version(self) -> str:
        return distribution_version("ruff")

    def command(self, place: Place) -> list[str]:
        options = (
            "--isolated",
            "--no-cache",
            "--no-respect-gitignore",
            "--config",
            "exclude=[]",
            "--exit-zero",
        )
        return [
            script("ruff"),
            "check",
            "--select",
            "F",
            *options,
            "--output-format",
            "concise",
            str(place.package),
        ]

    def environment(self, place: Place) -> Mapping[str, str]:
        return {"RAYON_NUM_THREADS": str(place.jobs)}


SUBJECTS = (Ruff(),)
