"""What `loads` of an `[[external]]` rule claims of a library, asked of the installed library."""

import subprocess
from pathlib import Path

import pytest

from shrinker.project import RULES_FOLDER
from shrinker.ruleset.load import load_rules
from tests.simulations import simulation_python

LOADED = [
    pattern
    for rule in load_rules([RULES_FOLDER / "package/protocols.toml"]).outsides
    for pattern in rule.loads
]


@pytest.fixture(scope="module")
def python() -> Path:
    return simulation_python()


@pytest.mark.parametrize("name", [name for name in LOADED if "*" not in name])
def test_the_package_loads_the_submodule(python: Path, name: str) -> None:
    top = name.partition(".")[0]
    trial = f"import {top}, sys; print({name!r} in sys.modules)"
    done = subprocess.run([python, "-c", trial], capture_output=True, text=True, check=False)
    if "ModuleNotFoundError" in done.stderr:
        pytest.skip(f"{top} is not in the environment of simulated runs")
    assert done.stdout == "True\n", done.stderr
