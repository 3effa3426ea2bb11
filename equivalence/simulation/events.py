"""How much a simulated server does for its start, a step of its scheduler and a streamed token:
calls, lines and imports, counted.

A count is the same on every run, however busy the machine is. Counted is what the tree's own files
execute in the main thread of each process, where all three loops run. A piece of work begins where
a function of `BEGINS` is called and ends where the next one begins; loops that turn without a batch
do no work. Of an event loop's tasks, what wakes by the clock meanwhile is no part of the
piece: counted are the tasks that begin and end it and those that stream. Each piece is written at
    once: a server's processes are killed.
"""

import importlib
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import CO_ASYNC_GENERATOR
from pathlib import Path
from statistics import median_low
from types import CodeType, FrameType
from typing import Any, TextIO

from equivalence.simulation.settings import current

BEGINS = {
    "recv_requests": "",
    "run_batch": "step",
    "generate_request": "request",
    "_handle_batch_output": "token in the tokenizer",
    "handle_batch_token_id_out": "token in the detokenizer",
}
"""Function of a manager → the piece of work that it begins; `run_batch` names the turn of the loop
that `recv_requests` began.
"""
START = "start of the scheduler"
"""From the import of its module until its loop turns: settings, weights, caches, and what it
imports meanwhile.
"""
WAITED_FOR = "token in the tokenizer"
"""Who waits for such a piece goes on before the next one begins.

Where a busy machine brings two at once, nobody has gone on after the first, so that it is no whole
piece and is not written.
"""
LOOPS = tuple(
    f"sglang.srt.managers.{name}"
    for name in ("scheduler", "tokenizer_manager", "detokenizer_manager")
)
"""Modules of which a process imports one before its loop runs: counting starts then, since what is
imported first belongs to no work.
"""
KINDS = ("calls", "lines", "imports", "failed imports")


def install() -> None:
    """Count in this process, where the settings name a folder for that."""
    settings = current()
    if settings.counted and sys.gettrace() is None:
        sys.settrace(_Counter(settings.counted, settings.followed).called)


def uncounted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the same function, in which nothing is counted: the device does it, the host only
    starts it.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        trace = sys.gettrace()
        if not isinstance(getattr(trace, "__self__", None), _Counter):
            return function(*args, **kwargs)
        sys.settrace(None)
        try:
            return function(*args, **kwargs)
        finally:
            sys.settrace(trace)

    return call


@dataclass(eq=False, slots=True)
class _Task:
    """What one task of an event loop did in a piece of work."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    streams: bool = False
    """Whether an asynchronous generator went on: who streams an answer is one, the loop that takes
    tokens in is none.
    """

    def line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.counts["lines"] += 1
        elif event == "exception" and issubclass(argument[0], ImportError):
            self.counts["failed imports"] += 1
        return self.line


class _Counter:
    """Counts one process's main thread."""

    def __init__(self, folder: str, root: str) -> None:
        self._folder, self._root = folder, os.path.join(root, "")
        self._inside: dict[CodeType, str | None] = {}
        # Not imported above: what a simulated process has before its own imports could hide one
        # that a tree lost.
        self._current: Callable[[], object] = importlib.import_module("asyncio").current_task
        self._tasks = defaultdict[object, _Task](_Task)
        """Task of the event loop → what it did in this piece; all is of no task where there is no
        such loop.
        """
        self._piece, self._beginner = START, _Task()
        self._file: TextIO | None = None

    def called(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Return what the interpreter calls for each function that is entered."""
        code = frame.f_code
        if code not in self._inside:
            ours = code.co_filename.startswith(self._root)
            managers = ours and f"{os.sep}managers{os.sep}" in code.co_filename
            self._inside[code] = (
                (code.co_name if managers and code.co_name in BEGINS else "") if ours else None
            )
        begins = self._inside[code]
        if begins is None:
            if code.co_name == "_find_and_load":
                self._task().counts["imports"] += 1
            return None
        task = self._task()
        # A generator or coroutine is entered each time that it goes on.
        first = frame.f_lineno == code.co_firstlineno
        if begins and first:
            self._begin(begins, task)
        task.streams |= not first and bool(code.co_flags & CO_ASYNC_GENERATOR)
        task.counts["calls"] += 1
        return task.line

    def _task(self) -> _Task:
        try:
            current = self._current()
        except RuntimeError:
            current = None
        return self._tasks[current]

    def _begin(self, function: str, task: _Task) -> None:
        if function == "run_batch":
            self._piece = BEGINS[function]
            return
        streams = any(one.streams for one in self._tasks.values())
        # No piece, and those that are whole only where this ends them; all others are.
        if {"": False, START: function == "recv_requests", WAITED_FOR: streams}.get(
            self._piece, True
        ):
            if self._file is None:
                self._file = open(os.path.join(self._folder, f"{os.getpid()}.txt"), "a", 1, "utf-8")  # noqa: SIM115
            of = [
                one.counts
                for one in self._tasks.values()
                if one.streams or one in (self._beginner, task)
            ]
            self._file.write(
                "\t".join([self._piece, *(str(sum(each[kind] for each in of)) for kind in KINDS)])
                + "\n"
            )
        # Of this task alone frames run that count by what they hold; any other is entered anew.
        for key in [key for key, one in self._tasks.items() if one is not task]:
            del self._tasks[key]
        task.counts, task.streams = dict.fromkeys(KINDS, 0), False
        self._piece, self._beginner = BEGINS[function], task


@dataclass(frozen=True, slots=True)
class Events:
    """Of one kind of work: how many pieces, and of each kind of event the least and the middle
    number of a piece.
    """

    pieces: int
    least: Mapping[str, int]
    middle: Mapping[str, int]


def read(folder: Path) -> dict[str, Events]:
    """Return what all processes of a folder wrote, by kind of work."""
    rows = defaultdict[str, list[list[int]]](list)
    for file in sorted(folder.glob("*.txt")):
        for line in file.read_text("utf-8").splitlines():
            name, *numbers = line.split("\t")
            if len(numbers) == len(KINDS):
                rows[name].append([*map(int, numbers)])
    found: dict[str, Events] = {}
    for name, pieces in sorted(rows.items()):
        of = dict(zip(KINDS, zip(*pieces, strict=True), strict=True))
        found[name] = Events(
            len(pieces), {k: min(of[k]) for k in KINDS}, {k: median_low(of[k]) for k in KINDS}
        )
    return found
