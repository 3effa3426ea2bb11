"""What the measurements were taken on, as the operating system tells it; no name of machine or
person.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

from benchmarks.subjects.base import python_version


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the measured processes ran."""

    processor: str
    architecture: str
    cores_present: int
    cores_used: int
    memory_bytes: int
    system: str
    kernel: str
    python: str
    load_before: float | None
    """Load average over the last minute, before the first run: other work that disturbs the
    figures.
    """


def available_cores() -> list[int]:
    """Numbers of the cores that this process may use; without numbers on a system that has no
    affinity.
    """
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def pinned_cores(jobs: int) -> list[int]:
    """Return the cores to confine the measured processes to; empty when that is not possible or not
    needed.
    """
    cores = available_cores()
    return cores[:jobs] if hasattr(os, "sched_setaffinity") and jobs < len(cores) else []


def describe_machine(jobs: int) -> Machine:
    """Ask the operating system."""
    present = len(available_cores())
    return Machine(
        processor=_processor(),
        architecture=platform.machine(),
        cores_present=present,
        cores_used=min(jobs, present),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        system=_system(),
        kernel=f"{platform.system()} {platform.release()}",
        python=python_version(),
        load_before=os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    )


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        text = ""
    named = (
        line.partition(":")[2].strip()
        for line in text.splitlines()
        if line.startswith("model name")
    )
    return next(named, "") or platform.processor() or "unknown"


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.platform(terse=True)
