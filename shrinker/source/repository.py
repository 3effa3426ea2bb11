"""Run git on a repository without letting the surroundings or the repository's settings interfere."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from shrinker.values.errors import InputError

_LOCAL_VARIABLES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
)


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that is there to be read."""

    repository: Path
    hash: str
    tags: tuple[str, ...]


def git(*arguments: str, at: Path | None = None) -> str:
    """Run git and return what it prints.

    Raises:
        InputError: git is not installed, or it failed (its own words are in the message).
    """
    words = command(at, arguments)
    try:
        done = subprocess.run(
            words, capture_output=True, env=environment(at), encoding="utf-8", errors="surrogateescape"
        )
    except FileNotFoundError as error:
        raise InputError("git is not installed", "install git, or use UPSTREAM=release:VERSION") from error
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
        hint = next((line.strip() for line in said if "safe.directory" in line and "git config" in line), "")
        raise InputError(f"git {arguments[0]}: {said[0].strip()}", hint or "check the repository and the commit")
    return done.stdout


def environment(at: Path | None) -> dict[str, str]:
    """Environment for git: nothing of a surrounding hook, no prompts, no search above `at`, only plain transports."""
    kept = {name: value for name, value in os.environ.items() if name not in _LOCAL_VARIABLES}
    extra = {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
        "LC_ALL": "C",
    }
    if at is not None:
        # A folder inside another project's checkout is no repository of its own.
        extra["GIT_CEILING_DIRECTORIES"] = str(at.resolve().parent)
    return kept | extra


def tags_at(repository: Path, commit: str) -> tuple[str, ...]:
    """Names of the tags on a commit, sorted."""
    return tuple(sorted(git("tag", "--points-at", commit, at=repository).split()))


def resolve(repository: Path, name: str) -> str:
    """Full hash of a commit named by hash, abbreviated hash, tag or branch.

    Raises:
        InputError: no such commit, or the abbreviation fits several.
    """
    try:
        return git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", at=repository).strip()
    except InputError:
        raise InputError(
            f"{repository.name}: no commit {name!r} in this repository (or the abbreviation fits several)",
            "fetch it there (a shallow clone holds few commits), or give all 40 digits",
        ) from None


def command(at: Path | None, arguments: tuple[str, ...]) -> list[str]:
    """The command line of a git command."""
    # fsmonitor names a program that git would run.
    return ["git", "-c", "core.fsmonitor=false", *(("-C", str(at)) if at is not None else ()), *arguments]
