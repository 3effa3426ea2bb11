"""Evidence levels that run both trees on a machine without a GPU, one module a level.

Each is a function `run(upstream, generated, setting) -> LevelResult` of two folders that hold the package, so that it
can be asked about any two trees, a damaged copy of the generated one included.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from equivalence.levels import imports, model, server, trace
from equivalence.levels.following import Following
from equivalence.levels.result import LevelResult
from equivalence.levels.setting import Expected, Setting


class SimulatedLevel(Protocol):
    """A level that runs the trees."""

    def __call__(self, upstream: Path, generated: Path, setting: Setting) -> LevelResult: ...


SIMULATED_LEVELS: Mapping[str, SimulatedLevel] = MappingProxyType(
    {"imports": imports.run, "model": model.run, "server": server.run, "trace": trace.run}
)
"""By name, each stricter than the one before; a new level is added here."""

__all__ = ["SIMULATED_LEVELS", "Expected", "Following", "LevelResult", "Setting", "SimulatedLevel"]
