"""What a simulated process called: the set of kernels, and each stub.

A process of a server may be killed at any time, so each name is written at once, when it is called
first.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from equivalence.simulation.settings import current

KERNEL, STUB, LOADED, COMPILED = KINDS = ("kernel", "stub", "loaded", "compiled")
"""Kinds of lines: a reference or Triton kernel, a call of a stub, a JIT module that was built, a
compiled module of the package.
"""
Called = Mapping[str, frozenset[str]]

_seen: set[tuple[str, str]] = set()


class SimulationError(RuntimeError):
    """Something was called that has no reference, or that no longer looks as its reference expects;
    and what to do about it.
    """

    def __init__(self, message: str, next_step: str) -> None:
        super().__init__(f"simulation: {message}; {next_step}")


def record(kind: str, name: str) -> None:
    """Note that something was called; repeated calls cost a look into a set."""
    if (kind, name) in _seen:
        return
    # Two threads at once write the same line twice, which says no more than once.
    _seen.add((kind, name))
    if folder := current().log:
        with open(os.path.join(folder, f"{os.getpid()}.calls"), "a", encoding="utf-8") as file:
            file.write(f"{kind}\t{name}\n")


def read(folder: Path) -> Called:
    """Return names by kind that all processes with this log folder called."""
    lines = {
        line for file in folder.glob("*.calls") for line in file.read_text("utf-8").splitlines()
    }
    names = {tuple(line.split("\t", 1)) for line in lines}
    return {kind: frozenset(name for of, name in names if of == kind) for kind in KINDS}
