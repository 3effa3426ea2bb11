"""What a simulated process called: the set of kernels, and each stub.

A process of a server may be killed at any time, so each name is written at once, when it is called first.
"""

import os
import threading
from collections.abc import Mapping
from pathlib import Path

from equivalence.simulation.settings import current

KERNEL, STUB, LOADED = "kernel", "stub", "loaded"
"""Kinds of lines: a reference or Triton kernel, a call of a stub, a JIT module that was built."""
Called = Mapping[str, frozenset[str]]
"""Names of what was called, by kind."""

_seen: set[tuple[str, str]] = set()
_lock = threading.Lock()


class SimulationError(RuntimeError):
    """Something was called that has no reference, or that no longer looks as its reference expects.

    Args:
        message: what was called, and where.
        next_step: what to do about it.
    """

    def __init__(self, message: str, next_step: str) -> None:
        super().__init__(f"simulation: {message}; {next_step}")


def record(kind: str, name: str) -> None:
    """Note that something was called; repeated calls cost a look into a set."""
    if (kind, name) in _seen:
        return
    with _lock:
        if (kind, name) in _seen:
            return
        _seen.add((kind, name))
        folder = current().log
        if folder:
            with open(os.path.join(folder, f"{os.getpid()}.calls"), "a", encoding="utf-8") as file:
                file.write(f"{kind}\t{name}\n")


def read(folder: Path) -> Called:
    """Names by kind that all processes with this log folder called."""
    found: dict[str, set[str]] = {KERNEL: set(), STUB: set(), LOADED: set()}
    for file in sorted(folder.glob("*.calls")):
        for line in file.read_text("utf-8").splitlines():
            kind, _, name = line.partition("\t")
            found[kind].add(name)
    return {kind: frozenset(names) for kind, names in found.items()}
