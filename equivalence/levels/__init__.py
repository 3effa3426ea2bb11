"""Evidence levels that run both trees on a machine without a GPU, one module a level.

Each is a function `run(upstream, generated, setting) -> LevelResult`: of two folders that hold the
package `sglang`, so that it can be asked about any two trees, a damaged copy of the generated one
included, and of what it is run with.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from equivalence.levels import imports, model, server, tests, trace
from equivalence.levels.setting import Expected, Following, Setting
from shrinker.values.outcome import LevelResult

SimulatedLevel = Callable[[Path, Path, Setting], LevelResult]
_MODULES = (imports, model, server, trace)
SIMULATED_LEVELS: Mapping[str, SimulatedLevel] = {
    level.__name__.rpartition(".")[2]: level.run for level in _MODULES
}
"""By name, each stricter than the one before; a new level is added here."""
LEVELS_BY_NAME: Mapping[str, SimulatedLevel] = {tests.TESTS: tests.run}
"""Run where somebody names them: they take longer, or an upstream of another kind."""

__all__ = [
    "LEVELS_BY_NAME",
    "SIMULATED_LEVELS",
    "Expected",
    "Following",
    "LevelResult",
    "Setting",
    "SimulatedLevel",
]
