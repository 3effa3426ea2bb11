"""The level that serves both trees, on small trees that load a compiled core where they
have one.
"""

import subprocess
from pathlib import Path

import pytest

from equivalence.levels import server
from equivalence.levels.scenarios import Scenario
from equivalence.levels.setting import Setting
from equivalence.simulation.environment import Simulation
from shrinker.source.cache import default_folder
from shrinker.values.outcome import Finding
from tests.simulations import simulation_python, write_package
from tests.small import read_archive

FILES = read_archive(Path(__file__).with_name("served.txtar"))
CORE = "_queue"
"""A compiled module of Python's own, which stands for one of the package: it loads under whichever
package it is put.
"""
SCENARIO = Scenario(name="planted")


def compiled_core(python: Path) -> Path:
    """The file of a compiled module of an interpreter. Skips the test where that is built in."""
    command = [str(python), "-I", "-c", f"import {CORE}; print(getattr({CORE}, '__file__', ''))"]
    said = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=True
    ).stdout.strip()
    if not said:
        pytest.skip(f"{CORE} is no file of {python}")
    return Path(said)


def tree(folder: Path, core: Path | None) -> Path:
    """A tree that serves, with its compiled core or without."""
    package = write_package(
        folder, {name: text.replace("CORE", CORE) for name, text in FILES.items()}
    )
    (package / "sglang/__init__.py").touch()
    if core is not None:
        (package / "sglang" / core.name).write_bytes(core.read_bytes())
    return package


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Setting:
    """What the level is given; the servers read no checkpoint."""
    monkeypatch.setattr(Setting, "checkpoint", lambda self, config: tmp_path)
    made = Simulation(simulation_python(), compiled=default_folder() / "compiled")
    return Setting(made, tmp_path / "work", patience=6.0)


def found(upstream: Path, generated: Path, setting: Setting) -> list[Finding]:
    """Findings of the level, but for what this scenario does not look at."""
    result = server.run(upstream, generated, setting, [SCENARIO])
    return [one for one in result.evidence.findings if "looked at nothing" not in one.message]


@pytest.mark.parametrize("with_core", [True, False])
def test_trees_with_the_same_modules_serve_alike(
    tmp_path: Path, setting: Setting, with_core: bool
) -> None:
    core = compiled_core(setting.simulation.python) if with_core else None
    assert found(tree(tmp_path / "before", core), tree(tmp_path / "after", core), setting) == []


def test_a_tree_without_a_compiled_module_is_found(tmp_path: Path, setting: Setting) -> None:
    core = compiled_core(setting.simulation.python)
    seen = found(tree(tmp_path / "before", core), tree(tmp_path / "after", None), setting)
    assert [one.check for one in seen] == ["choices", "choices", "compiled modules"]
    assert "only the log of upstream says: Tree Core: compiled" in seen[0].message
    assert "only the log of generated says: Tree Core: in Python" in seen[1].message
    assert seen[2].message == f"planted: compiled sglang.{CORE}: only in upstream"


def test_a_compiled_module_that_upstream_does_without_is_found(
    tmp_path: Path, setting: Setting
) -> None:
    core = compiled_core(setting.simulation.python)
    seen = found(tree(tmp_path / "before", None), tree(tmp_path / "after", core), setting)
    assert [one.check for one in seen] == ["choices", "choices", "compiled modules"]
    assert "only in the generated tree" in seen[2].message
