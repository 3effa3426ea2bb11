"""`python -m benchmarks.compare`: shrinker beside Piranha and ast-grep.

Exit codes: 0 done, 2 it could not be measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from benchmarks.budgets import Budgets, load_budgets
from benchmarks.compare.measuring import Comparison, compare
from benchmarks.machine import Machine, available_cores, describe_machine, pinned_cores
from benchmarks.pages import environment
from shrinker.report.place import write_files
from shrinker.ruleset import load_profile
from shrinker.source import open_upstream
from shrinker.source.cache import default_folder
from shrinker.values.errors import ShrinkerError

_BENCHMARKS = Path(__file__).resolve().parents[1]
_RUNS = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    budgets = load_budgets()
    options = _parser(budgets).parse_args(arguments)
    console = Console()

    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False)

    machine = describe_machine(options.jobs)
    found = []
    try:
        rules = load_profile(options.profile)
        for spec in options.upstream or [budgets.upstream]:
            tree = open_upstream(
                spec, cache=default_folder(), repository=_BENCHMARKS.parent, progress=say
            )
            cores = pinned_cores(options.jobs)
            found.append(
                compare(tree, rules, runs=options.runs, jobs=options.jobs, cores=cores, begins=say)
            )
    except ShrinkerError as error:
        print(f"error: {error.message}\nnext: {error.next_step}", file=sys.stderr)
        return 2
    date = datetime.now(UTC).isoformat(timespec="minutes")
    for path in write_report(
        Report(date, options.profile, options.runs, machine, tuple(found)), options.into
    ):
        say(f"written: {path}")
    return 0 if all(row.outcome for one in found for row in one.rows if not row.problem) else 2


_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Report:
    """All that is written."""

    date: str
    """ISO 8601, UTC."""
    profile: str
    runs: int
    machine: Machine
    comparisons: tuple[Comparison, ...]


def write_report(report: Report, folder: Path) -> Sequence[Path]:
    """Write both files; returns their paths. Raises InputError."""
    texts = {
        "comparison.json": json.dumps(
            {"format": _FORMAT, **asdict(report)}, indent=1, ensure_ascii=False
        )
        + "\n",
        "COMPARISON.md": markdown(report),
    }
    write_files(folder, texts)
    return [folder / name for name in texts]


def markdown(report: Report) -> str:
    """Return the page that people read."""
    return (
        environment(Path(__file__).parent).get_template("COMPARISON.md.jinja").render(report=report)
    )


def _parser(budgets: Budgets) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    cores = min(budgets.cores, len(available_cores()))
    parser.add_argument(
        "--upstream",
        action="append",
        help=f"as for `shrinker shrink`; several compare on several trees (default: {budgets.upstream})",
    )
    parser.add_argument(
        "--profile", default="deepseek", help="whose facts make the list (default: %(default)s)"
    )
    parser.add_argument(
        "--jobs", type=int, default=cores, help="processes, and cores (default: %(default)s)"
    )
    parser.add_argument("--runs", type=int, default=_RUNS, help="default: %(default)s")
    parser.add_argument(
        "--into",
        type=Path,
        default=_BENCHMARKS,
        help="folder of the results (default: benchmarks/)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
