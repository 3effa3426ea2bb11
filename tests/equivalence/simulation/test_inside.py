"""The tests that need PyTorch and the simulation, in the interpreter that has both."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from equivalence.processes import run
from equivalence.simulation.environment import Simulation
from equivalence.simulation.settings import Settings
from shrinker.source.cache import default_folder
from tests.simulations import simulation_python

INSIDE = Path(__file__).parent / "inside"


@pytest.mark.parametrize("capability", [(9, 0), (10, 0)])
def test_all_of_them(tmp_path: Path, capability: tuple[int, int], record_property) -> None:
    python = simulation_python()
    made = Simulation(python, Settings(capability=capability), default_folder() / "compiled")
    options = ["-q", "--import-mode=importlib", "-p", "no:cacheprovider", "-c", "/dev/null", f"--rootdir={INSIDE}"]
    options += ["-o", f"pythonpath={INSIDE.parents[3]}"]
    finished = run(
        [python, "-m", "pytest", *options, INSIDE],
        variables=made.variables(tmp_path),
        output=tmp_path / "output",
        limit=300,
    )
    said = finished.output.read_text()
    assert finished.code == 0, said
    passed = re.search(r"(\d+) passed", said)
    assert passed and int(passed[1]) > 20
    assert "skipped" not in said
    record_property("figure", f"simulation at {capability[0]}.{capability[1]}: {passed[1]} tests of its own passed")
