"""`why` and `why-not` for definitions, members, statements and imported names.

Only the standard library is imported here: an answer takes less time than loading a graph library would.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from shrinker.program.saved import load_report
from shrinker.program.symbols.costs import cost_of
from shrinker.program.symbols.table import Table
from shrinker.program.ways import Ways
from shrinker.values.answers import Chain, Removed, Site, Step
from shrinker.values.graph import UNREACHABLE

FORMAT = 3
EDGES = "symbol_edges.json"
"""Beside the saved search."""
_DEFINITIONS = frozenset({"function", "class", "member", "assign"})
"""Kinds of units that people have names for."""
_MOST = 12
"""How many places that named a removed symbol are shown."""
_GONE = "itself removed (unreachable)"
_MODULE = 10
"""What an edge to a module that is loaded counts in a chain from a definition."""


def load_symbols(path: Path) -> Symbols | None:
    """Read a saved search; None where it is not there: such reports are not committed.

    Raises:
        InputError: the file is no saved search of this format.
    """
    if not path.exists():
        return None
    return Symbols(load_report(path, FORMAT), lambda: load_report(path.with_name(EDGES)))


class Symbols(Table):
    """A saved search, asked why."""

    # Kept

    def explain(self, number: int, *, every: bool = False) -> list[Chain]:
        """Chains from a root to a live unit, the best first; for a member found by its name also one to its class.

        Args:
            every: one chain for each place that names it.
        """
        ways = sorted(self._ways(number, every=every), key=len) or [()]
        chains = [Chain(self._node(number), way) for way in ways]
        if ways[0] and ways[0][-1].kind == "by name" and self._units[number][1] == "member":
            chains += self.explain(self.owner(number))
        return chains

    def _ways(self, number: int, *, every: bool) -> Iterator[tuple[Step, ...]]:
        """The best chain to a node, or by way of each that names it; of a name that is looked up, of each place that does."""
        if not every:
            if number in self._first:
                yield self._chain(number)
            return
        for edge in self._incoming.get(number, ()):
            if self._is_reached(edge[0]):
                by_name = self._node(edge[0]).startswith("name:")
                for before in self._ways(edge[0], every=True) if by_name else [self._chain(edge[0])]:
                    yield (*before, self._step(edge))

    def _chain(self, number: int) -> tuple[Step, ...]:
        steps: list[Step] = []
        while (edge := self._first.get(number)) is not None:
            steps.append(self._step(edge))
            number = edge[0]
        return tuple(reversed(steps))

    # From a definition

    def from_here(self, starts: Iterable[int]) -> Ways[int, list[int]]:
        """The cheapest ways from some units to each node that they reach.

        A live member of a class that is reached is reached with it.
        """
        members: dict[int, list[list[int]]] = {}
        for number, unit in enumerate(self._units):
            if unit[1] == "member":
                owner = self.owner(number)
                members.setdefault(owner, []).append([owner, number, -1, unit[3]])

        def out(node: int) -> Iterator[tuple[int, int, list[int]]]:
            for edge in (*members.get(node, ()), *self._outgoing.get(node, ())):
                if edge[1] >= len(self._units) or self.is_live(edge[1]):
                    yield edge[1], self._cost(edge), edge

        return Ways(dict.fromkeys(starts, 0), out)

    def steps(self, edges: Iterable[list[int]]) -> tuple[Step, ...]:
        """What `from_here` found on a way."""
        return tuple(self._step(edge) for edge in edges)

    def _cost(self, edge: list[int]) -> int:
        # What a module does when it is loaded explains less than what names it.
        loads = _MODULE if self._node(edge[1]).startswith("module:") else 0
        outgoing = len(self._outgoing.get(edge[0], ()))
        return loads or cost_of(self._kind(edge[2]), self._node(edge[0]), outgoing)

    # Removed

    def dropped(self) -> Iterator[Removed]:
        """All definitions that folding or a rule removed from modules that stay."""
        for module, rows in self._data["gone"].items():
            for name, line, _, rule, reason in rows:
                yield Removed(self._files[module], rule, reason, f"{module}.{name}", line)

    def gone(self, query: str) -> list[Removed]:
        """Definitions and assignments that folding or a rule removed from modules that stay.

        A kept symbol with code that named one is what would have kept it.
        """
        query = query.strip().removeprefix("symbol:")
        found: list[Removed] = []
        for module, rows in self._data["gone"].items():
            for name, line, end, rule, reason in rows:
                whole = f"{module}.{name}"
                if whole == query or whole.endswith(f".{query}"):
                    path = self._files[module]
                    sites = self._sites_of(name, path, line, end)
                    alive = (_nearest(sites, f"symbol:{whole}"),) if sites else ()
                    found.append(Removed(path, rule, reason, whole, line, _named(sites), alive))
        return found

    def named_units(self, *, live: bool) -> list[str]:
        """Names of definitions, members and assignments that are kept, or of those that are not; none of which several branches decide
        differently."""
        fates: dict[str, set[bool]] = {}
        for number, kind, name, _ in self.units():
            if kind in _DEFINITIONS and name.rpartition(".")[2].isidentifier():
                fates.setdefault(name, set()).add(self.is_live(number))
        for drop in self.dropped():
            fates.setdefault(drop.symbol, set()).add(False)
        return sorted(name for name, found in fates.items() if found == {live})

    def explain_removed(self, number: int) -> Removed:
        """Why a unit is not live, and what would have kept it."""
        unit, owner = self._units[number], self.owner(number)
        if unit[1] == "member" and not self.is_live(owner):
            reason = f"its class goes: nothing kept names {self.name(owner)}"
        elif unit[1] == "member":
            reason = "nothing kept looks up its name on an object that may be of its class"
        elif unit[1] == "main":
            reason = "no root runs the module as a program; a named error stands in its place"
        else:
            reason = "nothing kept names it"
        steps = (self._step(edge) for edge in self._dead_incoming(number))
        named = [Site(s.path, s.line, _GONE, s.src.removeprefix("symbol:")) for s in steps]
        named += _named(self._sites(number))
        alive = self._alive(number)
        return Removed(self._path(number), UNREACHABLE, reason, self.name(number), unit[3], tuple(named), alive)

    def _sites(self, number: int) -> list[list[Any]]:
        unit = self._units[number]
        return self._sites_of(unit[2], self._path(number), unit[3], unit[4])

    def _sites_of(self, name: str, path: str, first: int, last: int) -> list[list[Any]]:
        """Places outside of a symbol that named it; what other files say of a name without a class counts where they import it."""
        found: list[list[Any]] = self._data["sites"].get(name.rpartition(".")[2], [])
        outside = [s for s in found if not (s[0] == path and first <= s[1] <= last)]
        return [s for s in outside if "." in name or s[0] == path or s[4]][:_MOST]

    def _dead_incoming(self, number: int) -> list[list[int]]:
        """Edges from removed units, directly or by the name of a member."""
        unit = self._units[number]
        by_name = f"name:{unit[2].rpartition('.')[2]}" if unit[1] == "member" else ""
        found = [*self._from_removed.get(number, ()), *self._from_removed.get(self._numbers.get(by_name, -1), ())]
        return [edge for edge in found if edge[0] != number]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: len(self._units) + n for n, name in enumerate(self._others)}

    def _alive(self, number: int) -> tuple[Step, ...]:
        """From the nearest place before a removed unit that is not just removed for the same reason."""

        def out(node: int) -> Iterator[tuple[int, int, Step]]:
            for edge in self._dead_incoming(node):
                yield edge[0], 1, replace(self._step(edge), dst=self._node(node))

        before = Ways({number: 0}, out)
        first = min(before.costs, key=lambda node: (not self._sites(node), before.costs[node], node))
        sites = self._sites(first)
        if not sites:
            first = max(before.costs, key=lambda node: (before.costs[node], node))
        return (*((_nearest(sites, self._node(first)),) if sites else ()), *reversed(before.to(first)))


def _named(sites: Iterable[list[Any]]) -> tuple[Site, ...]:
    return tuple(Site(path, line, fate, around or path) for path, line, fate, around, _ in sites)


def _nearest(sites: list[list[Any]], target: str) -> Step:
    """From the place that would first have kept a symbol: in a kept symbol, then in a removed file."""
    path, line, fate, around, _ = min(sites, key=lambda s: (not s[3], s[0], s[1]))
    return Step(f"symbol:{around}" if around else f"file:{path}", target, fate, path, line)
