"""Which upstreams are swept."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from shrinker.source.repository import git, resolve
from shrinker.source.spec import GitSpec, parse_spec
from shrinker.values.errors import InputError

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Chosen:
    """One upstream."""

    spec: str
    name: str
    """Without a place."""


def chosen(spec: str) -> Chosen:
    """By an UPSTREAM value. Raises InputError for one that is no release and no commit."""
    parsed = parse_spec(spec)
    if isinstance(parsed, Version):
        return Chosen(spec, f"release:{parsed}")
    if isinstance(parsed, GitSpec):
        commit = (
            parsed.commit
            if parsed.is_url
            else resolve(Path(parsed.repository).expanduser(), parsed.commit)
        )
        return Chosen(spec, f"git@{commit}")
    raise InputError(f"{spec} changes under the sweep", "give releases and commits")


def listed(path: Path) -> list[tuple[str, tuple[str, ...]]]:
    """Read a list of upstreams: an UPSTREAM value a line, with the profiles that follow it.

        release:0.5.22                              # the profile that is asked for
        release:0.5.23 deepseek deepseek-r1-nvfp4   # these two

    Empty lines and what follows ``#`` do not count.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        rows = [row.partition("#")[0].split() for row in path.read_text("utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}: cannot be read: {error}", "give a file with one UPSTREAM value a line"
        ) from error
    return [(row[0], tuple(row[1:])) for row in rows if row]


def spread(repository: Path, count: int, since: str, until: str) -> list[str]:
    """Commits of the main line, evenly by their number, the oldest first.

    Args:
        repository: a checkout or a bare git directory.
        count: how many; the first and the last of the time are among them when it is two or more.
        since: a date that git understands; of a day its noon (UTC), for which git would take this
            hour of that day.
        until: the same.

    Raises:
        InputError: no repository, or no commit in that time.
    """
    since, until = (
        f"{date}T12:00:00Z" if _DAY.fullmatch(date) else date for date in (since, until)
    )
    words = (
        "log",
        "--first-parent",
        "--reverse",
        "--format=%H",
        f"--since={since}",
        f"--until={until}",
        "HEAD",
    )
    rows = git(*words, at=repository).split()
    if not rows:
        raise InputError(
            f"no commit between {since} and {until}", "give another time, or another repository"
        )
    last = max(count - 1, 1)
    picked = dict.fromkeys(rows[round(n * (len(rows) - 1) / last)] for n in range(count))
    return [f"git:{repository}@{commit}" for commit in picked]
