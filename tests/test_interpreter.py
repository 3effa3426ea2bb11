"""Which Python the environment is made with: the fastest one that can run shrinker."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHOOSER = Path(__file__).parents[1] / ".ci/interpreter.py"
Fakes = dict[str, str]


def _chosen(folder: Path, fakes: Fakes) -> str | None:
    """The command that is chosen of some that answer the probe with these lines (`$0`: their own path)."""
    for name, answer in fakes.items():
        command = folder / name
        command.parent.mkdir(parents=True, exist_ok=True)
        command.write_text(f"#!/bin/sh\n{answer}\n")
        command.chmod(0o755)
    search = os.pathsep.join(dict.fromkeys(str((folder / name).parent) for name in fakes))
    done = subprocess.run(
        [sys.executable, "-I", CHOOSER], env={"PATH": search}, capture_output=True, text=True, check=False
    )
    assert done.returncode == (0 if done.stdout else 1), done.stderr
    return str(Path(done.stdout.strip()).relative_to(folder)) if done.stdout else None


@pytest.mark.parametrize(
    ("fakes", "chosen"),
    [
        # The first of the search path where no other is worth it.
        ({"a/python3": "echo 3 11 0.100 $0", "b/python3": "echo 3 11 0.098 $0"}, "a/python3"),
        ({"a/python3": "echo 3 11 0.100 $0", "b/python3": "echo 3 11 0.070 $0"}, "b/python3"),
        ({"a/python3.11": "echo 3 11 0.100 $0", "a/python3.13": "echo 3 13 0.080 $0"}, "a/python3.13"),
        # Not tested with the lock: only where there is no other.
        ({"a/python3": "echo 3 15 0.010 $0", "b/python3": "echo 3 11 0.100 $0"}, "b/python3"),
        ({"a/python3": "echo 3 15 0.010 $0"}, "a/python3"),
        # One that cannot run shrinker, one that answers something else, one that is not there.
        (
            {"a/python3": "exit 1", "b/python3": "echo Python 3.11; exit 0", "c/python3": "echo 3 11 0.1 $0"},
            "c/python3",
        ),
        ({"a/python3": "exit 1"}, None),
        ({"a/other": "echo 3 11 0.100 $0"}, None),
        # A folder of that name.
        ({"a/python3/x": "", "a/python3.11": "echo 3 11 0.100 $0"}, "a/python3.11"),
    ],
)
def test_the_fastest_is_taken(tmp_path: Path, fakes: Fakes, chosen: str | None) -> None:
    assert _chosen(tmp_path, fakes) == chosen


def test_a_manager_s_command_stands_for_what_it_starts(tmp_path: Path) -> None:
    """Its commands are called by other names than the interpreter, which is asked itself from then on."""
    real = {"real/python3.12": "echo 3 12 0.05 $0"}
    assert _chosen(tmp_path, {"a/python3": f"echo 3 12 0.05 {tmp_path}/real/python3.12"} | real) == "real/python3.12"


def test_a_real_interpreter_answers(tmp_path: Path) -> None:
    base = getattr(sys, "_base_executable", sys.executable)
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "python3").symlink_to(base)
    done = subprocess.run(
        [sys.executable, "-I", CHOOSER], env={"PATH": str(folder)}, capture_output=True, text=True, check=True
    )
    asked = [done.stdout.strip(), "-c", "import sys; print(sys.version_info[:2])"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip() == str(sys.version_info[:2])
