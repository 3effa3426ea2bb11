"""What lies in a generated tree: what its manifest wrote, what building and running leave, and what is somebody's own."""

import fnmatch
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from shrinker.values.errors import InputError
from shrinker.values.manifest import Manifest

MANIFEST = "SHRINK.json"
HISTORY = ".git"
"""A tree may be a checkout of its owner's: what stands below this name at its root is never touched, and part of no tree."""
_LEFT_BY_TOOLS = ("*/__pycache__", "*.egg-info", "*/build/lib", "*/build/lib.*", "*/build/bdist.*", "*/build/temp.*")
"""Folders that Python and setuptools leave where a tree is run or built; whatever is in them can be made again."""


def contents(out: Path) -> Iterator[str]:
    """Paths of all files and links below a tree, in order, but for `.git` and what tools leave."""
    return (path for path in files_below(out, _passed_over) if path != HISTORY)


def files_below(root: Path, passed_over: Callable[[str], bool] = lambda folder: False) -> Iterator[str]:
    """Paths of all files and links below a folder, in order, but for those in some folders."""
    for folder, folders, names in os.walk(root):
        below = os.path.relpath(folder, root).replace(os.sep, "/")
        prefix = "" if below == "." else f"{below}/"
        folders[:] = sorted(name for name in folders if not passed_over(f"{prefix}{name}"))
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        yield from (f"{prefix}{name}" for name in sorted([*names, *links]))


def foreign(out: Path) -> Sequence[str]:
    """Paths below a folder, if it is there, that hold what no run of shrinker wrote there: added, or changed since; all paths where
    `SHRINK.json` is none."""
    try:
        written = Manifest.from_json((out / MANIFEST).read_text("utf-8"), str(out / MANIFEST)).files
    except (OSError, UnicodeDecodeError, InputError):
        return list(contents(out))
    known = {file.path: file.sha256 for file in written}
    return [path for path in contents(out) if path != MANIFEST and not _is_written(out / path, known.get(path))]


def _passed_over(path: str) -> bool:
    return path == HISTORY or any(fnmatch.fnmatchcase(f"/{path}", pattern) for pattern in _LEFT_BY_TOOLS)


def _is_written(file: Path, sha256: str | None) -> bool:
    return sha256 is not None and not file.is_symlink() and hashlib.sha256(file.read_bytes()).hexdigest() == sha256
