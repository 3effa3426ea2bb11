"""The files of the package that are not modules, by base name, suffix and folder, so that no lookup scans them all."""

import re
from collections.abc import Iterable

from shrinker.program.nodes import suffix
from shrinker.values.relations import grouped
from shrinker.values.upstream import enclosing


class FileIndex:
    """Files that a string, a folder name or an include may mean."""

    def __init__(self, paths: Iterable[str]) -> None:
        """Paths are in the layout of the repository."""
        ordered = sorted(paths)
        self.by_base = grouped((path.rpartition("/")[2], path) for path in ordered)
        """Base name to paths, sorted."""
        self.bases_by_suffix = grouped((suffix(base), base) for base in sorted(self.by_base))
        """Suffix to the distinct base names that end in it."""
        self.by_folder = grouped((folder, path) for path in ordered for folder in enclosing(path, "/"))
        """Folder to all files below it at any depth."""
        self.folders_by_base = grouped((folder.rpartition("/")[2], folder) for folder in sorted(self.by_folder))
        """Last component of a folder to the folders that hold such files at any depth."""


def nearest(candidates: Iterable[str], folder: str) -> tuple[str, list[str]]:
    """The candidates below `folder`, else below its parent, and so on upwards.

    Returns:
        The folder at which some were found (``""`` when none is) and those found, in their order.
    """
    pool = list(candidates)
    for level in enclosing(f"{folder}/", "/") if pool else ():
        if found := [path for path in pool if path.startswith(f"{level}/")]:
            return level, found
    return "", pool


def glob_pattern(text: str) -> re.Pattern[str]:
    """Compile text in which ``*`` stands for any characters but ``/``."""
    return re.compile("[^/]*".join(map(re.escape, text.split("*"))))
