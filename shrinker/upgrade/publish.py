"""Commit a generated tree to a branch of a repository of the user's: linear history, and never by force.

The tree object is made of the bytes alone (plain files, no attributes, no filters, no settings of the machine), so that
the same bytes have the same tree hash everywhere.
"""

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from shrinker.source.repository import git
from shrinker.values.contents import MANIFEST, contents, foreign
from shrinker.values.errors import InputError
from shrinker.values.manifest import Manifest

_MODE = "100644"
_NOBODY = {"GIT_AUTHOR_NAME": "shrinker", "GIT_AUTHOR_EMAIL": "shrinker@localhost"}


@dataclass(frozen=True, slots=True)
class Published:
    """What stands on the branch now."""

    commit: str
    tree: str
    new: bool
    """False when the branch had this tree already."""


def publish(out: Path, manifest: Manifest, remote: str, branch: str) -> Published:
    """Commit a tree on top of a branch, and push it.

    Args:
        out: the generated tree.
        manifest: of that tree.
        remote: a URL or a folder.
        branch: made when it is not there.

    Raises:
        InputError: the tree is not what its manifest says, the branch holds something else, or it moved meanwhile.
    """
    git("check-ref-format", "--branch", branch)
    if branch.startswith("-") or remote.startswith("-"):
        raise InputError("a remote or a branch cannot start with `-`", "write ./-name")
    # A folder is meant from here, and git would look for it from the scratch folder.
    place = str(Path(remote).expanduser().absolute()) if Path(remote).expanduser().exists() else remote
    paths = _checked(out, manifest)
    with tempfile.TemporaryDirectory(prefix="shrinker-publish-") as name:
        bare = Path(name)
        git("init", "--quiet", "--bare", str(bare))
        tree = _tree(bare, out, paths)
        tip = _tip(bare, place, branch)
        if tip is not None:
            if git("rev-parse", f"{tip}^{{tree}}", at=bare).strip() == tree:
                return Published(tip, tree, False)
            _refuse_foreign(bare, tip, branch)
        words = ("commit-tree", tree, *(("-p", tip) if tip is not None else ()), "-F", "-")
        commit = git(*words, at=bare, given=_message(manifest), variables=_identity(out)).strip()
        try:
            git("push", "--quiet", "--no-force", place, f"{commit}:refs/heads/{branch}", at=bare)
        except InputError as error:
            raise InputError(
                f"{branch} was not moved: {error.message}",
                "somebody else may have moved it meanwhile: run it again; nothing is ever pushed by force",
            ) from error
        return Published(commit, tree, True)


def _checked(out: Path, manifest: Manifest) -> list[str]:
    """Paths of the tree; it must hold what the manifest says and nothing else."""
    paths = sorted([*(file.path for file in manifest.files), MANIFEST])
    odd = sorted({*foreign(out), *set(paths).difference(contents(out))})
    if odd:
        raise InputError(f"{out}: {odd[0]} is not as {MANIFEST} says", "generate the tree again with `make shrink`")
    return paths


def _tree(bare: Path, out: Path, paths: list[str]) -> str:
    listed = "".join(f"{out / path}\n" for path in paths)
    hashes = git("hash-object", "-w", "--no-filters", "--stdin-paths", at=bare, given=listed).split()
    index = "".join(f"{_MODE} {oid}\t{path}\0" for oid, path in zip(hashes, paths, strict=True))
    git("update-index", "-z", "--index-info", at=bare, given=index)
    return git("write-tree", at=bare).strip()


def _tip(bare: Path, remote: str, branch: str) -> str | None:
    """Commit at the end of the branch, fetched; None when there is no such branch."""
    row = git("ls-remote", "--heads", "--", remote, f"refs/heads/{branch}").split()
    if not row:
        return None
    git("fetch", "--quiet", "--no-tags", "--depth=1", "--end-of-options", remote, f"refs/heads/{branch}", at=bare)
    return git("rev-parse", "FETCH_HEAD", at=bare).strip()


def _refuse_foreign(bare: Path, tip: str, branch: str) -> None:
    """A branch that holds anything else than generated trees is somebody's work."""
    names = git("ls-tree", "--name-only", tip, at=bare).split("\n")
    if MANIFEST not in names and any(names):
        raise InputError(
            f"{branch} holds something else than a generated tree (it has no {MANIFEST})",
            "choose another BRANCH, or make an empty one",
        )


def _message(manifest: Manifest) -> str:
    upstream = manifest.upstream
    trailers = [
        f"Upstream-Commit: {upstream.commit or upstream.spec}",
        f"Rules-Hash: {manifest.rules_hash}",
        f"Shrinker-Version: {manifest.tool_version}",
    ]
    where = f"release {upstream.version}" if upstream.version else (upstream.commit or upstream.spec)[:12]
    return "\n".join([f"SGLang {where}, profile {manifest.profile}", "", *trailers]) + "\n"


def _identity(out: Path) -> dict[str, str]:
    """The user's own, as git knows it where the tree lies; a machine without one commits as the tool."""
    found: dict[str, str] = {}
    for key, name in (("user.name", "NAME"), ("user.email", "EMAIL")):
        known = os.environ.get(f"GIT_AUTHOR_{name}") or _NOBODY[f"GIT_AUTHOR_{name}"]
        if not os.environ.get(f"GIT_AUTHOR_{name}"):
            with contextlib.suppress(InputError):
                known = git("config", "--get", key, at=out).strip() or known
        found |= {f"GIT_AUTHOR_{name}": known, f"GIT_COMMITTER_{name}": known}
    return found
