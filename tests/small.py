"""What small worlds of tests are made of: files, rules as a file of rules holds them, repositories,
and a run that nobody watches.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """The folder, with a file by each of these names below it."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def read_archive(path: Path) -> dict[str, str]:
    """Files by their names: an archive is prose, then `-- NAME --` before the lines of each."""
    _, *parts = re.split(r"^-- (.+) --\n", path.read_text("utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def read_cases(path: Path, sign: str = " | ") -> dict[str, dict[str, str]]:
    """Files of an archive by the cases that they are of, in the order in which these come: the name
    of each is `CASE | FILE`.
    """
    found: dict[str, dict[str, str]] = {}
    for name, text in read_archive(path).items():
        case, _, file = name.partition(sign)
        found.setdefault(case, {})[file] = text
    return found


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


def rule(
    kind: str, name: str, /, *lines: str, why: str = "A rule of the test.", **keys: Any
) -> str:
    """One rule.

    Args:
        kind: of its table.
        name: its id.
        lines: keys with their values, as written.
        keys: values that JSON writes as TOML does: texts, numbers, truths, lists of these.
    """
    own = [f"{key} = {json.dumps(value)}" for key, value in {"id": name, "why": why}.items()]
    more = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join((f"[[{kind}]]", *own, *lines, *more, ""))


def python(
    folder: Path, *words: str | Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """What Python does with these words in a folder."""
    env = env or os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=300
    )


_OTHER = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
"""What a hook of git hands down: with it, a test would write into the repository that is being
committed to.
"""


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


def committed(folder: Path, files: Mapping[str, str | bytes], subject: str = "x") -> str:
    """The commit that these files, and whatever else changed in the repository, are put into."""
    git(write(folder, files), "add", "-A")
    git(folder, "commit", "-qm", subject)
    return git(folder, "rev-parse", "HEAD")


class Silent:
    """Takes what the pipeline tells of itself, and says nothing."""

    def phase(self, name: str) -> None: ...

    def note(self, line: str) -> None: ...

    def advance(self, done: int, total: int | None) -> None: ...
