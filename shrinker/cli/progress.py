"""What a person sees while waiting: bars on a terminal, one line a phase elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class TerminalProgress:
    """One bar a phase."""

    def __init__(self, bars: "Progress") -> None:
        self._bars = bars
        self._task: TaskID | None = None

    def phase(self, name: str) -> None:
        """Close the phase before, open this one."""
        self._finish()
        self._task = self._bars.add_task(name, total=None)

    def note(self, line: str) -> None:
        """Print a line above the bars."""
        self._bars.console.print(line, highlight=False, markup=False)

    def advance(self, done: int, total: int | None = None) -> None:
        """Move the bar."""
        if self._task is not None:
            self._bars.update(self._task, completed=done, total=total)

    def _finish(self) -> None:
        if self._task is not None:
            task = self._bars.tasks[self._task]
            total = task.total or task.completed or 1
            self._bars.update(self._task, completed=total, total=total)
            self._bars.stop_task(self._task)


class LineProgress:
    """One line when a phase begins, for logs."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def phase(self, name: str) -> None:
        """Print the phase and the seconds since the start."""
        self.note(f"[{time.perf_counter() - self._start:6.1f} s] {name}")

    def note(self, line: str) -> None:
        """Print a line."""
        print(line, file=sys.stderr, flush=True)

    def advance(self, done: int, total: int | None = None) -> None:
        """Nothing: a log wants phases, not percentages."""


@contextmanager
def console_progress() -> Iterator[TerminalProgress | LineProgress]:
    """Bars when standard error is a terminal, lines when it is not."""
    if not sys.stderr.isatty():
        yield LineProgress()
        return
    # Here and not above: loading it takes longer than `why` takes to answer.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    text = TextColumn("{task.description:<20}")
    columns = (SpinnerColumn(), text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        progress = TerminalProgress(bars)
        yield progress
        progress._finish()
