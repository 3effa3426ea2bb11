"""`python -m benchmarks`: measure, show, write.

Exit codes: 0 done, 1 a budget is missed, 2 it could not be measured.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.live import Live

from benchmarks.budgets import Budgets, load_budgets
from benchmarks.figures import Record
from benchmarks.machine import available_cores, describe_machine, pinned_cores
from benchmarks.results import (
    Results,
    Session,
    results_table,
    summarise,
    verdict_lines,
    write_results,
)
from benchmarks.schedule import MakePlace, measure_all
from benchmarks.subjects import NotInstalledError, Place, Subject, all_subjects
from shrinker.source import open_upstream
from shrinker.source.cache import default_folder
from shrinker.values.errors import ShrinkerError
from shrinker.values.upstream import UpstreamTree, module_name

_HERE = Path(__file__).resolve().parent
_RUNS = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    budgets = load_budgets()
    options = _parser(budgets).parse_args(arguments)
    console = Console()
    cache = default_folder()
    try:
        tree = open_upstream(
            options.upstream, cache=cache, repository=_HERE.parent, progress=console.print
        )
    except ShrinkerError as error:
        print(f"error: {error.message}\nnext: {error.next_step}", file=sys.stderr)
        return 2
    session = _session(tree, options.runs, options.jobs, options.quick)
    subjects = [subject for subject in all_subjects() if subject.quick or not options.quick]

    def make_place(scratch: Path) -> Place:
        return Place(
            options.upstream, tree.root / "python" / "sglang", cache, options.jobs, scratch
        )

    results = _measure(session, subjects, budgets, make_place, console)
    for line in verdict_lines(results):
        console.print(line, markup=False, highlight=False)
    for path in write_results(results, options.into):
        console.print(f"written: {path}", markup=False, highlight=False)
    if next(row for row in results.rows if row.name == results.reference).figures is None:
        return 2
    return 1 if results.missed else 0


def _measure(
    session: Session,
    subjects: list[Subject],
    budgets: Budgets,
    make_place: MakePlace,
    console: Console,
) -> Results:
    versions, absent = _versions(subjects)
    present = [subject for subject in subjects if subject.name not in absent]
    records: list[Record] = []

    def results() -> Results:
        return summarise(session, subjects, versions, absent, records, budgets)

    live = Live(console=console, refresh_per_second=1) if console.is_terminal else None

    def begins(subject: Subject, run: int) -> None:
        now = f"run {run} of {session.runs}: {subject.name}"
        if live:
            live.update(results_table(results(), now))
        else:
            console.print(now, highlight=False)

    with live or nullcontext():
        for record in measure_all(
            present, session.runs, make_place, pinned_cores(session.jobs), begins
        ):
            records.append(record)
            if not live:
                taken = record.measurement
                said = (
                    record.problem
                    or f"{taken.wall_seconds:.2f} s, {taken.memory_bytes / 2**20:.0f} MiB"
                )
                console.print(f"  {said}", markup=False, highlight=False)
        if live:
            live.update(results_table(results()))
    if not live:
        console.print(results_table(results()))
    return results()


def _versions(subjects: Sequence[Subject]) -> tuple[dict[str, str], dict[str, str]]:
    """Versions of the tools that are there, and why the others are not."""
    versions: dict[str, str] = {}
    absent: dict[str, str] = {}
    for subject in subjects:
        try:
            versions[subject.name] = subject.version()
        except NotInstalledError as error:
            absent[subject.name] = f"{error}; `make bench` installs it"
    return versions, absent


def _session(tree: UpstreamTree, runs: int, jobs: int, quick: bool) -> Session:
    modules = [file.path for file in tree.files if module_name(file.path) is not None]
    return Session(
        date=datetime.now(UTC).isoformat(timespec="minutes"),
        upstream=tree.identity.spec,
        python_files=len(modules),
        # Reads every file, so that the first subject does not pay for the disk alone.
        python_lines=sum(len(tree.read(path).splitlines()) for path in modules),
        runs=runs,
        jobs=jobs,
        quick=quick,
        machine=describe_machine(jobs),
    )


def _parser(budgets: Budgets) -> argparse.ArgumentParser:
    def count(text: str) -> int:
        if int(text) < 1:
            raise ValueError
        return int(text)

    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    cores = min(budgets.cores, len(available_cores()))
    parser.add_argument(
        "--upstream",
        default=budgets.upstream,
        help="as for `shrinker shrink` (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs", type=count, default=cores, help="processes, and cores (default: %(default)s)"
    )
    parser.add_argument("--runs", type=count, default=_RUNS, help="default: %(default)s")
    parser.add_argument("--quick", action="store_true", help="leave out what takes minutes (pyan3)")
    parser.add_argument(
        "--into", type=Path, default=_HERE, help="folder of the results (default: benchmarks/)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
