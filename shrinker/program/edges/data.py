"""Data files and native sources that kept modules load, found by the strings that name them.

A string names a file by its base name or by the tail of its path; a pattern needs at least three
literal characters beyond the suffix. A string that names a folder keeps the files in it only where
no string or include names any of them more finely. ``#include`` is resolved beside the file first,
then by the tail of the path.
"""

import posixpath
import re
from collections.abc import Container, Iterable, Iterator
from functools import lru_cache

from shrinker.program.nodes import (
    DOCUMENT_SUFFIXES,
    Found,
    by_base,
    file_node,
    glob_pattern,
    nearest,
    suffix,
)
from shrinker.values.folded import FoldedModule
from shrinker.values.relations import grouped
from shrinker.values.upstream import PACKAGE_PREFIX, enclosing

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{[^{}/]*\}|%[sdr]")
_WIDE_FOLDERS = frozenset({PACKAGE_PREFIX.rstrip("/"), PACKAGE_PREFIX + "srt"})
"""Folders that hold so much that being below them says little about belonging together."""
_LITERALS = 3
_LONGEST = 300


class DataEdges:
    """Resolves strings against the files of one tree that are not modules; no lookup scans them
    all.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        """Paths are in the layout of the repository."""
        ordered = sorted(paths)
        self.by_base = by_base(ordered)
        self._bases_by_suffix = grouped((suffix(base), base) for base in sorted(self.by_base))
        """Suffix to the distinct base names that end in it."""
        self._by_folder = grouped(
            (folder, path) for path in ordered for folder in enclosing(path, "/")
        )
        """Folder to all files below it at any depth."""
        self._folders_by_base = by_base(self._by_folder)
        """Last component of a folder to the folders that hold such files at any depth."""
        self._lookup = lru_cache(maxsize=None)(self._lookup_uncached)

    def find(self, module: FoldedModule) -> Iterator[Found]:
        """Yield files that the module's strings name or, where they are native source, include; and
        its stub.
        """
        folder, stub = module.path.rpartition("/")[0], f"{module.path}i"
        if stub in self.by_base.get(stub.rpartition("/")[2], ()):
            yield Found(file_node(stub), "data", 1)
        for site in module.strings:
            # `load_inline(cuda_sources="#include <x.cuh> …")`.
            rows = included(site.text, folder, self.by_base) if "#" in site.text else ()
            yield from (
                Found(file_node(path), "include", site.line + line - 1) for path, line in rows
            )
            exact, loose = self._lookup(site.text)
            if not loose:
                continue
            level, chosen = nearest(exact or loose, folder)
            weak = ""
            if not exact:
                weak = f"only the base name of the string {_short(site.text)} matches"
            elif level in _WIDE_FOLDERS and "/" not in site.text.strip("*/"):
                weak = (
                    f"base name in the string {_short(site.text)} matches a file of another package"
                )
            for path in chosen:
                # `"README.md"` beside a checkpoint means no document of the package.
                if not (weak and suffix(path) in DOCUMENT_SUFFIXES):
                    yield Found(file_node(path), "data", site.line, weak)

    def find_in_folders(self, module: FoldedModule, reached: Container[str]) -> Iterator[Found]:
        """Yield files in the folders that the module's strings name, but for documents: all where
        none of these nodes is `reached`, else those with a suffix that the module globs for
        (``*.json``).
        """
        home = module.path.rpartition("/")[0]
        bases = (site.text.rpartition("/")[2] for site in module.strings)
        globbed = {
            base.rpartition(".")[2].lower()
            for base in bases
            if base.startswith("*.") and "*." in base[-12:]
        }
        for site in module.strings:
            for folder in self._folders(site.text, home):
                inside = [p for p in self._by_folder[folder] if suffix(p) not in DOCUMENT_SUFFIXES]
                finer = any(file_node(path) in reached for path in inside)
                weak = f"only its folder is named, by the string {site.text!r}"
                found = (path for path in inside if not finer or suffix(path) in globbed)
                yield from (Found(file_node(path), "data", site.line, weak) for path in found)

    def _folders(self, text: str, home: str) -> Iterator[str]:
        """Yield folders of files that a string names in a module of the folder `home`."""
        parts = [part for part in text.split("/") if part.strip("*") and part != "."]
        if not parts or len(text) > _LONGEST or any("*" in part for part in parts):
            return
        tail, narrow = "/" + "/".join(parts), home not in _WIDE_FOLDERS
        for folder in self._folders_by_base.get(parts[-1], ()):
            # Directly below a wide folder a bare word says too little: "test" may be a split of a
            # data set.
            below = folder == home + tail and (narrow or "/" in text)
            if below or (narrow and folder.startswith(f"{home}/") and folder.endswith(tail)):
                yield folder

    def _lookup_uncached(self, text: str) -> tuple[list[str], list[str]]:
        """Return files whose path ends as the string does, and all of which the base name does."""
        if len(text) > _LONGEST or "://" in text or "\n" in text:
            return [], []
        bases = [text.rpartition("/")[2]]
        if bases[0] not in self.by_base:
            text = re.sub(r"\*+", "*", _PLACEHOLDER.sub("*", text))
            base = text.rpartition("/")[2]
            stem, _, ending = base.rpartition(".")
            if "*" not in base or len(stem.replace("*", "").strip()) < _LITERALS:
                return [], []
            pattern = glob_pattern(base)
            bases = [
                name
                for name in self._bases_by_suffix.get(ending.lower(), ())
                if pattern.fullmatch(name)
            ]
        candidates = [path for name in bases for path in self.by_base[name]]
        tail = re.compile("(?:.*/)?" + glob_pattern("/".join(_tail(text))).pattern)
        return [path for path in candidates if tail.fullmatch(path)], candidates


def _tail(text: str) -> list[str]:
    """Return the components after the last one that says nothing."""
    parts = text.split("/")
    dull = (
        number for number, part in enumerate(parts) if part in (".", "..") or not part.strip("*")
    )
    return parts[max(dull, default=-1) + 1 :]


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "…")


def included(
    text: str, folder: str, files: dict[str, list[str]], *, every: bool = False
) -> Iterator[tuple[str, int]]:
    """Yield files, of some by their base names, that a native source includes, or a string that
    holds source, each with the line; quoted names are looked up in the folder first. With `every`
    all files that an include may mean, not only the nearest.
    """
    for match in _INCLUDE.finditer(text) if "include" in text else ():
        line = 1 + text.count("\n", 0, match.start(1))
        for path in _resolve(match[2].strip(), match[1] == '"', folder, files, every):
            yield path, line


def _resolve(
    name: str, quoted: bool, folder: str, files: dict[str, list[str]], every: bool
) -> list[str]:
    candidates = files.get(name.rpartition("/")[2], ())
    beside = posixpath.normpath(f"{folder}/{name}")
    if quoted and beside in candidates:
        return [beside]
    tail = "/" + "/".join(part for part in name.split("/") if part not in ("", ".", ".."))
    found = [path for path in candidates if path.endswith(tail)]
    return found if every else nearest(found, folder)[1]
