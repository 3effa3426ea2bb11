"""The interpreter of the simulation in tests, which pass over where there is none."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from equivalence.simulation.environment import find_python
from shrinker.values.errors import InputError


@cache
def simulation_python() -> Path:
    """The interpreter; looked for once, since that imports torch. Skips the test where it is missing."""
    try:
        return find_python()
    except InputError as error:
        pytest.skip(f"{error.message}: {error.next_step}")
