"""One commit of a repository elsewhere: fetched alone, without its history, and kept for the next run."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from shrinker.source import cache
from shrinker.source.repository import Commit, git, resolve, tags_at
from shrinker.source.spec import GitSpec
from shrinker.values.errors import InputError

_FULL_HASH = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


def fetched(spec: GitSpec, folder: Path, progress: Callable[[str], None]) -> Commit:
    """The commit in the cache's clone of the URL; fetched when it is not there.

    Args:
        spec: with a URL.
        folder: the cache folder.
        progress: told when the network is used.

    Raises:
        InputError: no network, or the repository has no such commit.
    """
    bare = folder / "git" / f"{hashlib.sha256(spec.repository.encode()).hexdigest()[:16]}.git"
    with cache.locked(bare):
        if not (bare / "HEAD").is_file():
            with cache.replacing(bare) as new:
                git("init", "--quiet", "--bare", str(new))
        if _FULL_HASH.fullmatch(spec.commit) and _is_there(bare, spec.commit):
            return Commit(bare, spec.commit, tags_at(bare, spec.commit))
        progress(f"fetching {spec.commit} (that commit alone, no history)")
        try:
            refs = _remote_refs(spec.repository)
            full = refs.get(spec.commit) or _remote_hash(spec, refs)
            git("fetch", "--quiet", "--no-tags", "--depth=1", "--end-of-options", spec.repository, full, at=bare)
        except InputError as error:
            raise InputError(
                f"git:{_shown(spec.repository)}@{spec.commit}: {error.message}",
                error.next_step or "check URL, commit and network",
            ) from error
        full = resolve(bare, full)
        for name, target in sorted(refs.items()):
            if name.startswith("v") and target == full:
                git("update-ref", f"refs/tags/{name}", full, at=bare)
        return Commit(bare, full, tags_at(bare, full))


def _is_there(bare: Path, commit: str) -> bool:
    try:
        # The last object written by a fetch is the tree's; `-e` of the commit alone would do for a whole fetch.
        git("cat-file", "-e", f"{commit}^{{tree}}", at=bare)
    except InputError:
        return False
    return True


def _remote_refs(url: str) -> dict[str, str]:
    """Short names of the remote's branches and tags to commits; a tag hides a branch of its name."""
    refs: dict[str, str] = {}
    for line in git("ls-remote", "--heads", "--tags", "--end-of-options", url).splitlines():
        oid, _, ref = line.partition("\t")
        # `^{}` is the commit of an annotated tag and follows the tag's own line.
        refs[re.sub(r"^refs/(heads|tags)/|\^\{\}$", "", ref)] = oid
    return refs


def _remote_hash(spec: GitSpec, refs: Mapping[str, str]) -> str:
    """Full hash of an abbreviated one: by the refs, else by fetching the commits without their files."""
    if _FULL_HASH.fullmatch(spec.commit):
        return spec.commit
    near = {oid for oid in refs.values() if oid.startswith(spec.commit)}
    if len(near) == 1:
        return near.pop()
    if not re.fullmatch(r"[0-9a-f]{4,}", spec.commit):
        raise InputError(f"no branch or tag {spec.commit!r} there", "give a commit hash, a tag or a branch that exists")
    with tempfile.TemporaryDirectory() as scratch:
        commits = Path(scratch) / "commits.git"
        git("init", "--quiet", "--bare", str(commits))
        git(
            "fetch",
            "--quiet",
            "--no-tags",
            "--filter=tree:0",
            "--end-of-options",
            spec.repository,
            "+refs/heads/*:refs/heads/*",
            at=commits,
        )
        return resolve(commits, spec.commit)


def _shown(url: str) -> str:
    return re.sub(r"//[^/@]*@", "//", url)
