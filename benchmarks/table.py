"""The table on the terminal, which grows while the benchmarks run."""

from __future__ import annotations

from rich.table import Table

from benchmarks.pages import show
from benchmarks.results import Results, Row


def results_table(results: Results, now: str = "") -> Table:
    """All figures so far.

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
    """One line a budget."""
    lines = []
    for verdict in results.verdicts:
        measured = "-" if verdict.measured is None else f"{verdict.measured:.2f} {verdict.unit}"
        kept = f"not judged ({verdict.reason})" if verdict.met is None else "yes" if verdict.met else "no"
        lines.append(f"budget: {verdict.what} {verdict.allowed:g} {verdict.unit}; measured {measured}; kept: {kept}")
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
