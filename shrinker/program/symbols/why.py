"""A saved search of symbols, asked: the chains to what is kept, and what named the rest."""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from shrinker.program.nodes import symbol_name
from shrinker.program.saved import load_report, place_of
from shrinker.program.symbols.units import DEFINITIONS, AmbiguousName, Imported, Unit, each_name
from shrinker.program.ways import Cuts, Ways
from shrinker.values.graph import UNREACHABLE, Chain, Edge, Removed, Site
from shrinker.values.relations import grouped

FORMAT = 4
EDGES = "symbol_edges.json"
"""Beside the saved search."""
_MOST = 12
"""How many places that named a removed symbol are shown."""
_GONE = "itself removed (unreachable)"
_REASONS = {
    "member": "nothing kept looks up its name on an object that may be of its class",
    "main": "no root runs the module as a program; a named error stands in its place",
}
Link = Sequence[int]
"""Source, target, kind and line of an edge."""


def load_symbols(path: Path) -> "Symbols":
    """Read a saved search; one that found nothing where it is not there: such reports are not
    committed. Raises InputError when the file is of another format.
    """
    if not path.exists():
        return Symbols(defaultdict(dict), list)
    return Symbols(load_report(path, FORMAT), lambda: load_report(path.with_name(EDGES)))


class Symbols:
    """A saved search, asked why: what `found_symbols` made.

    Its nodes are numbered: units first, then modules, names that are looked up, and roots.
    """

    def __init__(self, data: dict[str, Any], edges: Callable[[], list[list[int]]]) -> None:
        """All edges are read by themselves: only some answers need them."""
        self._data, self._read = data, edges
        self.units = [*map(Unit._make, data["units"])]
        self._others: list[str] = data["others"]
        self._files: dict[str, str] = dict(data["modules"])
        self._paths = [*self._files.values()]
        self._roots = [
            len(self.units) + n for n, name in enumerate(self._others) if name.startswith("root:")
        ]

    def find(self, query: str) -> list[int]:
        """Numbers of the units that a query names: ``module.Class.method``, an ending of it, or
        ``path:line``. Raises AmbiguousName.
        """
        query = query.strip().removeprefix("symbol:")
        path, line = place_of(query)
        if path:
            return self._at(path, line)
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
        several = {
            unit.name: {unit.name, *each_name(unit.name)} for unit in self.units if "," in unit.name
        }
        return grouped(
            (name, n)
            for n, unit in enumerate(self.units)
            for name in several.get(unit.name, (unit.name,))
        )

    def _at(self, path: str, line: int) -> list[int]:
        """Return the innermost unit at a line of a file of upstream."""
        modules = {
            n for n, file in enumerate(self._paths) if file == path or file.endswith(f"/{path}")
        }
        around = [
            n
            for n, u in enumerate(self.units)
            if u.module in modules and u.line <= line <= u.end_line
        ]
        return around[-1:]

    def path(self, number: int) -> str:
        """Return path of the module that a unit is in, or that a node is; empty for any
        other node.
        """
        if number < len(self.units):
            return self._paths[self.units[number].module]
        return self._files.get(self.node(number).partition("module:")[2], "")

    def node(self, number: int) -> str:
        """Id of a node, which is a unit or something else."""
        size = len(self.units)
        return f"symbol:{self.units[number].name}" if number < size else self._others[number - size]

    def imported(self, query: str) -> list[Imported]:
        """Return what a module of upstream that stays imports by a name (``module.name`` or
        ``module.Class.method``, an ending of the module's name will do), in whichever branch; of a
        name that it does not have, its stars.
        """
        parts = query.strip().removeprefix("symbol:").split(".")
        known = self._data["imports"]
        for size in range(len(parts) - 1, 0, -1):
            asked, name, rest = (
                ".".join(parts[:size]),
                parts[size],
                "".join(f".{part}" for part in parts[size + 1 :]),
            )
            modules = (
                [asked]
                if asked in known
                else [module for module in known if module.endswith(f".{asked}")]
            )
            if len(modules) == 1:
                [module] = modules
                rows = sorted(
                    (row for row in known[module] if row[0] in (name, "*")), key=lambda row: row[1]
                )
                own = [row for row in rows if row[0] == name] or rows
                ends = [*(row[1] for row in own[1:]), sys.maxsize]
                return [
                    self._import(module, row, name, rest, end)
                    for row, end in zip(own, ends, strict=False)
                ]
        return []

    def _import(self, module: str, row: list[Any], name: str, rest: str, end: int) -> Imported:
        bound, line, target = row
        star, path = bound == "*", self._files[module]
        numbers = self.named(f"{module}.{line if star else name}")
        known = [
            n
            for n in numbers
            if self.units[n].kind == "import" and line <= self.units[n].line < end
        ]
        # A statement around it stays or goes as a whole.
        known = known or [n for n in self._at(path, line) if self.units[n].kind != "import"]
        origin = f"{target}.{name}{rest}" if star else f"{target}{rest}"
        return Imported(
            path, line, f"{module}.{name}{rest}", bound, origin, known[0] if known else None
        )

    @cached_property
    def _first(self) -> dict[int, Link]:
        """The last edge of the best chain from a root to each node."""
        return {n: (row[0], n, *row[1:]) for n, row in enumerate(self._data["best"]) if row}

    @cached_property
    def live_edges(self) -> list[list[int]]:
        """All edges between what is live."""
        size, reached = len(self.units), {*self._first, *self._roots}
        return [
            e for e in self._read() if e[0] in reached and (e[1] >= size or self.units[e[1]].live)
        ]

    def edges(self) -> Iterator[tuple[str, str]]:
        """Return both ends of every edge between what is live."""
        return ((self.node(source), self.node(target)) for source, target, *_ in self.live_edges)

    def step(self, edge: Link) -> Edge:
        """Return an edge in words."""
        source, target, kind, line = edge
        path = self.path(source) if line else ""
        if not path and target < len(self.units):
            # No line says so: the definition that is kept.
            path, line = self.path(target), self.units[target].line
        return Edge(self.node(source), self.node(target), self._data["kinds"][kind], path, line)

    def explain(self, number: int, *, every: bool = False) -> list[Chain]:
        """Return the best chain from a root to a live unit, or with `every` one for each place that
        names it; for a member found by its name also one to its class.
        """
        ways = (sorted(self._ways(number), key=len) if every else [self._chain(number)]) or [()]
        chains = [Chain(self.node(number), way) for way in ways]
        if ways[0] and ways[0][-1].kind == "by name" and self.units[number].kind == "member":
            chains += self.explain(self.units[number].owner)
        return chains

    def _ways(self, number: int) -> Iterator[tuple[Edge, ...]]:
        """Yield the best chain to a node by way of each that names it; of a name that is looked up,
        of each place that does.
        """
        for edge in self.live_edges:
            if edge[1] == number:
                by_name = self.node(edge[0]).startswith("name:")
                for before in self._ways(edge[0]) if by_name else [self._chain(edge[0])]:
                    yield (*before, self.step(edge))

    def _chain(self, number: int) -> tuple[Edge, ...]:
        steps: list[Edge] = []
        while (edge := self._first.get(number)) is not None:
            steps.append(self.step(edge))
            number = edge[0]
        return tuple(reversed(steps))

    def leaving(self, cut: Iterable[int]) -> list[int]:
        """Live units that nothing reaches any more without these units, themselves included; what
        is in a class goes with it.
        """
        owners = {n: unit.owner for n, unit in enumerate(self.units) if unit.kind == "member"}
        cuts = Cuts(len(self.units) + len(self._others), self.live_edges, self._roots, owners)
        return [number for number in cuts.leaving(cut) if number < len(self.units)]

    def named_units(self, *, live: bool) -> list[str]:
        """Return names of definitions, members and assignments that are kept, or of those that are
        not; none of which several branches decide differently.
        """
        units = (unit for unit in self.units if unit.kind in DEFINITIONS)
        fates = {
            (unit.name, unit.live) for unit in units if unit.name.rpartition(".")[2].isidentifier()
        }
        fates.update((drop.symbol, False) for drop in self.dropped())
        return sorted(
            name for name, fate in fates if fate is live and (name, not live) not in fates
        )

    def dropped(self) -> Iterator[Removed]:
        """Yield all definitions and assignments that folding or a rule removed from modules that
        stay.
        """
        for module, name, line, _, rule, reason in self._data["gone"]:
            yield Removed(self._files[module], rule, reason, f"{module}.{name}", line)

    def gone(self, query: str) -> list[Removed]:
        """Return those of a name: a kept symbol with code that named one is what would have kept
        it.
        """
        query = query.strip().removeprefix("symbol:")
        own = {(module, name): (line, end) for module, name, line, end, *_ in self._data["gone"]}
        found: list[Removed] = []
        for (module, name, line, end, *_), drop in zip(
            self._data["gone"], self.dropped(), strict=True
        ):
            if f".{drop.symbol}".endswith(f".{query}"):
                while (above := (module, name.rpartition(".")[0])) in own:
                    # With its class: what looks its name up means other classes, too.
                    name, (line, end) = above[1], own[above]
                sites = self._sites(f"{module}.{name}", name, drop.path, line, end)
                alive = _nearest(sites, f"symbol:{drop.symbol}")
                found.append(replace(drop, named_by=_named_by(sites), alive=alive))
        return found

    def explain_removed(self, number: int) -> Removed:
        """Return why a unit is not live, and what would have kept it."""
        unit = self.units[number]
        reason = _REASONS.get(unit.kind, "nothing kept names it")
        if unit.kind == "member" and not self.units[unit.owner].live:
            # What looks its name up means other classes, too: what named its own is asked.
            above = self.explain_removed(unit.owner)
            return replace(
                above,
                reason=f"its class goes: nothing kept names {above.symbol}",
                symbol=unit.name,
                line=unit.line,
            )
        steps = (self.step(edge) for edge in self._from_removed(number))
        named = [Site(s.path, s.line, _GONE, symbol_name(s.src)) for s in steps]
        named += _named_by(self._sites_of(number))
        return Removed(
            self.path(number),
            UNREACHABLE,
            reason,
            unit.name,
            unit.line,
            tuple(named),
            self._alive(number),
        )

    def _sites_of(self, number: int) -> list[list[Any]]:
        unit, path = self.units[number], self.path(number)
        module = self._data["modules"][unit.module][0]
        return self._sites(
            unit.name, unit.name.removeprefix(f"{module}."), path, unit.line, unit.end_line
        )

    def _sites(self, symbol: str, name: str, path: str, first: int, last: int) -> list[list[Any]]:
        """Return places outside of a symbol that named it; what other files say of a name without a
        class counts where they import it. A private one that they import from elsewhere is another.
        """

        def means(file: str, line: int, meant: str) -> bool:
            if file == path:
                return not first <= line <= last
            return "." in name or (meant in (symbol, ".") if name.startswith("_") else bool(meant))

        found: list[list[Any]] = self._data["sites"].get(name.rpartition(".")[2], [])
        return [site for site in found if means(site[0], site[1], site[4])][:_MOST]

    @cached_property
    def _removed(self) -> dict[int, list[list[int]]]:
        """Edges that leave removed units, by their targets."""
        size = len(self.units)
        return grouped(
            (edge[1], edge)
            for edge in self._read()
            if edge[0] < size and not self.units[edge[0]].live
        )

    def _from_removed(self, number: int) -> list[list[int]]:
        """Return edges from removed units, directly or by the name of a member."""
        unit = self.units[number]
        by_name = f"name:{unit.name.rpartition('.')[2]}" if unit.kind == "member" else ""
        asked = [len(self.units) + self._others.index(by_name)] if by_name in self._others else []
        edges = [edge for target in (number, *asked) for edge in self._removed.get(target, ())]
        # What is in a class goes with it.
        return [edge for edge in edges if number not in (edge[0], self.units[edge[0]].owner)]

    def _alive(self, number: int) -> tuple[Edge, ...]:
        """From the nearest place before a removed unit that is not just removed for the same
        reason.
        """

        def out(node: int) -> Iterator[tuple[int, int, Edge]]:
            for edge in self._from_removed(node):
                yield edge[0], 1, replace(self.step(edge), dst=self.node(node))

        before = Ways({number: 0}, out)
        first = min(
            before.costs, key=lambda node: (not self._sites_of(node), before.costs[node], node)
        )
        sites = self._sites_of(first)
        if not sites:
            first = max(before.costs, key=lambda node: (before.costs[node], node))
        return (*_nearest(sites, self.node(first)), *reversed(before.to(first)))


def _named_by(sites: Iterable[list[Any]]) -> tuple[Site, ...]:
    return tuple(Site(path, line, fate, around or path) for path, line, fate, around, _ in sites)


def _nearest(sites: list[list[Any]], target: str) -> tuple[Edge, ...]:
    """From the place that would first have kept a symbol, if there is one: in a kept symbol, then
    in a removed file.
    """
    if not sites:
        return ()
    path, line, fate, around, _ = min(sites, key=lambda s: (not s[3], s[0], s[1]))
    return (Edge(f"symbol:{around}" if around else f"file:{path}", target, fate, path, line),)
