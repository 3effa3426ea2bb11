"""ruff: not Python, and no analysis across files; for scale."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.subjects.base import Place, Subject, distribution_version, script


def check_command(select: str, output: str, place: str) -> list[str]:
    """Write the command by which ruff checks every Python file of a folder, whatever is set there.

    Args:
        select: codes of rules, as `--select` takes them.
        output: format of what it prints, as `--output-format` takes it.
        place: the folder.
    """
    alone = ("--isolated", "--no-cache", "--no-respect-gitignore", "--config", "exclude=[]")
    return [
        script("ruff"),
        "check",
        "--select",
        select,
        *alone,
        "--exit-zero",
        "--output-format",
        output,
        place,
    ]


class Ruff(Subject):
    """The pyflakes rules, without its cache."""

    name = "ruff"
    reads = "`ruff check --select F`: every file by itself"

    def version(self) -> str:
        return distribution_version("ruff")

    def command(self, place: Place) -> list[str]:
        return check_command("F", "concise", str(place.package))

    def environment(self, place: Place) -> Mapping[str, str]:
        return {"RAYON_NUM_THREADS": str(place.jobs)}


SUBJECTS = (Ruff(),)
