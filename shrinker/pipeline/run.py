"""What a run is asked for, what its phases are given and tell of themselves, and what it made, in
which time and memory.
"""

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from shrinker.cache import Cache
from shrinker.cache.workers import Tell
from shrinker.report.fit import Fit
from shrinker.ruleset import Ruleset
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import Evidence, Finding
from shrinker.values.upstream import UpstreamTree


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
    """Yield a phase: its name is told, its seconds are added to `timings`, also where it fails.

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
    """Upper bound of the run's memory in bytes: this process, and as many of the largest worker as
    there are.
    """
    unit = 1 if sys.platform == "darwin" else 1024
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return (own + jobs * worker) * unit


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be generated."""

    upstream: str | None
    profile: str
    out: Path
    jobs: int
    strict: bool = False
    frozen: bool = False
    """Fail when the lock of this upstream and these rules would change."""
    reports: Path | None = None
    rules: Path | None = None
    """Folder with rule files and `profiles/`; those of `project.rules_folder` when not given."""
    reuse: bool = True
    """Take results of earlier runs from the cache folder, and leave this run's there."""
    without: tuple[str, ...] = ()
    """Ids of rules that are taken as not written; see `tools.ablation`."""
    force: bool = False
    """Move aside what in `out` or among the reports no run wrote, where such a thing ends the run
    otherwise.
    """
    judge: bool = True
    """Hold the tree against its evidence, and write pages; without, it is only made: what is
    compared is not what is served or looked at.
    """
    look: bool = False
    """Find what strict mode would refuse, and hand it over in the result: nothing is refused for
    it.
    """


@dataclass(frozen=True, slots=True)
class Run:
    """What all phases that decide and write are given."""

    tree: UpstreamTree
    rules: Ruleset
    jobs: int
    """Worker processes."""
    progress: Progress
    cache: Cache = field(default_factory=Cache)
    """Of earlier runs; by default none."""
    timings: dict[str, float] = field(default_factory=dict)
    """Seconds by phase, to which each adds its own."""
    explained: bool = True
    """Whether reports will say why a symbol stays; without them nothing looks for it."""

    def timed(self, phase: str) -> AbstractContextManager[None]:
        """Return a phase, see the function of this name."""
        return timed(phase, self.timings, self.progress)


@dataclass(slots=True)
class Result:
    """What a run made."""

    manifest: Manifest
    summary: dict[str, Any]
    reports: Path
    evidence: tuple[Evidence, ...]
    timings: dict[str, float]
    peak_memory: int
    """Bytes: this process plus the largest worker, times the number of workers."""
    rescued: dict[str, str] = field(default_factory=dict)
    strict: tuple[Finding, ...] = ()
    """What strict mode would refuse; only of a run that looks for it."""
    aside: tuple[Path, ...] = ()
    """Folders to which something of the owner's was moved; only of a run that may."""
    stale: tuple[str, ...] = ()
    """Evidence among the reports that is of another tree, each with what it is of."""
    fit: Fit | None = None
    """How the rules fit the upstream; None where the tree was not judged."""
