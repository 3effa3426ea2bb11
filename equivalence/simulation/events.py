"""How much a simulated server does for a step of its scheduler and for a token of its detokenizer: calls, lines and imports, counted.

A count is the same on every run, however busy the machine is. Counted is what the tree's own files execute in the main thread of these two
processes, whose loops do one thing after the other. A piece of work begins where a function of `BEGINS` is called and ends where the next
one begins; turns of the scheduler without a batch are no work. Each piece is written at once: a server's processes are killed.
"""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low
from types import CodeType, FrameType
from typing import Any, TextIO

from equivalence.simulation.settings import current

BEGINS = {"recv_requests": "", "run_batch": "step", "handle_batch_token_id_out": "token"}
"""Function of a manager → the piece of work that it begins; `run_batch` names the turn of the loop that `recv_requests` began."""
LOOPS = tuple(f"sglang.srt.managers.{name}" for name in ("scheduler", "detokenizer_manager"))
"""Modules of which a process imports one before its loop runs: counting starts then, since what is imported first belongs to no work."""
KINDS = ("calls", "lines", "imports", "failed imports")


def install() -> None:
    """Count in this process, where the settings name a folder for that."""
    settings = current()
    if settings.counted and sys.gettrace() is None:
        sys.settrace(_Counter(settings.counted, settings.followed).called)


def uncounted(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, in which nothing is counted: the device does it, the host only starts it."""

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


class _Counter:
    """Counts one process's main thread."""

    def __init__(self, folder: str, root: str) -> None:
        self._folder, self._root = folder, os.path.join(root, "")
        self._inside: dict[CodeType, str | None] = {}
        self._piece, self._counts = "", dict.fromkeys(KINDS, 0)
        self._file: TextIO | None = None

    def called(self, frame: FrameType, event: str, argument: Any) -> Any:
        """What the interpreter calls for each function that is entered."""
        code = frame.f_code
        if code not in self._inside:
            ours = code.co_filename.startswith(self._root)
            managers = ours and f"{os.sep}managers{os.sep}" in code.co_filename
            self._inside[code] = (code.co_name if managers and code.co_name in BEGINS else "") if ours else None
        begins = self._inside[code]
        if begins is None:
            self._counts["imports"] += code.co_name == "_find_and_load"
            return None
        if begins:
            self._begin(begins)
        self._counts["calls"] += 1
        return self._line

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self._counts["lines"] += 1
        elif event == "exception" and issubclass(argument[0], ImportError):
            self._counts["failed imports"] += 1
        return self._line

    def _begin(self, function: str) -> None:
        if function != "run_batch":
            if self._piece:
                if self._file is None:
                    self._file = open(os.path.join(self._folder, f"{os.getpid()}.txt"), "a", 1, "utf-8")  # noqa: SIM115
                self._file.write("\t".join([self._piece, *map(str, self._counts.values())]) + "\n")
            self._counts = dict.fromkeys(KINDS, 0)
        self._piece = BEGINS[function]


@dataclass(frozen=True, slots=True)
class Events:
    """Of one kind of work: how many pieces, and of each kind of event the least and the middle number of a piece."""

    pieces: int
    least: Mapping[str, int]
    middle: Mapping[str, int]


def read(folder: Path) -> dict[str, Events]:
    """What all processes of a folder wrote, by kind of work."""
    rows: dict[str, list[list[int]]] = {}
    for file in sorted(folder.glob("*.txt")):
        for line in file.read_text("utf-8").splitlines():
            name, *numbers = line.split("\t")
            if len(numbers) == len(KINDS):
                rows.setdefault(name, []).append([int(number) for number in numbers])
    found = {}
    for name, pieces in sorted(rows.items()):
        of_kind = dict(zip(KINDS, zip(*pieces, strict=True), strict=True))
        least, middle = ({kind: take(values) for kind, values in of_kind.items()} for take in (min, median_low))
        found[name] = Events(len(pieces), least, middle)
    return found
