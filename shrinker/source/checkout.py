"""A folder: the submodule, a checkout, or a plain copy of one.

The files are copied to the cache, keyed by content, so that an edit made while shrinker runs cannot
mix two states of the folder.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from shrinker.source import cache, declared, layout
from shrinker.source.cache import Materialised, Writer
from shrinker.source.repository import Commit, git, tags_at
from shrinker.values.errors import InputError
from shrinker.values.upstream import PACKAGE_PREFIX, DeclaredPackage


def open_folder(
    folder: Path, where: str, store: Path, progress: Callable[[str], None]
) -> tuple[Commit | None, bool, Materialised]:
    """The commit that a folder is a checkout of, whether it differs from that, and its tree.

    Args:
        folder: in the layout of upstream's repository.
        where: what to call it in messages.
        store: the cache folder.
        progress: told what a person should know.

    Raises:
        InputError: not there, not SGLang, or changed while it was read.
    """
    if not folder.is_dir():
        raise InputError(f"{where}: there is no such folder", "give a checkout of SGLang")
    if not (folder / PACKAGE_PREFIX / "__init__.py").is_file():
        raise InputError(
            f"{where} is not SGLang: it has no {PACKAGE_PREFIX}__init__.py",
            "give the top folder of a checkout of SGLang",
        )
    commit, dirty, sources = _repository(folder, where, progress)
    digests = {path: cache.sha256_of(source) for path, source in sources.items()}
    facts = [f"{path}\t{digest}" for path, digest in sorted(digests.items())]

    def build(write: Writer) -> DeclaredPackage:
        for path, source in sources.items():
            content = source.read_bytes()
            if hashlib.sha256(content).hexdigest() != digests[path]:
                raise InputError(
                    f"{where}: {path} changed while it was read", "run again when nothing writes to the folder"
                )
            write(path, content)
        if layout.PYPROJECT in sources:
            return declared.from_pyproject(sources[layout.PYPROJECT].read_bytes(), f"{where}: {layout.PYPROJECT}")
        progress(f"{where}: no {layout.PYPROJECT}: no dependency is known")
        return declared.UNDECLARED

    return commit, dirty, cache.tree(store, cache.tree_key("folder", *facts), build, where)


def _repository(
    folder: Path, where: str, progress: Callable[[str], None]
) -> tuple[Commit | None, bool, dict[str, Path]]:
    """Git's tracked files when the folder is a checkout, else all."""
    if not (folder / ".git").exists():
        return None, True, dict(_inside(folder, {*filter(layout.in_tree, _walk(folder))}))
    head = git("rev-parse", "--verify", "--end-of-options", "HEAD^{commit}", at=folder).strip()
    tracked = git("ls-files", "-z", "--", *layout.NEEDED, at=folder).split("\0")
    sources = dict(_inside(folder, {path for path in tracked if path and layout.in_tree(path)}))
    status = git("status", "--porcelain=v1", "-z", "--ignore-submodules=all", "--", *layout.NEEDED, at=folder).split(
        "\0"
    )
    new = sum(row.startswith("??") for row in status)
    if new:
        progress(f"{where}: {new} untracked files or folders are not read (`git add` them to include them)")
    dirty = any(row and not row.startswith("??") for row in status)
    return Commit(folder, head, tags_at(folder, head)), dirty, sources


def _walk(folder: Path) -> Iterator[str]:
    for top in layout.NEEDED:
        if (folder / top).is_file():
            yield top
        for parent, _, names in os.walk(folder / top):
            relative = Path(parent).relative_to(folder).as_posix()
            yield from (f"{relative}/{name}" for name in names)


def _inside(folder: Path, paths: set[str]) -> Iterator[tuple[str, Path]]:
    """Regular files of the folder; a link counts as the file it names when that lies in the folder too.

    Tracked files that were deleted are left out (and make the checkout dirty).
    """
    real = os.path.realpath(folder)
    inside: dict[str, bool] = {}
    for path in sorted(paths):
        source = os.path.join(folder, path)
        try:
            mode = os.lstat(source).st_mode
        except OSError:
            continue
        if stat.S_ISLNK(mode):
            if os.path.isfile(source) and _is_below(os.path.realpath(source), real):
                yield path, Path(source)
        elif stat.S_ISREG(mode):
            parent = os.path.dirname(source)
            if parent not in inside:
                inside[parent] = _is_below(os.path.realpath(parent), real)
            if inside[parent]:
                yield path, Path(source)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
