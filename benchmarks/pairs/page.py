"""The table of the pairs, and the file that holds its figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median

from benchmarks.machine import Machine
from benchmarks.pages import environment, replace_files
from benchmarks.pairs.measure import Pair

TARGET_SECONDS = 3.0
"""Median wall time of a second run, on two cores."""
STATE = "pairs.json"
PAGE = "PAIRS.md"


def median_of(pairs: Sequence[Pair]) -> float:
    """Wall seconds of the second runs that ended well; infinite when there is none."""
    return median([pair.second_run.wall_seconds for pair in pairs if not pair.failed] or [float("inf")])


def write(folder: Path, pairs: Sequence[Pair], profile: str, jobs: int, machine: Machine) -> None:
    """Write both files. Raises OSError when the folder cannot be written."""
    done = [pair for pair in pairs if not pair.failed]
    ratios = [pair.cold.wall_seconds / pair.second_run.wall_seconds for pair in done]
    page = environment(Path(__file__).parent).get_template("PAIRS.md.jinja")
    text = page.render(
        pairs=pairs,
        profile=profile,
        jobs=jobs,
        machine=machine,
        target=TARGET_SECONDS,
        median=median_of(done) if done else None,
        ratio=median(ratios) if ratios else None,
    )
    rows = {"profile": profile, "jobs": jobs, "machine": asdict(machine), "pairs": [asdict(pair) for pair in pairs]}
    replace_files({STATE: json.dumps(rows, indent=1, sort_keys=True) + "\n", PAGE: text}, folder)
