"""Retained size: the lines that leave with a file, a folder, a definition or a rule, because every
chain to them goes through it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from shrinker.program.nodes import path_node
from shrinker.program.symbols.why import Symbols
from shrinker.program.ways import Cuts
from shrinker.values.relations import grouped

_AT_NEED = frozenset({"import-local", "import-type", "package", "string", "walk"})
"""Kinds of edges by which nothing runs before it is asked for."""
_TOP = 3
"""Folders of the path of a package's top, which holds everything."""
_MOST = 12
"""Rows of a list."""
Leaving = tuple[str, int, int]
"""Path of a file or, with a slash, of a folder, else the id of a rule that names roots; files and
lines that would leave with it.
"""


class Retained:
    """The file graph of one run."""

    def __init__(self, data: Mapping[str, Any], lines: Mapping[str, int]) -> None:
        """Of the saved graph, and the lines of each kept file in the generated tree."""
        self._data, self._lines = data, lines
        self._number = {name: number for number, name in enumerate(data["nodes"])}
        self.at: dict[str, int] = {path: self._number[path_node(path)] for path in data["kept"]}
        self._path = {number: path for path, number in self.at.items()}
        self.starts = set(self._number.values()).difference(edge[1] for edge in data["edges"])
        """Numbers of nodes that nothing leads to."""
        self._cuts = Cuts(len(self._number), data["edges"], self.starts)

    def with_paths(self, paths: Collection[str]) -> list[str]:
        """Return paths that leave with some kept files, themselves included."""
        return self.paths(self._cuts.leaving({self.at[path] for path in paths}))

    def with_rule(self, rule: str) -> list[str]:
        """Return paths that leave with a rule that names roots."""
        number = self._number.get(f"root:{rule}")
        return self.paths(self._cuts.leaving({number})) if number is not None else []

    def paths(self, numbers: Iterable[int]) -> list[str]:
        """Return paths of those nodes that are kept files, sorted."""
        return sorted(self._path[number] for number in numbers if number in self._path)

    def size(self, paths: Collection[str]) -> tuple[int, int]:
        """Return how many files and lines some paths are."""
        return len(paths), sum(self._lines.get(path, 0) for path in paths)

    def optional(self, most: int = 20) -> list[Leaving]:
        """Return the largest that a user could decide to do without: what nothing runs before it is
        asked for, and what only a rule names.

        What leaves with a larger one is not told again.
        """
        found = [
            ((name, *self.size(paths)), frozenset(paths))
            for name, paths in self._choices()
            if paths
        ]
        chosen: list[tuple[Leaving, frozenset[str]]] = []
        for leaving, paths in sorted(found, key=lambda row: (-row[0][2], row[0][0])):
            if not any(paths <= other for _, other in chosen):
                chosen.append((leaving, paths))
        return [leaving for leaving, _ in chosen[:most]]

    def _choices(self) -> Iterator[tuple[str, list[str]]]:
        inside: dict[str, set[int]] = defaultdict(set)
        for path, number in self.at.items():
            parts = path.split("/")
            for name in (
                path,
                *("/".join(parts[:depth]) + "/" for depth in range(_TOP, len(parts))),
            ):
                inside[name].add(number)
        kinds, edges = self._data["kinds"], self._data["edges"]
        outside = grouped(
            (target, (source, kinds[kind] in _AT_NEED)) for source, target, kind, *_ in edges
        )
        for name, numbers in inside.items():
            entered = [
                later
                for n in numbers
                for source, later in outside.get(n, ())
                if source not in numbers
            ]
            if entered and all(entered):
                yield name, self.paths(self._cuts.leaving(numbers))
        for node, number in self._number.items():
            if node.startswith("root:"):
                yield node.removeprefix("root:"), self.paths(self._cuts.leaving({number}))


def several(count: int, thing: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def files_told(paths: Collection[str], lines: Mapping[str, int]) -> Iterator[str]:
    """Yield some files in words: how many, how many lines, and the largest."""
    yield f"{several(len(paths), 'file')}, {several(sum(lines[path] for path in paths), 'line')}"
    yield from _largest([(lines[path], path) for path in paths] if len(paths) > 1 else [])


def units_told(symbols: Symbols, cut: Iterable[int], whole: Collection[str]) -> Iterator[str]:
    """Yield what leaves with some units in words: definitions and statements, but for those of
    files that leave as a whole.
    """
    gone = set(symbols.leaving(cut))
    found = [
        (unit.end_line - unit.line + 1, f"{symbols.path(n)}:{unit.line}  {unit.name}")
        for n, unit in enumerate(symbols.units)
        if n in gone
        and symbols.path(n) not in whole
        and unit.owner not in gone
        and unit.kind != "import"
    ]
    if found:
        lines = several(sum(count for count, _ in found), "line")
        yield (
            f"{'in files that stay, ' if whole else ''}{lines} of upstream, "
            f"{several(len(found), 'place')}"
        )
        yield from _largest(found)


def _largest(rows: Collection[tuple[int, str]]) -> Iterator[str]:
    """Yield lines and what has them, the most first."""
    ordered = sorted(rows, key=lambda row: (-row[0], row[1]))
    yield from (f"{count:>7,}  {place}" for count, place in ordered[:_MOST])
    if len(rows) > _MOST:
        yield f"… {len(rows) - _MOST:,} more"
