"""How the pipeline tells of itself while it works, the time that each of its phases takes, and the memory of all."""

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from shrinker.cache.workers import Tell


class Progress(Protocol):
    """What the pipeline tells of itself while it works."""

    def phase(self, name: str) -> None:
        """A phase begins."""

    def note(self, line: str) -> None:
        """One line that a person should know."""

    def advance(self, done: int, total: int | None) -> None:
        """How far the phase is."""


class Told(Progress):
    """Hands on what is told to another process."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell

    def phase(self, name: str) -> None:
        self._tell(("phase", name))

    def note(self, line: str) -> None:
        self._tell(("note", line))

    def advance(self, done: int, total: int | None) -> None:
        self._tell(("advance", done, total))


@contextmanager
def timed(name: str, timings: dict[str, float], progress: Progress) -> Iterator[None]:
    """A phase: its name is told, its seconds are added to `timings`, also where it fails.

    Those of a phase within it count there alone, so that all together are the time that passed.
    """
    progress.phase(name)
    start, others = time.perf_counter(), sum(timings.values())
    try:
        yield
    finally:
        within = sum(timings.values()) - others
        timings[name] = timings.get(name, 0.0) + time.perf_counter() - start - within


def peak_memory(jobs: int) -> int:
    """Upper bound of the run's memory in bytes: this process, and as many of the largest worker as there are."""
    unit = 1 if sys.platform == "darwin" else 1024
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return (own + jobs * worker) * unit
