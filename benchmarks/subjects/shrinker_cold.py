"""The whole of `shrinker shrink` with empty caches, but for the downloaded and unpacked
upstream.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.process import Measurement
from benchmarks.subjects.base import Place, Subject
from shrinker import __version__

_CHECKOUT = Path(__file__).resolve().parents[2]
# What the source phase keeps. A cache that is not named here is empty in every run.
_UPSTREAM_CACHES = ("downloads", "git", "index", "trees")


class ShrinkerCold(Subject):
    """Source to evidence and reports, into a new folder."""

    name = "shrinker"
    reads = "`shrinker shrink`: folds, prunes, writes the tree, proves it, reports"
    reference = True

    def version(self) -> str:
        return f"shrinker {__version__}"

    def prepare(self, place: Place) -> None:
        cache = self._cache(place)
        cache.mkdir()
        for name in _UPSTREAM_CACHES:
            if (place.cache / name).is_dir():
                (cache / name).symlink_to(place.cache / name, target_is_directory=True)

    def command(self, place: Place) -> list[str]:
        return [
            *(sys.executable, "-m", "shrinker", "shrink"),
            *("--upstream", place.spec, "--jobs", str(place.jobs)),
            *(
                "--out",
                str(place.scratch / "out"),
                "--reports",
                str(place.scratch / "reports"),
                "--json",
            ),
        ]

    def environment(self, place: Place) -> Mapping[str, str]:
        return {"SHRINKER_CACHE": str(self._cache(place)), "PYTHONPATH": str(_CHECKOUT)}

    def phases(self, place: Place, measurement: Measurement) -> Mapping[str, float]:
        # run.json has the phases in their order, but is written in the last one and lacks it;
        # stdout has them all.
        run = json.loads((place.scratch / "reports" / "run.json").read_text("utf-8"))[
            "phases_seconds"
        ]
        phases: dict[str, float] = {
            **run,
            **json.loads((place.scratch / "stdout").read_text("utf-8"))["seconds"],
        }
        return {**phases, "outside the phases": measurement.wall_seconds - sum(phases.values())}

    @staticmethod
    def _cache(place: Place) -> Path:
        return place.scratch / "cache"


SUBJECTS = (ShrinkerCold(),)
