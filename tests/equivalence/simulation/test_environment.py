"""How simulated commands are described, named on a command line and ended; and the tests that need
PyTorch, in the interpreter that has it.
"""

import importlib.util
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from equivalence.processes import members, run
from equivalence.simulation import calls
from equivalence.simulation.__main__ import parse
from equivalence.simulation.environment import SITE, Simulation, find_python
from equivalence.simulation.inside import AfterImport
from equivalence.simulation.packages import declared_versions
from equivalence.simulation.settings import SWITCH, Settings
from shrinker.source.cache import default_folder
from shrinker.values.errors import InputError
from tests.simulations import simulation_python


def test_settings_survive_the_environment() -> None:
    settings = Settings((10, 0), 2, 7 << 30, "log", {"sglang-kernel": "0.4.4"})
    assert Settings.from_text(settings.to_text()) == settings


def test_only_exact_pins_are_versions() -> None:
    pins = [
        "sglang-kernel==0.4.4",
        "torch>=2.9",
        "Flashinfer_Python[x] == 0.6.12 ; python_version > '3'",
        "numpy",
    ]
    assert declared_versions(pins) == {"sglang-kernel": "0.4.4", "flashinfer-python": "0.6.12"}


def test_a_project_without_an_environment_has_that_of_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, checkout = tmp_path / "project", tmp_path / "checkout"
    for folder in (project, checkout):
        python = folder / ".venv-simulate/bin/python"
        python.parent.mkdir(parents=True)
        python.write_text("#!/bin/sh\n")
        python.chmod(0o755)
    (project / "upstream.toml").touch()
    monkeypatch.delenv("SHRINKER_SIMULATION_PYTHON", raising=False)
    monkeypatch.setattr("equivalence.simulation.environment.PACKAGE", checkout / "shrinker")
    monkeypatch.chdir(project)
    assert find_python() == project / ".venv-simulate/bin/python"
    (project / ".venv-simulate/bin/python").unlink()
    assert find_python() == checkout / ".venv-simulate/bin/python"


def test_nothing_of_the_surroundings_enters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGLANG_ENABLE_SOMETHING", "1")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    found = Simulation(Path(sys.executable)).variables(Path("/tree"))
    assert found["PYTHONPATH"] == f"{SITE}{os.pathsep}/tree"
    assert "SGLANG_ENABLE_SOMETHING" not in found
    assert Settings.from_text(found[SWITCH]) == Settings()


def test_the_memory_of_devices_can_be_asked_for() -> None:
    variables = Simulation(Path(sys.executable), Settings(devices=2, memory=6 << 30)).variables(
        Path("/tree")
    )
    query = ["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    said = subprocess.run(
        query, env=variables, capture_output=True, text=True, timeout=20, check=True
    ).stdout
    assert said.split() == ["6144", "6144"]
    assert (
        subprocess.run(
            ["nvidia-smi", "topo", "-m"], env=variables, capture_output=True, timeout=20
        ).returncode
        == 2
    )


def test_a_missing_environment_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SHRINKER_SIMULATION_PYTHON", str(tmp_path / "python"))
    with pytest.raises(InputError, match="missing") as caught:
        find_python()
    assert "make simulation" in caught.value.next_step


def test_a_command_past_its_limit_ends_with_all_it_started(tmp_path: Path) -> None:
    start = time.monotonic()
    command = ["sh", "-c", "sleep 60 & echo $$; wait"]
    finished = run(command, variables=os.environ, output=tmp_path / "out", limit=1)
    assert finished.code is None and time.monotonic() - start < 20
    assert not members(int(finished.text()))


def test_a_finished_command_says_how_it_ended(tmp_path: Path) -> None:
    code = "import sys; print('said'); sys.exit(3)"
    finished = run(
        [sys.executable, "-c", code], variables=os.environ, output=tmp_path / "out", limit=60
    )
    assert (finished.code, finished.tail()) == (3, "said")


def test_calls_of_all_processes_are_read(tmp_path: Path) -> None:
    (tmp_path / "1.calls").write_text("kernel\ta\nstub\tx.y\n")
    (tmp_path / "2.calls").write_text("kernel\tb\nkernel\ta\n")
    found = calls.read(tmp_path)
    assert found["kernel"] == {"a", "b"}
    assert found["stub"] == {"x.y"}
    assert found["loaded"] == frozenset()


def test_a_hook_waits_for_the_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "looked_for_first.py").write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    seen: list[str] = []
    finder = AfterImport({"looked_for_first": lambda module: seen.append(module.__name__)})
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    assert importlib.util.find_spec("looked_for_first") is not None
    assert seen == []
    importlib.import_module("looked_for_first")
    assert seen == ["looked_for_first"]
    monkeypatch.delitem(sys.modules, "looked_for_first")


def test_the_command_line_names_a_wrong_tree(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "equivalence.simulation", str(tmp_path), "--", "-c", "pass"]
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=180, cwd=SITE.parents[2]
    )
    assert ended.returncode == 1
    assert "error: " in ended.stderr and "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    "options", [["--capability", "10.0", "tree"], ["tree", "--capability", "10.0"]]
)
def test_options_stand_on_either_side_of_the_tree(options: list[str]) -> None:
    assert parse([*options, "--", "-m", "x", "--help", "--"]) == (
        Path("tree"),
        (10, 0),
        ["-m", "x", "--help", "--"],
    )


def test_nothing_but_a_tree_is_needed() -> None:
    assert parse(["tree"]) == (Path("tree"), (9, 0), [])


@pytest.mark.parametrize(
    "words", [[], ["--", "tree"], ["tree", "-m", "x"], ["tree", "--capability", "ten", "--"]]
)
def test_what_is_not_understood_ends_the_command(words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(words)
    assert caught.value.code == 2


INSIDE = Path(__file__).parent / "inside"


@pytest.mark.parametrize("capability", [(9, 0), (10, 0)])
def test_all_of_them(tmp_path: Path, capability: tuple[int, int], record_property) -> None:
    python = simulation_python()
    made = Simulation(python, Settings(capability=capability), default_folder() / "compiled")
    options = [
        "-q",
        "--import-mode=importlib",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
        f"--rootdir={INSIDE}",
    ]
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
    record_property(
        "figure",
        f"simulation at {capability[0]}.{capability[1]}: {passed[1]} tests of its own passed",
    )
