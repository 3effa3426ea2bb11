"""Commit a generated tree to a branch of a repository of the user's: linear history, and never by
force.

The tree object is made of the bytes alone (plain files, no attributes, no filters, no settings of
the machine), so that the same bytes have the same tree hash everywhere.
"""

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from shrinker.source.repository import git
from shrinker.values.errors import InputError
from shrinker.values.manifest import MANIFEST, Manifest, contents, foreign

_MODE = "100644"
_NOBODY = {"NAME": "shrinker", "EMAIL": "shrinker@localhost"}


@dataclass(frozen=True, slots=True)
class Published:
    """What stands on the branch now."""

    commit: str
    tree: str
    new: bool
    """False when the branch had this tree already."""


def publish(out: Path, manifest: Manifest, remote: str, branch: str) -> Published:
    """Commit a tree on top of a branch of a remote (a URL or a folder), which is made when it is
    not there, and push it. Raises InputError when the tree is not what its manifest says, the
    branch holds something else, or it moved meanwhile.
    """
    git("check-ref-format", "--branch", branch)
    if branch.startswith("-") or remote.startswith("-"):
        raise InputError("a remote or a branch cannot start with `-`", "write ./-name")
    # A folder is meant from here, and git would look for it from the scratch folder.
    place = (
        str(Path(remote).expanduser().absolute()) if Path(remote).expanduser().exists() else remote
    )
    paths = _checked(out, manifest)
    with tempfile.TemporaryDirectory(prefix="shrinker-publish-") as name:
        bare = Path(name)
        git("init", "--quiet", "--bare", str(bare))
        tree = _tree(bare, out, paths)
        tip = _tip(bare, place, branch)
        if tip is not None:
            if git("rev-parse", f"{tip}^{{tree}}", at=bare).strip() == tree:
                return Published(tip, tree, False)
            # A branch that holds anything else than generated trees is somebody's work.
            names = git("ls-tree", "--name-only", tip, at=bare).split("\n")
            if MANIFEST not in names and any(names):
                message = (
                    f"{branch} holds something else than a generated tree (it has no {MANIFEST})"
                )
                raise InputError(message, "choose another BRANCH, or make an empty one")
        words = ("commit-tree", tree, *(("-p", tip) if tip is not None else ()), "-F", "-")
        commit = git(*words, at=bare, given=_message(manifest), variables=_identity(out)).strip()
        try:
            git("push", "--quiet", "--no-force", place, f"{commit}:refs/heads/{branch}", at=bare)
        except InputError as error:
            again = (
                "somebody else may have moved it meanwhile: run it again; nothing is ever pushed "
                "by force"
            )
            raise InputError(f"{branch} was not moved: {error.message}", again) from error
        return Published(commit, tree, True)


def _checked(out: Path, manifest: Manifest) -> list[str]:
    """Return paths of the tree; it must hold what the manifest says and nothing else."""
    paths = sorted([*(file.path for file in manifest.files), MANIFEST])
    odd = sorted({*foreign(out), *set(paths).difference(contents(out))})
    if odd:
        raise InputError(
            f"{out}: {odd[0]} is not as {MANIFEST} says",
            "generate the tree again with `make shrink`",
        )
    return paths


def _tree(bare: Path, out: Path, paths: list[str]) -> str:
    listed = "".join(f"{out / path}\n" for path in paths)
    hashes = git(
        "hash-object", "-w", "--no-filters", "--stdin-paths", at=bare, given=listed
    ).split()
    index = "".join(f"{_MODE} {oid}\t{path}\0" for oid, path in zip(hashes, paths, strict=True))
    git("update-index", "-z", "--index-info", at=bare, given=index)
    return git("write-tree", at=bare).strip()


def _tip(bare: Path, remote: str, branch: str) -> str | None:
    """Commit at the end of the branch, fetched; None when there is no such branch."""
    ref = f"refs/heads/{branch}"
    if not git("ls-remote", "--heads", "--", remote, ref).strip():
        return None
    git("fetch", "--quiet", "--no-tags", "--depth=1", "--end-of-options", remote, ref, at=bare)
    return git("rev-parse", "FETCH_HEAD", at=bare).strip()


def _message(manifest: Manifest) -> str:
    upstream = manifest.upstream
    commit = upstream.commit or upstream.spec
    where = f"release {upstream.version}" if upstream.version else commit[:12]
    return (
        f"SGLang {where}, profile {manifest.profile}\n\nUpstream-Commit: {commit}\n"
        f"Rules-Hash: {manifest.rules_hash}\nShrinker-Version: {manifest.tool_version}\n"
    )


def _identity(out: Path) -> dict[str, str]:
    """Return the user's own, as git knows it where the tree lies; a machine without one commits as
    the tool.
    """
    found: dict[str, str] = {}
    for name, nobody in _NOBODY.items():
        known = os.environ.get(f"GIT_AUTHOR_{name}", "")
        with contextlib.suppress(InputError):
            known = known or git("config", "--get", f"user.{name.lower()}", at=out).strip()
        found |= dict.fromkeys((f"GIT_AUTHOR_{name}", f"GIT_COMMITTER_{name}"), known or nobody)
    return found
