"""What a benchmark says of itself; one file of this folder each."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.process import Measurement


class NotInstalledError(Exception):
    """The tool is not in this environment."""


@dataclass(frozen=True, slots=True)
class Place:
    """What and where one run measures."""

    spec: str
    """The UPSTREAM value."""
    package: Path
    """Folder of upstream's `sglang`, for tools that read files."""
    cache: Path
    """The cache folder of shrinker, with the upstream downloaded and unpacked."""
    jobs: int
    scratch: Path
    """Empty folder of this run, the working directory; removed afterwards."""


class Subject(ABC):
    """One thing to measure.

    A file of this folder that sets `SUBJECTS` is found by itself; nothing else has to name it.
    """

    name: str
    reads: str
    """What it does with the tree, for the reader of the results."""
    reference = False
    """True for the one that the others are compared with."""
    once = False
    """Too slow to repeat: measured in the first run only."""
    quick = True
    """Part of ``--quick``."""
    limit_seconds: float | None = None
    well = frozenset({0})
    """Exit codes of a run that did its work."""

    @abstractmethod
    def version(self) -> str:
        """Version of what is measured. Raises NotInstalledError."""

    @abstractmethod
    def command(self, place: Place) -> list[str]:
        """Return the process to measure."""

    def prepare(self, place: Place) -> None:  # noqa: B027
        """Make ready what is not part of the measurement."""

    def environment(self, place: Place) -> Mapping[str, str]:
        """Variables to set besides those of this process."""
        return {}

    def phases(self, place: Place, measurement: Measurement) -> Mapping[str, float]:
        """Seconds by phase, read after the run."""
        return {}


def distribution_version(name: str) -> str:
    """Version of an installed distribution. Raises NotInstalledError."""
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        raise NotInstalledError(f"{name} is not installed") from None


def python_version() -> str:
    """Of the interpreter that runs the benchmarks and everything written in Python."""
    return f"{sys.implementation.name} {sys.version.split()[0]}"


def script(name: str) -> str:
    """Return path of a tool: the one of this environment, else the one on PATH.

    Raises NotInstalledError.
    """
    own = os.path.join(sysconfig.get_path("scripts"), name)
    found = own if os.path.isfile(own) else shutil.which(name)
    if found is None:
        raise NotInstalledError(f"{name} is not installed")
    return found
