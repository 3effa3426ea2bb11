"""Git in tests, with an identity of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.small import write

_OTHER = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
"""What a hook of git hands down: with it, a test would write into the repository that is being committed to."""


def without_other(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command that is about the repository it runs in."""
    return {name: value for name, value in environment.items() if name not in _OTHER}


def git(folder: Path, *words: str) -> str:
    """What a git command prints that must succeed."""
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *identity, *words],
        cwd=folder,
        env=without_other(os.environ),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def committed(folder: Path, files: Mapping[str, str], subject: str = "x") -> str:
    """The commit that these files, and whatever else changed in the repository, are put into."""
    git(write(folder, files), "add", "-A")
    git(folder, "commit", "-qm", subject)
    return git(folder, "rev-parse", "HEAD")
