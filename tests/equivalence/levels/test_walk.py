"""The import of every module, on small trees: what upstream has wrong too is not held against the tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from equivalence.levels import Setting, imports
from equivalence.levels.replay import GENERATED, UPSTREAM
from equivalence.levels.result import Ledger
from equivalence.simulation.environment import Simulation
from equivalence.simulation.settings import Settings
from tests.simulations import simulation_python, write_package

UPSTREAM_FILES = {
    "__init__.py": "",
    "good.py": "import sglang.other",
    "other.py": "VALUE = 1",
    "broken.py": "import surely_not_a_package",
    "leaves.py": "import sys; sys.exit(3)",
    "folder/within.py": "from sglang.other import VALUE",
}


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(Simulation(simulation_python(), Settings()), tmp_path / "work")


def walked(setting: Setting, tmp_path: Path, generated: dict[str, str]) -> Ledger:
    trees = {
        UPSTREAM: write_package(tmp_path / "upstream", UPSTREAM_FILES),
        GENERATED: write_package(tmp_path / "generated", generated),
    }
    ledger = Ledger("imports")
    imports._walk(trees, setting, ledger)
    return ledger


def test_the_same_failures_are_inherited(setting: Setting, tmp_path: Path) -> None:
    ledger = walked(setting, tmp_path, UPSTREAM_FILES)
    assert ledger.findings == []
    assert ledger.checks == {"modules": 6}
    assert [f.path for f in ledger.inherited] == ["python/sglang/broken.py", "python/sglang/leaves.py"]


def test_a_lost_name_and_another_error_are_found(setting: Setting, tmp_path: Path) -> None:
    generated = {**UPSTREAM_FILES, "other.py": "pass", "broken.py": "raise ValueError('new')"}
    ledger = walked(setting, tmp_path, generated)
    assert [f.path for f in ledger.findings] == ["python/sglang/broken.py", "python/sglang/folder/within.py"]
    assert "cannot import name 'VALUE'" in ledger.findings[1].message
    assert "<tree>" in ledger.findings[1].message and str(tmp_path) not in ledger.findings[1].message


def test_an_import_that_waits_is_named(setting: Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "_SECONDS", 1)
    generated = {**UPSTREAM_FILES, "other.py": "import time\nVALUE = 1\ntime.sleep(100)"}
    ledger = walked(setting, tmp_path, generated)
    found = [f.message for f in ledger.findings if f.path.endswith("other.py")]
    assert len(found) == 1 and "still not imported after 1 s" in found[0] and "other.py:3" in found[0]


def test_a_tree_that_kills_the_process_is_a_finding(setting: Setting, tmp_path: Path) -> None:
    ledger = walked(setting, tmp_path, {**UPSTREAM_FILES, "good.py": "import os; os._exit(7)"})
    assert [f.check for f in ledger.findings] == ["walk"]
    assert "ended with 7" in ledger.findings[0].message
