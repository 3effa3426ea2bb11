"""`ast.parse` of every Python file: what any tool that reads the tree with Python pays at least."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.process import Measurement
from benchmarks.subjects.base import Place, Subject, python_version

_WORKLOAD = Path(__file__).resolve().parents[1] / "workloads" / "parse_all.py"


class AstParse(Subject):
    """One process, or as many as shrinker has."""

    def __init__(self, parallel: bool) -> None:
        self._parallel = parallel
        self.name = "ast.parse, parallel" if parallel else "ast.parse"
        self.reads = (
            "`ast.parse` of every Python file, "
            f"{'a process a core' if parallel else 'one process'}, gc off"
        )

    def version(self) -> str:
        return python_version()

    def command(self, place: Place) -> list[str]:
        jobs = place.jobs if self._parallel else 1
        return [sys.executable, str(_WORKLOAD), str(place.package), "--jobs", str(jobs)]

    def phases(self, place: Place, measurement: Measurement) -> Mapping[str, float]:
        parsing: float = json.loads((place.scratch / "stdout").read_text("utf-8"))["seconds"]
        return {
            "reading and parsing": parsing,
            "outside the phases": measurement.wall_seconds - parsing,
        }


SUBJECTS = (AstParse(parallel=False), AstParse(parallel=True))
