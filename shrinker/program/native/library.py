"""One kernel library as its build sees it: sources, what they include, and the build lists that
name them. And from the operators that kept code names to the sources that define them, and to all
that those need.

A source needs what it includes, and every compiled source that may define a function which it
mentions. Names decide, not types: what two sources call alike keeps both.
"""

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from shrinker.cache import Cache
from shrinker.program.edges.data import included
from shrinker.program.nodes import by_base, file_node, suffix
from shrinker.ruleset import Companion
from shrinker.syntax.cmake import read_cmake
from shrinker.syntax.native.conditionals import without_refuted
from shrinker.syntax.native.reader import read_native
from shrinker.syntax.native.tokens import NativeSource
from shrinker.values.graph import Edge
from shrinker.values.relations import grouped, reached
from shrinker.values.upstream import UpstreamTree

COMPILED = frozenset({"c", "cc", "cpp", "cxx", "cu"})
SOURCES = COMPILED | frozenset({"cuh", "h", "hh", "hpp", "hxx", "inl", "inc", "ipp"})
"""Suffixes of what a compiler of C++ or CUDA reads."""
_OWN = (
    "CMAKE_CURRENT_SOURCE_DIR",
    "CMAKE_CURRENT_LIST_DIR",
    "PROJECT_SOURCE_DIR",
    "CMAKE_SOURCE_DIR",
)
_HERE = (*(f"${{{name}}}/" for name in _OWN), "./")
_FEWEST = 3
"""Letters that a macro must spell out for a name that it puts together to be looked for."""


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


class Library:
    """Everything of one library that its rule keeps, before anything of it goes."""

    def __init__(
        self,
        tree: UpstreamTree,
        rule: Companion,
        kept: Collection[str],
        undefined: Collection[str],
        cache: Cache,
    ) -> None:
        """Read the sources and build lists of a library; the folder of its Python is no part of the
        build.
        """
        self.tree = tree
        paths = sorted(path for path in kept if path.startswith(f"{rule.sources}/"))
        own = [path for path in paths if suffix(path) in SOURCES]
        files = by_base(own)
        builds = [
            path for path in paths if _is_build(path) and not path.startswith(f"{rule.folder}/")
        ]
        layer = cache.layer("native sources", *sorted(undefined))
        keys = {path: layer.key(tree.by_path[path].sha256) for path in own}

        def read(path: str) -> bytes:
            return without_refuted(tree.read(path), undefined)

        def includes(path: str) -> Iterator[tuple[str, int]]:
            return included(
                read(path).decode("utf-8", "replace"), path.rpartition("/")[0], files, every=True
            )

        self.sources: dict[str, NativeSource] = layer.each(
            keys, lambda path: read_native(read(path))
        )
        self.includes = {path: tuple(includes(path)) for path in own}
        """Of each source the sources that it includes, with the line."""
        self.texts = {path: tree.read(path).decode("utf-8", "replace") for path in builds}
        """Of everything else that a build may read: lists, scripts, declarations of the package."""
        self.entries = _entries(rule.sources, self.texts, frozenset(own))
        """Of each compiled source the places of build lists that name it."""
        self.compiled = tuple(path for path in self.entries if suffix(path) in COMPILED)
        """Sources that a build list names and a compiler gets, sorted."""

    def closure(self, path: str) -> Iterable[str]:
        """Return the file, and all that it includes."""
        return reached((path,), lambda each: (target for target, _ in self.includes.get(each, ())))


def _is_build(path: str) -> bool:
    """True for a file that a build reads; no document."""
    name = path.rpartition("/")[2]
    return name in ("CMakeLists.txt", "Makefile") or suffix(path) in (
        "cmake",
        "toml",
        "sh",
        "py",
        "cfg",
        "in",
    )


def _entries(
    folder: str, texts: Mapping[str, str], sources: frozenset[str]
) -> dict[str, tuple[Entry, ...]]:
    found = defaultdict[str, list[Entry]](list)
    lists = (
        path
        for path in texts
        if path.rpartition("/")[2] == "CMakeLists.txt" or suffix(path) == "cmake"
    )
    commands = [(path, command) for path in lists for command in read_cmake(texts[path])]
    for path, command in commands:
        # A list that another one includes sees that one's folder.
        around = [path.rpartition("/")[0], folder]
        globs = command.name == "file" and any(a.text.startswith("GLOB") for a in command.arguments)
        for argument in command.arguments:
            entry = Entry(
                path, argument.line, argument.alone, globs, (command.line, len(command.arguments))
            )
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
    return [
        path
        for path in sorted(sources)
        if any(fnmatchcase(path, f"{folder}/{text}") for folder in around)
    ]


# What is reached


