"""Git on a repository, without letting the surroundings or the repository's settings interfere:
what a commit is, what happened between two of upstream, and one commit of a repository elsewhere,
fetched alone, without its history, and kept for the next run.
"""

import hashlib
import os
import re
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from shrinker.source import cache
from shrinker.source.spec import GitSpec, without_password
from shrinker.values.errors import InputError

_NUMBER = re.compile(r"\((#\d+)\)\s*$")
_COMMIT = "\x01"
_FULL_HASH = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")

_LOCAL_VARIABLES = frozenset(
    f"GIT_{name}"
    for name in (
        "DIR",
        "WORK_TREE",
        "INDEX_FILE",
        "OBJECT_DIRECTORY",
        "COMMON_DIR",
        "NAMESPACE",
        "PREFIX",
    )
)
_VARIABLES = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "LC_ALL": "C",
}


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that is there to be read."""

    repository: Path
    hash: str
    tags: tuple[str, ...]
    """Names of the tags on it, sorted."""


def git(
    *arguments: str,
    at: Path | None = None,
    given: str = "",
    variables: Mapping[str, str] | None = None,
) -> str:
    """Run git and return what it prints: nothing of a surrounding hook, no prompts, no search above
    `at`, only plain transports. What is not UTF-8 is escaped by surrogates. Raises InputError when
    git is not installed, or failed (its own words are in the message).

    Args:
        at: the repository.
        given: what it reads from its standard input.
        variables: of its environment, besides the usual ones.
    """
    outside = {name: value for name, value in os.environ.items() if name not in _LOCAL_VARIABLES}
    environment = outside | _VARIABLES | dict(variables or {})
    # fsmonitor names a program that git would run.
    words = ["git", "-c", "core.fsmonitor=false"]
    if at is not None:
        words += ["-C", str(at)]
        # A folder inside another project's checkout is no repository of its own.
        environment["GIT_CEILING_DIRECTORIES"] = str(at.resolve().parent)
    try:
        asked = given.encode("utf-8", "surrogateescape")
        done = subprocess.run(
            [*words, *arguments], input=asked, capture_output=True, env=environment
        )
    except FileNotFoundError as error:
        raise InputError(
            "git is not installed", "install git, or use UPSTREAM=release:VERSION"
        ) from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [
            f"exit {done.returncode}"
        ]
        hint = next(
            (line.strip() for line in said if "safe.directory" in line and "git config" in line), ""
        )
        raise InputError(
            f"git {arguments[0]}: {said[0].strip()}", hint or "check the repository and the commit"
        )
    return done.stdout.decode("utf-8", "surrogateescape")


def commit_at(repository: Path, name: str) -> Commit:
    """Return a commit of a repository; see `resolve`."""
    full = resolve(repository, name)
    return Commit(
        repository, full, tuple(sorted(git("tag", "--points-at", full, at=repository).split()))
    )


def resolve(repository: Path, name: str) -> str:
    """Full hash of a commit named by hash, abbreviated hash, tag or branch.

    Raises InputError: no such commit, or the abbreviation fits several.
    """
    try:
        return git(
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            f"{name}^{{commit}}",
            at=repository,
        ).strip()
    except InputError:
        raise InputError(
            (
                f"{repository.name}: no commit {name!r} in this repository (or the abbreviation "
                "fits several)"
            ),
            "fetch it there (a shallow clone holds few commits), or give all 40 digits",
        ) from None


@dataclass(frozen=True, slots=True)
class Told:
    """One commit."""

    hash: str
    number: str
    """``#123``, empty when the subject names no pull request."""
    subject: str
    paths: tuple[str, ...]


def history(repository: Path, old: str, new: str, folders: tuple[str, ...]) -> list[Told]:
    """Commits that `new` has and `old` has not (hashes, tags or branches), the newest first,
    without merges; those that change one of some folders or files. Raises InputError when this is
    no repository, or one of the commits is not there.
    """
    bounds = [resolve(repository, name) for name in (old, new)]
    form = f"--format={_COMMIT}%H%x00%s"
    log = git(
        *(
            "log",
            "--no-merges",
            "--no-renames",
            "--name-only",
            "-z",
            form,
            f"{bounds[0]}..{bounds[1]}",
            "--",
            *folders,
        ),
        at=repository,
    )
    found: list[Told] = []
    for row in log.split(_COMMIT)[1:]:
        name, subject, *paths = row.split("\0")
        number = _NUMBER.search(subject)
        named = tuple(filter(None, (path.strip("\n") for path in paths)))
        found.append(
            Told(name, number[1] if number else "", _NUMBER.sub("", subject).strip(), named)
        )
    return found


def fetched(spec: GitSpec, folder: Path, progress: cache.Progress) -> Commit:
    """Return the commit in the cache's clone of the URL; fetched when it is not there.

    Raises InputError: no network, or the repository has no such commit.
    """
    bare = folder / "git" / f"{hashlib.sha256(spec.repository.encode()).hexdigest()[:16]}.git"
    with cache.locked(bare):
        if not (bare / "HEAD").is_file():
            with cache.replacing(bare) as new:
                git("init", "--quiet", "--bare", str(new))
        if _FULL_HASH.fullmatch(spec.commit) and _is_there(bare, spec.commit):
            return commit_at(bare, spec.commit)
        progress(f"fetching {spec.commit} (that commit alone, no history)")
        try:
            refs = remote_refs(spec.repository)
            full = refs.get(spec.commit) or _remote_hash(spec, refs)
            git(
                "fetch",
                "--quiet",
                "--no-tags",
                "--depth=1",
                "--end-of-options",
                spec.repository,
                full,
                at=bare,
            )
        except InputError as error:
            raise InputError(
                f"git:{without_password(spec.repository)}@{spec.commit}: {error.message}",
                error.next_step or "check URL, commit and network",
            ) from error
        full = resolve(bare, full)
        for name, target in sorted(refs.items()):
            if name.startswith("v") and target == full:
                git("update-ref", f"refs/tags/{name}", full, at=bare)
        return commit_at(bare, full)


def _is_there(bare: Path, commit: str) -> bool:
    # The last object written by a fetch is the tree's; `-e` of the commit alone would do for a
    # whole fetch.
    with suppress(InputError):
        git("cat-file", "-e", f"{commit}^{{tree}}", at=bare)
        return True
    return False


def remote_refs(url: str) -> dict[str, str]:
    """Return short names of the remote's branches and tags to commits; a tag hides a branch of its
    name.

    Raises InputError.
    """
    refs: dict[str, str] = {}
    for line in git("ls-remote", "--heads", "--tags", "--end-of-options", url).splitlines():
        oid, _, ref = line.partition("\t")
        # `^{}` is the commit of an annotated tag and follows the tag's own line.
        refs[re.sub(r"^refs/(heads|tags)/|\^\{\}$", "", ref)] = oid
    return refs


def _remote_hash(spec: GitSpec, refs: Mapping[str, str]) -> str:
    """Full hash of an abbreviated one that a branch or tag ends at."""
    if _FULL_HASH.fullmatch(spec.commit):
        return spec.commit
    near = {oid for oid in refs.values() if oid.startswith(spec.commit)}
    if len(near) != 1:
        raise InputError(
            f"no branch or tag {spec.commit!r} there, and none that ends at such a commit",
            "give all 40 digits of the commit, a tag or a branch that exists",
        )
    return near.pop()
