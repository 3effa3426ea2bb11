"""What several commands share: options, what a person sees while waiting, and how an answer is
printed.
"""

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shrinker.project import rules_folder
from shrinker.values.errors import InputError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


def profile_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Completion of `--profile`."""
    folder = Path(ctx.params.get("rules") or rules_folder())
    return sorted(p.stem for p in (folder / "profiles").glob(f"{incomplete}*.toml"))


def level_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Completion of `--level`: for faults only those that a default run asks."""
    levels = DEFAULT_LEVELS if ctx.command.name == "mutate" else LEVELS
    return [name for name in levels if name.startswith(incomplete)]


def rule_ids(ctx: typer.Context, incomplete: str) -> list[str]:
    """Completion of ids of rules; none where the rules cannot be read."""
    from shrinker.ruleset import load_profile

    folder = ctx.params.get("rules")
    with suppress(InputError):
        loaded = load_profile(
            ctx.params.get("profile") or DEFAULT_PROFILE, Path(folder) if folder else None
        )
        return sorted(name for name in loaded.places if name.startswith(incomplete))
    return []


_UPSTREAM = "release:VERSION, git:PATH_OR_URL@COMMIT, submodule or path:DIR."
_PROFILE = "Which rules; `shrinker profiles` lists them."
_RULES = "Folder of rule files with profiles/ in it; default: the project's, else shrinker's own."

Upstream = Annotated[str | None, typer.Option(help=_UPSTREAM)]
ThisUpstream = Annotated[str, typer.Argument(help=_UPSTREAM)]
Profile = Annotated[str, typer.Option(help=_PROFILE, autocompletion=profile_names)]
Target = Annotated[Path | None, typer.Option(help="Where the generated tree goes.")]
Out = Annotated[Path, typer.Option(help="The generated tree.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, also for an error.")]
Everything = Annotated[
    bool, typer.Option("--all", help="List what is explained too, with its reason.")
]
Jobs = Annotated[int, typer.Option(min=1, help="Worker processes; default: one a core.")]
Reports = Annotated[
    Path | None, typer.Option(help="Reports of the tree; default: where shrink puts them.")
]
Sample = Annotated[
    int | None,
    typer.Option(min=1, help="Ask for so many symbols, drawn at random, instead of a name."),
]
Seed = Annotated[int, typer.Option(help="Of what is drawn: the same one draws the same symbols.")]
Rules = Annotated[Path | None, typer.Option(help=_RULES)]
RecordedUpstream = Annotated[
    str | None, typer.Option(help="Where upstream is; default: what SHRINK.json names.")
]
TimeoutFactor = Annotated[
    float, typer.Option(min=0.1, help="Factor of all time limits, for slow or busy machines.")
]

DEFAULT_LEVELS = ("form", "references", "capabilities")
LEVELS = (
    *DEFAULT_LEVELS,
    "embedders",
    "imports",
    "model",
    "server",
    "trace",
    "tests",
    "native",
    "gpu",
)
"""Evidence levels, as `--level` takes them: to load those that judge takes longer than to complete
a word may.
"""
DEFAULT_PROFILE = "deepseek"
DEFAULT_OUT = Path("dist/sglang_deepseek")
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def absolute(path: Path | None) -> Path | None:
    """Return the path from the root, None for None."""
    return path.absolute() if path is not None else None


def answer(document: Any, text: str | Iterable[str], *, as_json: bool, passed: bool = True) -> None:
    """Print a document, of a dataclass its fields, or its text or lines, and end with exit code 1
    unless all is as it should be.
    """
    if as_json:
        print(json.dumps(document, indent=1, sort_keys=True, default=asdict))
    else:
        print(text if isinstance(text, str) else "".join(f"{line}\n" for line in text), end="")
    if not passed:
        raise typer.Exit(1)


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
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    text = TextColumn("{task.description:<20}")
    columns = (SpinnerColumn(), text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        progress = TerminalProgress(bars)
        yield progress
        progress._finish()
