"""Data files and native sources that kept modules load, found by the strings that name them.

A string names a file by its base name or by the tail of its path; a pattern needs at least three literal
characters beyond the suffix. A string that names a folder keeps the files in it only where no string or
include names any of them more finely.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from shrinker.program.files import FileIndex, glob_pattern, nearest
from shrinker.program.nodes import DOCUMENT_SUFFIXES, Found, file_node, suffix
from shrinker.values.folded import FoldedModule
from shrinker.values.upstream import PACKAGE_PREFIX

_PLACEHOLDER = re.compile(r"\{[^{}/]*\}|%[sdr]")
_WIDE_FOLDERS = frozenset({PACKAGE_PREFIX.rstrip("/"), PACKAGE_PREFIX + "srt"})
"""Folders that hold so much that being below them says little about belonging together."""
_LITERALS = 3
_LONGEST = 300


class DataEdges:
    """Resolves strings against the files of one tree that are not modules."""

    def __init__(self, index: FileIndex) -> None:
        self._index = index
        self._lookup = lru_cache(maxsize=None)(self._lookup_uncached)

    def find(self, module: FoldedModule) -> Iterator[Found]:
        """Files that the module's strings name."""
        folder = module.path.rpartition("/")[0]
        for site in module.strings:
            exact, loose = self._lookup(site.text)
            if exact:
                level, chosen = nearest(exact, folder)
                weak = ""
                if level in _WIDE_FOLDERS and "/" not in site.text.strip("*/"):
                    weak = f"base name in the string {_short(site.text)} matches a file of another package"
            elif loose:
                level, chosen = nearest(loose, folder)
                weak = f"only the base name of the string {_short(site.text)} matches"
            else:
                continue
            for path in chosen:
                # `"README.md"` beside a checkpoint means no document of the package.
                if weak and suffix(path) in DOCUMENT_SUFFIXES:
                    continue
                yield Found(file_node(path), "data", site.line, weak)

    def folders(self, module: FoldedModule) -> Iterator[tuple[int, str, str]]:
        """Folders of files that the module's strings name: line, folder, and the string."""
        home = module.path.rpartition("/")[0]
        for site in module.strings:
            if len(site.text) > _LONGEST:
                continue
            parts = [part for part in site.text.split("/") if part.strip("*") and part != "."]
            if not parts or any("*" in part for part in parts):
                continue
            for folder in self._index.folders_by_base.get(parts[-1], ()):
                # Directly below a wide folder a bare word says too little: "test" may be a split of a data set.
                below = folder == f"{home}/{'/'.join(parts)}" and (home not in _WIDE_FOLDERS or "/" in site.text)
                deeper = (
                    home not in _WIDE_FOLDERS
                    and folder.startswith(home + "/")
                    and folder.endswith("/" + "/".join(parts))
                )
                if below or deeper:
                    yield site.line, folder, site.text

    def in_folder(self, folder: str) -> list[str]:
        """Files below a folder that a program could read."""
        return [p for p in self._index.by_folder.get(folder, ()) if suffix(p) not in DOCUMENT_SUFFIXES]

    def globbed(self, module: FoldedModule) -> frozenset[str]:
        """Suffixes that the module globs for (``*.json``), which keep whole folders that it names."""
        return frozenset(
            site.text.rpartition(".")[2].lower()
            for site in module.strings
            if "*." in site.text[-12:] and site.text.rpartition("/")[2].startswith("*.")
        )

    def _lookup_uncached(self, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Files whose path ends as the string does, and files of which only the base name does."""
        if len(text) > _LONGEST or "://" in text or "\n" in text:
            return (), ()
        base = text.rpartition("/")[2]
        if base in self._index.by_base:
            bases: Iterable[str] = (base,)
        else:
            text = re.sub(r"\*+", "*", _PLACEHOLDER.sub("*", text))
            base = text.rpartition("/")[2]
            ending = base.rpartition(".")[2].lower()
            if "*" not in base or "." not in base or ending not in self._index.bases_by_suffix:
                return (), ()
            if len(base.rpartition(".")[0].replace("*", "").strip()) < _LITERALS:
                return (), ()
            pattern = glob_pattern(base)
            bases = [name for name in self._index.bases_by_suffix[ending] if pattern.fullmatch(name)]
        candidates = [path for name in bases for path in self._index.by_base[name]]
        tail = re.compile("(?:.*/)?" + glob_pattern("/".join(_tail(text))).pattern)
        exact = tuple(path for path in candidates if tail.fullmatch(path))
        return exact, tuple(candidates) if not exact else ()


def _tail(text: str) -> list[str]:
    """The components after the last one that says nothing."""
    parts = text.split("/")
    for index in range(len(parts) - 1, -1, -1):
        if parts[index] in ("", ".", "..") or not parts[index].strip("*"):
            return parts[index + 1 :]
    return parts


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "…")
