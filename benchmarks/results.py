"""All that one session of measuring found, the two files it is written to, and the table on the
terminal that grows meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.table import Table

from benchmarks.budgets import Budgets, Verdict, judge
from benchmarks.figures import Figures, Ratio, Record, figures_of, parses_of, ratio
from benchmarks.machine import Machine
from benchmarks.pages import environment, show
from benchmarks.process import INTERVAL_SECONDS
from benchmarks.subjects import Subject
from shrinker.report.place import write_files

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Session:
    """What was measured, on what."""

    date: str
    """ISO 8601, UTC."""
    upstream: str
    python_files: int
    python_lines: int
    runs: int
    jobs: int
    quick: bool
    machine: Machine


@dataclass(frozen=True, slots=True)
class Row:
    """One subject."""

    name: str
    reads: str
    version: str
    once: bool
    figures: Figures | None
    ratio: Ratio | None
    """Of the reference to this one; ``None`` for the reference itself and where there is no pair.
    """
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that is written."""

    session: Session
    reference: str
    rows: tuple[Row, ...]
    verdicts: tuple[Verdict, ...]
    records: tuple[Record, ...]

    @property
    def missed(self) -> bool:
        """True when a budget was judged and not met."""
        return any(verdict.met is False for verdict in self.verdicts)


def summarise(
    session: Session,
    subjects: Sequence[Subject],
    versions: Mapping[str, str],
    absent: Mapping[str, str],
    records: Sequence[Record],
    budgets: Budgets,
) -> Results:
    """Statistics, ratios and verdicts of the records so far.

    Args:
        versions: by subject's name.
        absent: why a subject was not measured, by its name.
    """
    reference = next(subject.name for subject in subjects if subject.reference)
    by_name = {
        subject.name: [r for r in records if r.subject == subject.name] for subject in subjects
    }
    rows = tuple(
        Row(
            name=subject.name,
            reads=subject.reads,
            version=versions.get(subject.name, ""),
            once=subject.once,
            figures=figures_of(by_name[subject.name]),
            ratio=None if subject.reference else ratio(by_name[reference], by_name[subject.name]),
            problems=_problems(by_name[subject.name], absent.get(subject.name)),
        )
        for subject in subjects
    )
    judged = figures_of(by_name.get(budgets.subject, []))
    verdicts = judge(
        budgets,
        judged,
        upstream=session.upstream,
        cores=session.machine.cores_used,
        warm=figures_of(by_name.get(budgets.warm_subject, [])),
        deciding=parses_of(by_name.get(budgets.deciding_subject, [])),
    )
    return Results(session, reference, rows, verdicts, tuple(records))


def _problems(records: Sequence[Record], absent: str | None) -> tuple[str, ...]:
    failed = tuple(f"run {record.run}: {record.problem}" for record in records if record.problem)
    return failed if absent is None else (absent, *failed)


def write_results(results: Results, folder: Path) -> tuple[Path, Path]:
    """Write ``results.json`` and ``RESULTS.md``; returns their paths. Raises InputError."""
    document = {"format": _FORMAT, **asdict(results)}
    texts = {
        "results.json": json.dumps(document, indent=1, ensure_ascii=False) + "\n",
        "RESULTS.md": markdown(results),
    }
    write_files(folder, texts)
    results_path, page = (folder / name for name in texts)
    return results_path, page


def markdown(results: Results) -> str:
    """Return the page that people read."""
    pages = environment(Path(__file__).parent)
    pages.filters["times"] = lambda spread: show(spread, 1, 2)
    return pages.get_template("RESULTS.md.jinja").render(
        results=results, session=results.session, interval_ms=round(INTERVAL_SECONDS * 1000)
    )


def results_table(results: Results, now: str = "") -> Table:
    """Return all figures so far.

    Args:
        now: what is being measured; shown below the table.
    """
    table = Table(
        title=f"{results.session.upstream} on {results.session.machine.cores_used} core(s), min / median / max",
        caption=now or None,
    )
    table.add_column("", no_wrap=True)
    for head in ("runs", "wall, s", "CPU, s", "peak, MiB", f"wall: {results.reference} to it"):
        table.add_column(head, justify="right")
    for row in results.rows:
        table.add_row(row.name, *_cells(row))
        for problem in row.problems:
            table.add_row(f"  {problem}", style="yellow")
        if row.figures and row.name == results.reference:
            for phase, spread in row.figures.phases.items():
                table.add_row(f"  {phase}", "", show(spread, 1, 2), style="dim")
    return table


def verdict_lines(results: Results) -> list[str]:
    """Return one line a budget."""
    lines = []
    for verdict in results.verdicts:
        measured = "-" if verdict.measured is None else f"{verdict.measured:.2f} {verdict.unit}"
        kept = (
            f"not judged ({verdict.reason})"
            if verdict.met is None
            else "yes"
            if verdict.met
            else "no"
        )
        lines.append(
            f"budget: {verdict.what} {verdict.allowed:g} {verdict.unit}; measured {measured}; "
            f"kept: {kept}"
        )
    return lines


def _cells(row: Row) -> tuple[str, ...]:
    figures = row.figures
    if figures is None:
        return ()
    return (
        str(figures.runs),
        show(figures.wall_seconds, 1, 2),
        show(figures.cpu_seconds, 1, 2),
        show(figures.memory_bytes, 2**20, 0),
        show(row.ratio.wall, 1, 2) if row.ratio else "",
    )
