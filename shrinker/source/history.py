"""What happened between two commits of upstream: subjects, numbers and the files that each touched."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from shrinker.source.repository import git, resolve

_NUMBER = re.compile(r"\(#(\d+)\)\s*$")
_COMMIT = "\x01"


@dataclass(frozen=True, slots=True)
class Told:
    """One commit."""

    hash: str
    number: str
    """``#123``, empty when the subject names no pull request."""
    subject: str
    paths: tuple[str, ...]


def history(repository: Path, old: str, new: str, folders: tuple[str, ...]) -> list[Told]:
    """Commits that `new` has and `old` has not, the newest first, without merges.

    Args:
        repository: a checkout or a bare git directory that has both.
        old: hash, tag or branch.
        new: the same.
        folders: files and folders that count.

    Raises:
        InputError: no repository, or one of the commits is not there.
    """
    bounds = [resolve(repository, name) for name in (old, new)]
    form = f"--format={_COMMIT}%H%x00%s"
    log = git(
        *("log", "--no-merges", "--no-renames", "--name-only", "-z", form, f"{bounds[0]}..{bounds[1]}", "--", *folders),
        at=repository,
    )
    found: list[Told] = []
    for row in log.split(_COMMIT)[1:]:
        name, subject, *paths = row.split("\0")
        number = _NUMBER.search(subject)
        found.append(
            Told(
                name,
                f"#{number[1]}" if number else "",
                subject[: number.start()].strip() if number else subject.strip(),
                tuple(path.strip("\n") for path in paths if path.strip("\n")),
            )
        )
    return found
