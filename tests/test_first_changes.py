"""The patches of docs/first-changes: each touches one room, and its tests fail without what it
does.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.small import python

REPOSITORY = Path(__file__).resolve().parents[1]
PATCHES = sorted((REPOSITORY / "docs/first-changes").glob("*.patch"))


def apply(checkout: Path, patch: Path, folder: str) -> None:
    """Apply what a patch says of a folder."""
    subprocess.run(
        ["git", "apply", f"--include={folder}/*", patch], cwd=checkout, check=True, timeout=60
    )


def passes(checkout: Path, files: list[str]) -> bool:
    done = python(checkout, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", *files)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.returncode == 0


def test_there_are_patches() -> None:
    assert {path.stem for path in PATCHES} == {"a-check", "a-construct", "a-platform"}


@pytest.mark.parametrize("patch", PATCHES, ids=lambda path: path.stem)
def test_a_first_change(tmp_path: Path, patch: Path) -> None:
    # Outside of a repository, `git apply` takes the folder that it is called in.
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    shutil.copy(REPOSITORY / "pyproject.toml", checkout)
    for name in ("shrinker", "rules", "tests"):
        shutil.copytree(REPOSITORY / name, checkout / name)
    touched = re.findall(r"^\+\+\+ b/(.+)$", patch.read_text("utf-8"), re.MULTILINE)
    rooms = {"/".join(path.split("/")[:2]) for path in touched if not path.startswith("tests/")}
    [room] = rooms
    assert room.startswith(("shrinker/", "rules/"))
    # An archive is a case of the test that folds all of them.
    files = {path for path in touched if path.endswith(".py") and path.startswith("tests/")}
    files |= {
        f"tests/fold/test_programs.py::test_program[{Path(p).stem}]"
        for p in touched
        if p.endswith(".txtar")
    }
    apply(checkout, patch, "tests")
    assert not passes(checkout, sorted(files))
    apply(checkout, patch, room)
    assert passes(checkout, sorted(files))
