"""A saved search of symbols: its units, their names, and the edges between them.

Only the standard library is imported here: an answer takes less time than loading a graph library would.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from shrinker.program.cuts import Cuts
from shrinker.values.answers import Step
from shrinker.values.errors import InputError

_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Imported:
    """An import of upstream by which a module has a name."""

    path: str
    line: int
    name: str
    """As it was asked for, with the whole module."""
    bound: str
    """By the import; ``*`` for a star."""
    target: str
    """Dotted name where the module has it from."""
    unit: int | None
    """Number of the import; None when it went with what was decided."""


class Table:
    """What `symbol_data` made, to be looked up."""

    def __init__(self, data: dict[str, Any], edges: Callable[[], list[int]]) -> None:
        """
        Args:
            data: what `symbol_data` made.
            edges: reads all edges, which only some answers need.
        """
        self._read = edges
        self._data = data
        self._units: list[list[Any]] = data["units"]
        self._modules: list[list[str]] = data["modules"]
        self._others: list[str] = data["others"]

    def find(self, query: str) -> list[int]:
        """Symbols that a query names: ``module.Class.method``, an ending of it, or ``path:line``.

        Raises:
            InputError: it is the ending of several names.
        """
        query = query.strip().removeprefix("symbol:")
        path, _, line = query.rpartition(":")
        if path and line.isdigit():
            return self._at(path, int(line))
        exact = [n for n in range(len(self._units)) if self.name(n) == query]
        # A statement may bind a name beside others: a function in a `try`.
        modules = (module for module, _ in self._modules if query.startswith(f"{module}."))
        if exact := exact or [n for module in modules for n in self.named(module, query.removeprefix(f"{module}."))]:
            return exact
        found = [n for n, unit in enumerate(self._units) if unit[1] != "import" and self.name(n).endswith(f".{query}")]
        if not found and (around := self._unit_around(query)):
            return [n for n in range(len(self._units)) if self.name(n) == around]
        different = sorted({self.name(n) for n in found})
        if len(different) > 1:
            some = ", ".join(different[:_SHOWN]) + (" …" if len(different) > _SHOWN else "")
            raise InputError(f"{len(different)} symbols are named {query!r}: {some}", "give the module, too")
        return found

    def imported(self, query: str) -> list[Imported]:
        """What a module of upstream that stays imports by a name, in whichever branch; of a name that it does not have, its stars.

        Args:
            query: ``module.name`` or ``module.Class.method``; an ending of the module's name will do.
        """
        parts = query.strip().removeprefix("symbol:").split(".")
        for size in range(len(parts) - 1, 0, -1):
            asked, name, rest = ".".join(parts[:size]), parts[size], "".join(f".{part}" for part in parts[size + 1 :])
            known = self._data["imports"]
            modules = [asked] if asked in known else [module for module in known if module.endswith(f".{asked}")]
            if len(modules) == 1:
                [module] = modules
                rows = sorted((row for row in known[module] if row[0] in (name, "*")), key=lambda row: row[1])
                own = [row for row in rows if row[0] == name]
                return [
                    self._import(module, row, name, rest, (own or rows)[at + 1 :]) for at, row in enumerate(own or rows)
                ]
        return []

    def _import(self, module: str, row: list[Any], name: str, rest: str, later: list[list[Any]]) -> Imported:
        bound, line, target = row
        end = later[0][1] if later else sys.maxsize
        numbers = self.named(module, str(line) if bound == "*" else name)
        path = self._files[module]
        known = [n for n in numbers if self._units[n][1] == "import" and line <= self.line(n) < end]
        # A statement around it stays or goes as a whole.
        known = known or [n for n in self._at(path, line) if self._units[n][1] != "import"]
        origin = f"{target}.{name}{rest}" if bound == "*" else f"{target}{rest}"
        return Imported(path, line, f"{module}.{name}{rest}", bound, origin, known[0] if known else None)

    def _unit_around(self, query: str) -> str:
        """The unit that a definition below it stays or goes with; empty where no such definition has this name."""
        inner = {f"{module}.{name}" for module, names in self._data["inner"].items() for name in names}
        found = sorted(name for name in inner if name == query or name.endswith(f".{query}"))
        if len(found) != 1:
            return ""
        units = {self.name(n) for n in range(len(self._units))}
        (name,) = found
        while name and name not in units:
            name = name.rpartition(".")[0]
        return name

    def _at(self, path: str, line: int) -> list[int]:
        """The innermost unit at a line of a file of upstream."""
        modules = {n for n, (name, file) in enumerate(self._modules) if file == path or file.endswith(f"/{path}")}
        around = [n for n, unit in enumerate(self._units) if unit[0] in modules and unit[3] <= line <= unit[4]]
        return around[-1:]

    def named(self, module: str, name: str) -> list[int]:
        """Symbols of a module that have a qualified name; several where branches bind it."""
        return self._named.get((module, name), [])

    @cached_property
    def _named(self) -> dict[tuple[str, str], list[int]]:
        found: dict[tuple[str, str], list[int]] = {}
        for number, unit in enumerate(self._units):
            for name in _each_name(unit[2]):
                found.setdefault((self._modules[unit[0]][0], name), []).append(number)
        return found

    def name(self, number: int) -> str:
        """Dotted name of a unit, with its module."""
        unit = self._units[number]
        return f"{self._modules[unit[0]][0]}.{unit[2]}"

    def is_live(self, number: int) -> bool:
        """True for what is in the generated tree."""
        return bool(self._units[number][6])

    def units(self) -> Iterator[tuple[int, str, str, str]]:
        """Number, kind, dotted name and path of every unit; a class comes before its members."""
        for number, unit in enumerate(self._units):
            module, path = self._modules[unit[0]]
            yield number, unit[1], f"{module}.{unit[2]}", path

    def line(self, number: int) -> int:
        """First line of a unit in upstream."""
        line: int = self._units[number][3]
        return line

    def lines(self, number: int) -> int:
        """Lines of a unit in upstream."""
        unit = self._units[number]
        count: int = unit[4] - unit[3] + 1
        return count

    def owner(self, number: int) -> int:
        """Number of the class or block around a unit; -1 at the top of its module."""
        parent: int = self._units[number][5]
        return number - self._place(number) + parent if parent >= 0 else -1

    def _node(self, number: int) -> str:
        if number >= len(self._units):
            return self._others[number - len(self._units)]
        return f"symbol:{self.name(number)}"

    def _path(self, number: int) -> str:
        return self._modules[self._units[number][0]][1] if number < len(self._units) else ""

    def _place(self, number: int) -> int:
        """Number of a unit in its module."""
        return number - self._starts[self._units[number][0]]

    @cached_property
    def _starts(self) -> dict[int, int]:
        out: dict[int, int] = {}
        for number, unit in enumerate(self._units):
            out.setdefault(unit[0], number)
        return out

    @cached_property
    def _files(self) -> dict[str, str]:
        return {row[0]: row[1] for row in self._modules}

    def edges(self) -> Iterator[tuple[str, str]]:
        """Both ends of every edge between what is live."""
        size = len(self._units)
        for source, target, *_ in self._edges:
            if self._is_reached(source) and (target >= size or self.is_live(target)):
                yield self._node(source), self._node(target)

    def leaving(self, cut: Iterable[int]) -> list[int]:
        """Live units that nothing reaches any more without these units, themselves included.

        Args:
            cut: units; what is in a class goes with it.
        """
        return [number for number in self._cuts.leaving(cut) if number < len(self._units)]

    @cached_property
    def _cuts(self) -> Cuts:
        size = len(self._units)
        roots = (size + n for n, name in enumerate(self._others) if name.startswith("root:"))
        owners = {n: self.owner(n) for n, unit in enumerate(self._units) if unit[1] == "member"}
        live = (edge for edge in self._edges if edge[1] >= size or self.is_live(edge[1]))
        return Cuts(size + len(self._others), live, roots, owners)

    @cached_property
    def _edges(self) -> list[list[int]]:
        rows = self._read()
        return [rows[at : at + 4] for at in range(0, len(rows), 4)]

    @cached_property
    def _from_removed(self) -> dict[int, list[list[int]]]:
        """Edges that leave removed units, by their targets: few of all, which take as long to sort out as all else."""
        rows, removed = self._read(), {number for number, unit in enumerate(self._units) if not unit[6]}
        found: dict[int, list[list[int]]] = {}
        for at in range(0, len(rows), 4):
            if rows[at] in removed:
                found.setdefault(rows[at + 1], []).append(rows[at : at + 4])
        return found

    @cached_property
    def _incoming(self) -> dict[int, list[list[int]]]:
        found: dict[int, list[list[int]]] = {}
        for edge in self._edges:
            found.setdefault(edge[1], []).append(edge)
        return found

    @cached_property
    def _outgoing(self) -> dict[int, list[list[int]]]:
        found: dict[int, list[list[int]]] = {}
        for edge in self._edges:
            found.setdefault(edge[0], []).append(edge)
        return found

    @cached_property
    def _first(self) -> dict[int, list[int]]:
        """The last edge of the best chain from a root to each node."""
        rows: list[int] = self._data["best"]
        return {
            at // 3: [rows[at], at // 3, rows[at + 1], rows[at + 2]] for at in range(0, len(rows), 3) if rows[at] >= 0
        }

    def _is_reached(self, number: int) -> bool:
        return number in self._first or self._node(number).startswith("root:")

    def _step(self, edge: list[int]) -> Step:
        source, target, kind, line = edge
        path = self._path(source)
        if not path:
            module = self._node(source).partition("module:")[2]
            path = self._files.get(module, "")
        if not line and path:
            # No line says so: the definition that is kept.
            path, line = (self._path(target), self._units[target][3]) if target < len(self._units) else ("", 0)
        elif not path and target < len(self._units):
            path, line = self._path(target), self._units[target][3]
        return Step(self._node(source), self._node(target), self._kind(kind), path, line)

    def _kind(self, number: int) -> str:
        """Of an edge; that of a class to its member is not saved."""
        kind: str = self._data["kinds"][number] if number >= 0 else "member"
        return kind


def _each_name(qualified: str) -> Iterator[str]:
    """Names of a unit that binds several (``a,b``), each with the classes around it."""
    around, dot, last = qualified.rpartition(".")
    yield from (f"{around}{dot}{name}" for name in last.split(","))