class NativeReach:
    """What is reached of a library."""

    def __init__(self, library: Library, words: Iterable[str], named: Collection[str]) -> None:
        """From names that kept Python mentions, and from sources that rules keep by hand."""
        self.library = library
        self.operators: set[str] = set()
        self.kept: set[str] = set()
        self.edges: set[Edge] = set()
        """Why sources stay that no build list keeps by itself."""
        self._stack: list[str] = []
        self._unions: dict[tuple[str, str], frozenset[str]] = {}
        compiled = library.compiled
        built = sorted({each for path in compiled for each in library.closure(path)})
        rows = ((path, each) for path in built for each in library.sources[path].registrations)
        self.registered = grouped(
            (registration.name, (path, registration)) for path, registration in rows
        )
        """Registrations by the name of the operator; what no build list leads to registers nothing.
        """
        self._defining = grouped(
            (name, path) for path in compiled for name in self._of(path, "defined")
        )
        """Compiled sources by the names that they, or what they include, may define."""
        self._methods = grouped(
            (name, path) for path in compiled for name in self._of(path, "methods")
        )
        """Compiled sources by the methods that they define outside of the class."""
        self._mentioning = grouped(
            (name, path) for path in compiled for name in library.sources[path].words
        )
        """Compiled sources by the names that they themselves mention: macros define what no grammar
        sees.
        """
        for path in self._fixed(named):
            self._keep(path)
        # Or their registration shares its lines with something else.
        uncut = (
            name
            for name, places in self.registered.items()
            if not all(each.lines.first for _, each in places)
        )
        self._name((*words, *uncut))
        while self._stack:
            self._visit(self._stack.pop())
            if not self._stack:
                for path in self._emptied():
                    self._keep(path)

    def _of(self, path: str, what: str) -> frozenset[str]:
        """Union over a source and all that it includes."""
        if (path, what) not in self._unions:
            sources = (self.library.sources[each] for each in self.library.closure(path))
            self._unions[path, what] = frozenset().union(
                *(getattr(source, what) for source in sources)
            )
        return self._unions[path, what]

    def _fixed(self, named: Collection[str]) -> Iterator[str]:
        """Sources that stay whatever is reached: what they do counts, or how they are named cannot
        be cut.
        """
        scripts = [
            text
            for path, text in self.library.texts.items()
            if not path.endswith((".cmake", "CMakeLists.txt"))
        ]
        for path, source in self.library.sources.items():
            compiled, entries = path in self.library.compiled, self.library.entries.get(path, ())
            if (
                path in named
                or (compiled and source.acts)
                or any(not (entry.alone or entry.glob) or not compiled for entry in entries)
                or any(path.rpartition("/")[2] in text for text in scripts)
            ):
                yield path

    def _emptied(self) -> Iterator[str]:
        """Sources of build commands of which nothing would be left."""
        left = (
            (path, entries)
            for path, entries in self.library.entries.items()
            if path not in self.kept
        )
        named = ((path, entry) for path, entries in left for entry in entries if not entry.glob)
        commands = grouped(((entry.path, entry.command), path) for path, entry in named)
        for (_, (_, size)), paths in sorted(commands.items()):
            # The first argument names the list or the target.
            if len(paths) >= size - 1:
                yield from paths

    def _keep(self, path: str) -> None:
        if path not in self.kept:
            self.kept.add(path)
            self._stack.append(path)

    def _need(self, source: str, target: str, kind: str, path: str, line: int) -> None:
        """A source stays for something on a line of a path."""
        self.edges.add(Edge(source, file_node(target), kind, path, line))
        self._keep(target)

    def _name(self, words: Iterable[str]) -> None:
        """Operators that are among some words, and what they need."""
        for name in sorted(self.registered.keys() & set(words) - self.operators):
            self.operators.add(name)
            for path, registration in self.registered[name]:
                defining = (
                    each
                    for function in registration.functions
                    for each in self._definitions(function, path)
                )
                for target in (path, *defining):
                    self._need(f"operator:{name}", target, "registration", path, registration.line)

    def _definitions(self, name: str, source: str) -> list[str]:
        """Compiled sources that may define a function which another one needs; none for what a
        third party defines.
        """
        if name in self._defining or name not in self._of(source, "promised"):
            return self._defining.get(name, [])
        return [path for path in self._mentioning.get(name, ()) if path != source]

    def _visit(self, path: str) -> None:
        for target, line in self.library.includes.get(path, ()):
            self._need(file_node(path), target, "include", path, line)
        self._name(self.library.sources[path].spoken)
        if path in self.library.compiled:
            for name, target in self._calls(path):
                self._need(file_node(path), target, "call", path, self._line(path, name))

    def _line(self, path: str, name: str) -> int:
        """Return where a source, or else what it includes, first mentions a name; 1 where it is put
        together.
        """
        word = re.compile(rb"\b%s\b" % name.encode())
        for data in map(self.library.tree.read, self.library.closure(path)):
            if found := word.search(data):
                return data.count(b"\n", 0, found.start()) + 1
        return 1

    def _calls(self, path: str) -> Iterator[tuple[str, str]]:
        """Yield functions that a compiled source may call in another one: what it mentions, and
        sees a declaration of.
        """
        words, promised = self._of(path, "words"), self._of(path, "promised")
        pasted = {
            pair
            for each in self.library.closure(path)
            for pair in self.library.sources[each].pasted
        }
        named = words | pasted_names(self._defining, pasted, words)
        found = {name: self._definitions(name, path) for name in named & promised}
        found |= {
            member: self._methods[member]
            for member in self._of(path, "members") & self._methods.keys()
        }
        for name, targets in sorted(found.items()):
            yield from ((name.rpartition("::")[2], target) for target in targets if target != path)


def pasted_names(
    names: Collection[str], patterns: Collection[tuple[str, str]], words: Collection[str]
) -> set[str]:
    """Return those of some names of functions that macros may put together, by
    `NativeSource.pasted`, of words that their sources say.
    """
    fixed = [(before, after) for before, after in patterns if len(before) + len(after) >= _FEWEST]
    found = {
        name
        for name in names
        if any(name.startswith(b) and name.endswith(a) and name != b + a for b, a in fixed)
    }
    if len(fixed) < len(patterns):
        # Two parameters side by side: both parts stand somewhere.
        found |= {
            name
            for name in names
            if any(name[:n] in words and name[n:] in words for n in range(1, len(name)))
        }
    return found
