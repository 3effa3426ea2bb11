"""The files of the package that are not modules, by base name, suffix and folder, so that no lookup scans them all."""

import re
from collections.abc import Iterable

from shrinker.program.nodes import suffix


class FileIndex:
    """Files that a string, a folder name or an include may mean."""

    def __init__(self, paths: Iterable[str]) -> None:
        """
        Args:
            paths: in the layout of the repository.
        """
        self.by_base: dict[str, list[str]] = {}
        """Base name to paths, sorted."""
        self.bases_by_suffix: dict[str, list[str]] = {}
        """Suffix to the distinct base names that end in it."""
        self.folders_by_base: dict[str, list[str]] = {}
        """Last component of a folder to the folders that hold such files at any depth."""
        self.by_folder: dict[str, list[str]] = {}
        """Folder to all files below it at any depth."""
        for path in sorted(paths):
            folder, _, base = path.rpartition("/")
            self.by_base.setdefault(base, []).append(path)
            while folder:
                self.by_folder.setdefault(folder, []).append(path)
                folder = folder.rpartition("/")[0]
        for base in sorted(self.by_base):
            self.bases_by_suffix.setdefault(suffix(base), []).append(base)
        for folder in sorted(self.by_folder):
            self.folders_by_base.setdefault(folder.rpartition("/")[2], []).append(folder)


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
