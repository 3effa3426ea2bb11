"""`python -m benchmarks.pairs`.

Exit codes: 0 the median of the second runs is within the target, 1 it is not, or a run failed, 2
bad usage or input.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median

from benchmarks.arguments import add_commits, add_run
from benchmarks.machine import Machine, describe_machine
from benchmarks.pages import environment
from benchmarks.pairs.measure import Pair, measure_pair
from benchmarks.sweep.choose import spread
from shrinker.report.place import readable, write_files
from shrinker.source.repository import resolve
from shrinker.values.errors import InputError

_FOLDER = Path(__file__).resolve().parents[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the pairs, write the table after each, and say how it went."""
    asked = _parser().parse_args(arguments)
    try:
        specs = spread(asked.repository, asked.pairs, asked.since, asked.until)
        commits = [spec.rpartition("@")[2] for spec in specs]
        chosen = [(resolve(asked.repository, f"{commit}^"), commit) for commit in commits]
    except InputError as error:
        print(f"error: {error.message}\nnext: {error.next_step}", file=sys.stderr)
        return 2
    machine = describe_machine(asked.jobs)
    found: list[Pair] = []
    for first, second in chosen:
        pair = measure_pair(
            asked.repository, first, second, asked.profile, asked.jobs, asked.rules, asked.limit
        )
        found.append(pair)
        write(asked.folder, found, asked.profile, asked.jobs, machine)
        said = (
            pair.failed
            or f"cold {pair.cold.wall_seconds:.1f} s, second {pair.second_run.wall_seconds:.2f} s"
        )
        print(f"{second[:12]}: {said}", flush=True)
    median = median_of(found)
    failed = any(pair.failed for pair in found)
    print(f"median of the second runs: {median:.2f} s (target {TARGET_SECONDS:.0f} s)")
    return int(failed or median > TARGET_SECONDS)


TARGET_SECONDS = 3.0
"""Median wall time of a second run, on two cores."""
STATE = "pairs.json"
PAGE = "PAIRS.md"


def median_of(pairs: Sequence[Pair]) -> float:
    """Wall seconds of the second runs that ended well; infinite when there is none."""
    return median(
        [pair.second_run.wall_seconds for pair in pairs if not pair.failed] or [float("inf")]
    )


def write(folder: Path, pairs: Sequence[Pair], profile: str, jobs: int, machine: Machine) -> None:
    """Write both files. Raises InputError when the folder cannot be written."""
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
    rows = {
        "profile": profile,
        "jobs": jobs,
        "machine": asdict(machine),
        "pairs": [asdict(pair) for pair in pairs],
    }
    write_files(folder, {STATE: readable(rows), PAGE: text})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pairs", description=__doc__)
    parser.add_argument(
        "--pairs",
        type=int,
        default=10,
        help="so many commits, spread evenly, each with the one before",
    )
    add_commits(parser)
    add_run(parser, jobs=2)
    parser.add_argument(
        "--folder", type=Path, default=_FOLDER, help="where pairs.json and PAIRS.md go"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
