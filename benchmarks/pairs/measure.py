"""One pair: a cold run on the first commit, then a run on the second with the cache that the first
one left.

The second run reads a commit that nobody opened before, so that unpacking it counts, too.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.machine import pinned_cores
from benchmarks.process import measure
from shrinker.source.repository import git

_REPOSITORY = Path(__file__).resolve().parents[2]
_LAST_LINES = 4


@dataclass(frozen=True, slots=True)
class Run:
    """What one run took."""

    wall_seconds: float
    cpu_seconds: float
    phases_seconds: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two commits and their runs."""

    first: str
    second: str
    changed_files: int
    """Of upstream, between the two."""
    changed_python: int
    cold: Run
    second_run: Run
    failed: str = ""
    """What a run said that did not end well."""


def measure_pair(
    repository: Path,
    first: str,
    second: str,
    profile: str,
    jobs: int,
    rules: Path | None,
    limit: float,
) -> Pair:
    """Generate both trees, with a cache of their own that starts empty; all of it is thrown away.

    Args:
        first: a commit.
        second: the commit after it.
        limit: seconds after which a run is killed.

    Raises:
        InputError: git cannot compare the commits.
    """
    changed = git("diff", "--name-only", first, second, at=repository).splitlines()
    python = [
        path for path in changed if path.startswith("python/sglang/") and path.endswith(".py")
    ]
    with tempfile.TemporaryDirectory(prefix="shrinker-pairs-") as name:
        runs: list[Run] = []
        failed = ""
        for commit in (first, second):
            run, failed = _run(
                Path(name), f"git:{repository.resolve()}@{commit}", profile, jobs, rules, limit
            )
            runs.append(run)
            if failed:
                break
    return Pair(first, second, len(changed), len(python), runs[0], runs[-1], failed)


def _run(
    folder: Path, spec: str, profile: str, jobs: int, rules: Path | None, limit: float
) -> tuple[Run, str]:
    out = folder / "tree"
    words = [
        "shrink",
        "--upstream",
        spec,
        "--profile",
        profile,
        "--jobs",
        str(jobs),
        "--out",
        str(out),
    ]
    found = measure(
        [sys.executable, "-m", "shrinker", *words, *(["--rules", str(rules)] if rules else [])],
        folder=folder,
        environment=os.environ
        | {"PYTHONPATH": str(_REPOSITORY), "SHRINKER_CACHE": str(folder / "cache")},
        cores=pinned_cores(jobs),
        limit_seconds=limit,
    )
    failed = ""
    if found.exit_code:
        said = (folder / "stderr").read_text("utf-8", "replace").strip().splitlines()[-_LAST_LINES:]
        failed = f"not done after {limit:.0f} s" if found.timed_out else "\n".join(said)
    phases: dict[str, float] = {}
    record = folder / "tree.reports" / "run.json"
    if not failed and record.is_file():
        phases = json.loads(record.read_text("utf-8"))["phases_seconds"]
    return Run(round(found.wall_seconds, 2), round(found.cpu_seconds, 2), phases), failed.replace(
        str(folder), "…"
    )
