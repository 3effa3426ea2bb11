"""Facts, folding and reachability alone, on one core: what deciding costs beside parsing the same
files.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.process import Measurement
from benchmarks.subjects.base import Place
from benchmarks.subjects.shrinker_cold import ShrinkerCold

_WORKLOAD = Path(__file__).resolve().parents[1] / "workloads" / "decide_tree.py"


class ShrinkerDeciding(ShrinkerCold):
    """No worker process, nothing of an earlier run, nothing written."""

    name = "shrinker, deciding"
    reads = (
        "facts, folding and reachability in one process; then `ast.parse` of the files it read, "
        "in the same process"
    )
    reference = False

    def command(self, place: Place) -> list[str]:
        return [sys.executable, str(_WORKLOAD), place.spec, "--cache", str(self._cache(place))]

    def phases(self, place: Place, measurement: Measurement) -> Mapping[str, float]:
        seconds: dict[str, float] = json.loads((place.scratch / "stdout").read_text("utf-8"))[
            "seconds"
        ]
        return seconds


SUBJECTS = (ShrinkerDeciding(),)
