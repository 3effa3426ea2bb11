"""Shrinker where it is installed, and its tree where that is built: no checkout, an empty folder,
the real release.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.shrunk import REPOSITORY, Shrunk
from tests.small import write

pytestmark = pytest.mark.network


def _run(words: list[str], folder: Path, **extra: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        words, cwd=folder, env=kept | extra, capture_output=True, text=True, timeout=900
    )


@pytest.fixture(scope="module")
def pip(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("pip") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return [
        str(folder / "bin/python"),
        "-m",
        "pip",
        "--disable-pip-version-check",
        "wheel",
        "--quiet",
        "--no-deps",
    ]


@pytest.fixture(scope="module")
def installed(pip: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what shrinker's wheel holds."""
    folder = tmp_path_factory.mktemp("installed")
    done = _run([*pip, "--wheel-dir", str(folder), str(REPOSITORY)], folder)
    assert done.returncode == 0, done.stderr
    [wheel] = folder.glob("*.whl")
    subprocess.run(
        [sys.executable, "-m", "zipfile", "-e", str(wheel), str(folder / "site")], check=True
    )
    return folder / "site"


def test_an_installed_shrinker_makes_the_tree_in_an_empty_folder(
    pip: list[str], installed: Path, newest: Shrunk, tmp_path: Path
) -> None:
    """The same code in another place: what the checkout has computed for its tree is not computed
    again.
    """

    def shrinker(*words: str) -> subprocess.CompletedProcess[str]:
        return _run([sys.executable, "-m", "shrinker", *words], tmp_path, PYTHONPATH=str(installed))

    done = shrinker("shrink", "--json")
    assert done.returncode == 0, done.stderr[-4000:]
    document = json.loads(done.stdout)
    assert [(each["level"], each["passed"]) for each in document["summary"]["evidence"]] == [
        ("form", True),
        ("references", True),
        ("capabilities", True),
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dist", "reports"]
    out = tmp_path / "dist/sglang_deepseek"
    lock = (REPOSITORY / "reports/deepseek/shrink.lock.json").read_bytes()
    assert (
        (out / "SHRINK.json").read_bytes()
        == lock
        == (tmp_path / "reports/deepseek/shrink.lock.json").read_bytes()
    )
    assert shrinker("why", "sglang.srt.layers.moe.topk").returncode == 0

    # What building the package leaves is no part of the tree.
    built = _run([*pip, "--wheel-dir", str(tmp_path / "wheels"), str(out / "python")], tmp_path)
    assert built.returncode == 0, built.stderr
    assert len(list((tmp_path / "wheels").glob("sglang-*.whl"))) == 1
    judged = shrinker("verify", "--level", "form", "--json")
    assert judged.returncode == 0, judged.stdout[-2000:]
    subprocess.run(["git", "init", "--quiet", "--bare", str(tmp_path / "remote.git")], check=True)
    published = shrinker("publish", "--remote", str(tmp_path / "remote.git"), "--branch", "tree")
    assert published.returncode == 0, published.stderr
    assert shrinker("shrink", "--frozen").returncode == 0


def test_a_project_of_the_users_own_comes_first(installed: Path, tmp_path: Path) -> None:
    write(tmp_path, {"rules/profiles/mine.toml": 'description = "Mine."\ninclude = []\n'})
    found = _run(
        [
            sys.executable,
            "-m",
            "shrinker",
            "shrink",
            "--profile",
            "deepseek",
            "--upstream",
            "path:.",
        ],
        tmp_path,
        PYTHONPATH=str(installed),
    )
    assert found.returncode == 2 and "profiles here: mine" in found.stderr
