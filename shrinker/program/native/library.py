"""One kernel library as its build sees it: sources, what they include, and the build lists that name them."""

import posixpath
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property

from shrinker.cache import Cache
from shrinker.program.edges.data import include_edges
from shrinker.program.nodes import FileIndex, node_path, suffix
from shrinker.syntax.cmake import read_cmake
from shrinker.syntax.native.conditionals import without_refuted
from shrinker.syntax.native.reader import read_native
from shrinker.syntax.native.tokens import NativeSource
from shrinker.values.relations import reached
from shrinker.values.upstream import UpstreamTree

COMPILED = frozenset({"c", "cc", "cpp", "cxx", "cu"})
SOURCES = COMPILED | frozenset({"cuh", "h", "hh", "hpp", "hxx", "inl", "inc", "ipp"})
"""Suffixes of what a compiler of C++ or CUDA reads."""
_OWN = ("CMAKE_CURRENT_SOURCE_DIR", "CMAKE_CURRENT_LIST_DIR", "PROJECT_SOURCE_DIR", "CMAKE_SOURCE_DIR")
_HERE = (*(f"${{{name}}}/" for name in _OWN), "./")


@dataclass(frozen=True, slots=True)
class Entry:
    """A place in a build list that names a source."""

    path: str
    line: int
    alone: bool
    """True when the line holds nothing else."""
    glob: bool
    """True for a pattern, which then matches less."""
    command: tuple[int, int]
    """Line of the command around it, and how many arguments that has."""


@dataclass(frozen=True)
class Library:
    """Everything of one library that its rule keeps, before anything of it goes."""

    sources: Mapping[str, NativeSource]
    includes: Mapping[str, tuple[tuple[str, int], ...]]
    """Of each source the sources that it includes, with the line."""
    entries: Mapping[str, tuple[Entry, ...]]
    """Of each compiled source the places of build lists that name it."""
    texts: Mapping[str, str] = field(repr=False)
    """Of everything else that a build may read: lists, scripts, declarations of the package."""
    _closures: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    @cached_property
    def compiled(self) -> tuple[str, ...]:
        """Sources that a build list names and a compiler gets, sorted."""
        return tuple(path for path in self.entries if suffix(path) in COMPILED)

    def closure(self, path: str) -> tuple[str, ...]:
        """The file, and all that it includes."""
        if path not in self._closures:
            found = reached((path,), lambda each: (target for target, _ in self.includes.get(each, ())))
            self._closures[path] = tuple(found)
        return self._closures[path]


def read_library(
    tree: UpstreamTree, folder: str, package: str, kept: Collection[str], undefined: Collection[str], cache: Cache
) -> Library:
    """Read the sources and build lists in the folder of a library; the folder of its Python is no part of the build."""
    paths = sorted(path for path in kept if path.startswith(f"{folder}/"))
    own = [path for path in paths if suffix(path) in SOURCES]
    index = FileIndex(own)
    builds = [path for path in paths if _is_build(path) and not path.startswith(f"{package}/")]
    texts = {path: tree.read(path).decode("utf-8", "replace") for path in builds}
    layer = cache.layer("native sources", *sorted(undefined))
    keys = {path: layer.key(tree.by_path[path].sha256) for path in own}

    def read(path: str) -> bytes:
        return without_refuted(tree.read(path), undefined)

    return Library(
        sources=layer.each(keys, lambda path: read_native(read(path))),
        includes={path: _includes(read(path).decode("utf-8", "replace"), path, index) for path in own},
        entries=_entries(folder, texts, frozenset(own)),
        texts=texts,
    )


def _includes(text: str, path: str, index: FileIndex) -> tuple[tuple[str, int], ...]:
    found = include_edges(text, path.rpartition("/")[0], index, every=True)
    return tuple((target, each.line) for each in found if (target := node_path(each.dst)) is not None)


def _is_build(path: str) -> bool:
    """True for a file that a build reads; no document."""
    name = path.rpartition("/")[2]
    return name in ("CMakeLists.txt", "Makefile") or suffix(path) in ("cmake", "toml", "sh", "py", "cfg", "in")


def _entries(folder: str, texts: Mapping[str, str], sources: frozenset[str]) -> dict[str, tuple[Entry, ...]]:
    found = defaultdict[str, list[Entry]](list)
    lists = (path for path in texts if path.rpartition("/")[2] == "CMakeLists.txt" or suffix(path) == "cmake")
    commands = [(path, command) for path in lists for command in read_cmake(texts[path])]
    for path, command in commands:
        # A list that another one includes sees that one's folder.
        around = [path.rpartition("/")[0], folder]
        globs = command.name == "file" and any(a.text.startswith("GLOB") for a in command.arguments)
        for argument in command.arguments:
            entry = Entry(path, argument.line, argument.alone, globs, (command.line, len(command.arguments)))
            for named in _named(argument.text, around, sources, globs=globs):
                found[named].append(entry)
    return {path: tuple(entries) for path, entries in sorted(found.items())}


def _named(text: str, around: list[str], sources: frozenset[str], *, globs: bool) -> list[str]:
    """Sources that an argument of a build list names."""
    for prefix in _HERE:
        text = text.removeprefix(prefix)
    if not globs:
        paths = (posixpath.normpath(posixpath.join(folder, text)) for folder in around)
        return [*dict.fromkeys(path for path in paths if path in sources)]
    return [path for path in sorted(sources) if any(fnmatchcase(path, f"{folder}/{text}") for folder in around)]
