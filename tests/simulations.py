"""The interpreter of the simulation in tests, which pass over where there is none, and small
packages to run.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

from equivalence.simulation.environment import find_python
from shrinker.values.errors import InputError
from tests.small import write


def simulation_python() -> Path:
    """The interpreter. Skips the test where it is missing."""
    try:
        return find_python()
    except InputError as error:
        pytest.skip(f"{error.message}: {error.next_step}")


def write_package(folder: Path, files: Mapping[str, str]) -> Path:
    """A folder that holds a package `sglang` of these files."""
    write(folder / "sglang", files)
    return folder
