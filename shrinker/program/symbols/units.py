"""The units of a saved search by their names: definitions, members, statements and imported names."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from shrinker.values.errors import InputError
from shrinker.values.relations import grouped

DEFINITIONS = frozenset({"function", "class", "member", "assign"})
"""Kinds of units that people have names for."""
_SHOWN = 6


class AmbiguousName(InputError):
    """Several symbols end in what was asked for; `names` are all of them, sorted."""

    def __init__(self, query: str, names: Sequence[str]) -> None:
        some = ", ".join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")
        super().__init__(f"{len(names)} symbols are named {query!r}: {some}", "give the module, too")
        self.names = names


class Unit(NamedTuple):
    """A statement, definition, member or imported name of upstream."""

    module: int
    kind: str
    name: str
    """With its module and the classes around it; of a statement its line, of several names all, as in ``a,b``."""
    line: int
    end_line: int
    owner: int
    """Number of the class or block around it; -1 at the top of its module. It comes first."""
    live: bool
    """True for what is in the generated tree."""


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


class Units:
    """What `found_symbols` made. The nodes of the search are numbered: units first, then modules, names that are looked up, and roots."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data
        self.units = [*map(Unit._make, data["units"])]
        self._others: list[str] = data["others"]
        self._files: dict[str, str] = dict(data["modules"])
        self._paths = [*self._files.values()]

    def find(self, query: str) -> list[int]:
        """Numbers of the units that a query names: ``module.Class.method``, an ending of it, or ``path:line``. Raises AmbiguousName."""
        query = query.strip().removeprefix("symbol:")
        path, _, line = query.rpartition(":")
        if path and line.isdigit():
            return self._at(path, int(line))
        # What a class in a class defines stays or goes with the unit around it.
        inner: dict[str, str] = self._data["inner"]
        if found := self.named(query) or self.named(inner.get(query, "")):
            return found
        own = {unit.name: unit.name for unit in self.units if unit.kind != "import"}
        for known in (own, inner):
            ending = sorted(name for name in known if name.endswith(f".{query}"))
            if len(ending) > 1:
                raise AmbiguousName(query, ending)
            if ending:
                return [n for n in self.named(known[ending[0]]) if self.units[n].kind != "import"]
        return []

    def named(self, name: str) -> list[int]:
        """Numbers of the units of a dotted name; several where branches bind it."""
        return self._named.get(name, [])

    @cached_property
    def _named(self) -> dict[str, list[int]]:
        return grouped((name, n) for n, unit in enumerate(self.units) for name in {unit.name, *each_name(unit.name)})

    def _at(self, path: str, line: int) -> list[int]:
        """The innermost unit at a line of a file of upstream."""
        modules = {n for n, file in enumerate(self._paths) if file == path or file.endswith(f"/{path}")}
        around = [n for n, u in enumerate(self.units) if u.module in modules and u.line <= line <= u.end_line]
        return around[-1:]

    def path(self, number: int) -> str:
        """Path of the module that a unit is in, or that a node is; empty for any other node."""
        if number < len(self.units):
            return self._paths[self.units[number].module]
        return self._files.get(self.node(number).partition("module:")[2], "")

    def node(self, number: int) -> str:
        """Id of a node, which is a unit or something else."""
        size = len(self.units)
        return f"symbol:{self.units[number].name}" if number < size else self._others[number - size]

    def imported(self, query: str) -> list[Imported]:
        """What a module of upstream that stays imports by a name, in whichever branch; of a name that it does not have, its stars.

        A query is ``module.name`` or ``module.Class.method``; an ending of the module's name will do.
        """
        parts = query.strip().removeprefix("symbol:").split(".")
        known = self._data["imports"]
        for size in range(len(parts) - 1, 0, -1):
            asked, name, rest = ".".join(parts[:size]), parts[size], "".join(f".{part}" for part in parts[size + 1 :])
            modules = [asked] if asked in known else [module for module in known if module.endswith(f".{asked}")]
            if len(modules) == 1:
                [module] = modules
                rows = sorted((row for row in known[module] if row[0] in (name, "*")), key=lambda row: row[1])
                own = [row for row in rows if row[0] == name] or rows
                ends = [*(row[1] for row in own[1:]), sys.maxsize]
                return [self._import(module, row, name, rest, end) for row, end in zip(own, ends, strict=False)]
        return []

    def _import(self, module: str, row: list[Any], name: str, rest: str, end: int) -> Imported:
        bound, line, target = row
        star, path = bound == "*", self._files[module]
        numbers = self.named(f"{module}.{line if star else name}")
        known = [n for n in numbers if self.units[n].kind == "import" and line <= self.units[n].line < end]
        # A statement around it stays or goes as a whole.
        known = known or [n for n in self._at(path, line) if self.units[n].kind != "import"]
        origin = f"{target}.{name}{rest}" if star else f"{target}{rest}"
        return Imported(path, line, f"{module}.{name}{rest}", bound, origin, known[0] if known else None)


def each_name(name: str) -> Iterator[str]:
    """Names of a unit that binds several (``a,b``), each with its module and the classes around it."""
    around, dot, last = name.rpartition(".")
    return (f"{around}{dot}{each}" for each in last.split(","))
