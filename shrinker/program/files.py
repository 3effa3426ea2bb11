"""The files of the package that are not modules, by base name, suffix and folder, so that no lookup scans them all."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from shrinker.program.nodes import suffix


@dataclass(frozen=True)
class FileIndex:
    """Files that a string, a folder name or an include may mean."""

    by_base: Mapping[str, tuple[str, ...]]
    """Base name to paths, sorted."""
    bases_by_suffix: Mapping[str, tuple[str, ...]]
    """Suffix to the distinct base names that end in it."""
    folders_by_base: Mapping[str, tuple[str, ...]]
    """Last component of a folder to the folders that hold such files at any depth."""
    by_folder: Mapping[str, tuple[str, ...]]
    """Folder to all files below it at any depth."""


def index_files(paths: Iterable[str]) -> FileIndex:
    """Index paths (repository layout, posix)."""
    by_base: dict[str, list[str]] = {}
    by_suffix: dict[str, set[str]] = {}
    by_folder: dict[str, list[str]] = {}
    for path in sorted(paths):
        folder, _, base = path.rpartition("/")
        by_base.setdefault(base, []).append(path)
        by_suffix.setdefault(suffix(path), set()).add(base)
        while folder:
            by_folder.setdefault(folder, []).append(path)
            folder = folder.rpartition("/")[0]
    folders: dict[str, list[str]] = {}
    for folder in sorted(by_folder):
        folders.setdefault(folder.rpartition("/")[2], []).append(folder)
    return FileIndex(
        by_base={k: tuple(v) for k, v in by_base.items()},
        bases_by_suffix={k: tuple(sorted(v)) for k, v in by_suffix.items()},
        folders_by_base={k: tuple(v) for k, v in folders.items()},
        by_folder={k: tuple(v) for k, v in by_folder.items()},
    )


def nearest(candidates: Iterable[str], folder: str) -> tuple[str, list[str]]:
    """The candidates below `folder`, else below its parent, and so on upwards.

    Returns:
        The folder at which some were found (``""`` when none is) and those found, in their order.
    """
    pool = list(candidates)
    level = folder
    while level:
        found = [path for path in pool if path.startswith(level + "/")]
        if found:
            return level, found
        level = level.rpartition("/")[0]
    return "", pool


def glob_pattern(text: str) -> re.Pattern[str]:
    """Compile text in which ``*`` stands for any characters but ``/``."""
    return re.compile("[^/]*".join(re.escape(part) for part in text.split("*")))
