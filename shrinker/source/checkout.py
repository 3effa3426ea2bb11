"""A folder: the submodule, a checkout, or a plain copy of one. The files are copied to the cache, keyed by content."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from shrinker.source import cache, declared, layout
from shrinker.source.cache import Progress, Writer
from shrinker.source.git import version_of
from shrinker.source.pins import Pins
from shrinker.source.repository import Commit, commit_at, git
from shrinker.values.errors import InputError
from shrinker.values.upstream import PACKAGE_PREFIX, DeclaredPackage, Identity, UpstreamTree


def open_folder(
    kind: Literal["submodule", "path"], folder: Path, where: str, pins: Pins, store: Path, progress: Progress
) -> UpstreamTree:
    """The tree of a folder.

    Args:
        kind: what it was asked for as.
        folder: in the layout of upstream's repository.
        where: what to call it in messages.

    Raises:
        InputError: not there, or not SGLang.
    """
    if not folder.is_dir():
        raise InputError(f"{where}: there is no such folder", "give a checkout of SGLang")
    if not (folder / PACKAGE_PREFIX / "__init__.py").is_file():
        raise InputError(
            f"{where} is not SGLang: it has no {PACKAGE_PREFIX}__init__.py",
            "give the top folder of a checkout of SGLang",
        )
    commit, dirty, sources = _repository(folder, where, progress)
    # Read once, so that an edit made while shrinker runs cannot mix two states of the folder.
    contents = {path: source.read_bytes() for path, source in sources.items()}
    facts = [f"{path}\t{hashlib.sha256(content).hexdigest()}" for path, content in contents.items()]

    def build(write: Writer) -> DeclaredPackage:
        if layout.PYPROJECT not in contents:
            progress(f"{where}: no {layout.PYPROJECT}: no dependency is known")
        return declared.from_repository(contents.items(), write, where)

    found = cache.tree(store, cache.tree_key("folder", *facts), build, where)
    if commit is None:
        return UpstreamTree(Identity(kind, kind, None, None, dirty), *found)
    if kind == "submodule" and commit.hash != pins.submodule_commit:
        progress(f"{where} is at {commit.hash[:12]}, not at the pinned {pins.submodule_commit[:12]}")
    if dirty:
        progress(f"{where} differs from its commit {commit.hash[:12]}")
    spec = f"{kind}@{commit.hash}" if kind == "submodule" else kind
    version = None if dirty else version_of(commit, pins)
    return UpstreamTree(Identity(kind, spec, version, commit.hash, dirty), *found)


def _repository(folder: Path, where: str, progress: Progress) -> tuple[Commit | None, bool, dict[str, Path]]:
    """Git's tracked files when the folder is a checkout, else all."""
    if not (folder / ".git").exists():
        found = (path for top in layout.NEEDED for path in (folder / top, *(folder / top).rglob("*")))
        return None, True, _inside(folder, (path.relative_to(folder).as_posix() for path in found))
    head = git("rev-parse", "--verify", "--end-of-options", "HEAD^{commit}", at=folder).strip()
    sources = _inside(folder, git("ls-files", "-z", "--", *layout.NEEDED, at=folder).split("\0"))
    command = ("status", "--porcelain=v1", "-z", "--ignore-submodules=all", "--", *layout.NEEDED)
    status = git(*command, at=folder).split("\0")
    new = sum(row.startswith("??") for row in status)
    if new:
        progress(f"{where}: {new} untracked files or folders are not read (`git add` them to include them)")
    dirty = any(row and not row.startswith("??") for row in status)
    return commit_at(folder, head), dirty, sources


def _inside(folder: Path, paths: Iterable[str]) -> dict[str, Path]:
    """Regular files of the tree; a link counts as the file that it names when that lies in the folder, too.

    Tracked files that were deleted are left out (and make the checkout dirty).
    """
    real = folder.resolve()
    wanted = ((path, folder / path) for path in sorted(paths) if layout.in_tree(path))
    return {path: file for path, file in wanted if file.is_file() and file.resolve().is_relative_to(real)}
