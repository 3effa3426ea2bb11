"""From the operators that kept code names to the sources that define them, and to all that those need.

A source needs what it includes, and every compiled source that may define a function which it mentions. Names decide, not types: what
two sources call alike keeps both.
"""

from collections.abc import Collection, Iterable, Iterator

from shrinker.program.native.library import Library
from shrinker.program.nodes import file_node, operator_node
from shrinker.values.graph import Edge
from shrinker.values.relations import grouped

_FEWEST = 3
"""Letters that a macro must spell out for a name that it puts together to be looked for."""


class NativeReach:
    """What is reached of a library."""

    def __init__(self, library: Library, words: Iterable[str], named: Collection[str]) -> None:
        """From names that kept Python mentions, and from sources that rules keep by hand."""
        self.library = library
        self.operators: set[str] = set()
        self.kept: set[str] = set()
        self.edges: set[Edge] = set()
        """Why sources stay that no build list keeps by itself."""
        self.calls: set[tuple[str, str, str]] = set()
        """The same of functions: a source, one that may define the function, and its name."""
        self._stack: list[str] = []
        self._unions: dict[tuple[str, str], frozenset[str]] = {}
        compiled = library.compiled
        built = sorted({each for path in compiled for each in library.closure(path)})
        rows = ((path, each) for path in built for each in library.sources[path].registrations)
        self.registered = grouped((registration.name, (path, registration)) for path, registration in rows)
        """Registrations by the name of the operator; what no build list leads to registers nothing."""
        self._defining = grouped((name, path) for path in compiled for name in self._of(path, "defined"))
        """Compiled sources by the names that they, or what they include, may define."""
        self._methods = grouped((name, path) for path in compiled for name in self._of(path, "methods"))
        """Compiled sources by the methods that they define outside of the class."""
        self._mentioning = grouped((name, path) for path in compiled for name in library.sources[path].words)
        """Compiled sources by the names that they themselves mention: macros define what no grammar sees."""
        for path in self._fixed(named):
            self._keep(path)
        self._name((*words, *self._uncut()))
        while self._stack:
            self._visit(self._stack.pop())
            if not self._stack:
                for path in self._emptied():
                    self._keep(path)

    def _of(self, path: str, what: str) -> frozenset[str]:
        """Union over a source and all that it includes."""
        if (path, what) not in self._unions:
            sources = (self.library.sources[each] for each in self.library.closure(path))
            self._unions[path, what] = frozenset().union(*(getattr(source, what) for source in sources))
        return self._unions[path, what]

    def _fixed(self, named: Collection[str]) -> Iterator[str]:
        """Sources that stay whatever is reached: what they do counts, or how they are named cannot be cut."""
        scripts = [text for path, text in self.library.texts.items() if not path.endswith((".cmake", "CMakeLists.txt"))]
        for path, source in self.library.sources.items():
            compiled, entries = path in self.library.compiled, self.library.entries.get(path, ())
            if (
                path in named
                or (compiled and source.acts)
                or any(not (entry.alone or entry.glob) or not compiled for entry in entries)
                or any(path.rpartition("/")[2] in text for text in scripts)
            ):
                yield path

    def _uncut(self) -> Iterator[str]:
        """Operators whose registration shares its lines with something else."""
        for name, places in self.registered.items():
            if not all(registration.lines.first for _, registration in places):
                yield name

    def _emptied(self) -> Iterator[str]:
        """Sources of build commands of which nothing would be left."""
        left = ((path, entries) for path, entries in self.library.entries.items() if path not in self.kept)
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
                defining = (each for function in registration.functions for each in self._definitions(function, path))
                for target in (path, *defining):
                    self._need(operator_node(name), target, "registration", path, registration.line)

    def _definitions(self, name: str, source: str) -> list[str]:
        """Compiled sources that may define a function which another one needs; none for what a third party defines."""
        if name in self._defining or name not in self._of(source, "promised"):
            return self._defining.get(name, [])
        return [path for path in self._mentioning.get(name, ()) if path != source]

    def _visit(self, path: str) -> None:
        for target, line in self.library.includes.get(path, ()):
            self._need(file_node(path), target, "include", path, line)
        self._name(self.library.sources[path].spoken)
        if path in self.library.compiled:
            for name, target in self._calls(path):
                self.calls.add((path, target, name))
                self._keep(target)

    def _calls(self, path: str) -> Iterator[tuple[str, str]]:
        """Functions that a compiled source may call in another one: what it mentions, and sees a declaration of."""
        words, promised = self._of(path, "words"), self._of(path, "promised")
        pasted = {pair for each in self.library.closure(path) for pair in self.library.sources[each].pasted}
        named = words | pasted_names(self._defining, pasted, words)
        found = {name: self._definitions(name, path) for name in named & promised}
        found |= {member: self._methods[member] for member in self._of(path, "members") & self._methods.keys()}
        for name, targets in sorted(found.items()):
            yield from ((name.rpartition("::")[2], target) for target in targets if target != path)


def pasted_names(names: Collection[str], patterns: Collection[tuple[str, str]], words: Collection[str]) -> set[str]:
    """Those of some names of functions that macros may put together, by `NativeSource.pasted`, of words that their sources say."""
    fixed = [(before, after) for before, after in patterns if len(before) + len(after) >= _FEWEST]
    found = {name for name in names if any(name.startswith(b) and name.endswith(a) and name != b + a for b, a in fixed)}
    if len(fixed) < len(patterns):
        # Two parameters side by side: both parts stand somewhere.
        found |= {name for name in names if any(name[:n] in words and name[n:] in words for n in range(1, len(name)))}
    return found
