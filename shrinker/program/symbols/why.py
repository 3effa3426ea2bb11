"""`why` and `why-not` for definitions, members, statements and imported names.

Only the standard library is imported here: an answer takes less time than loading a graph library would.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

from shrinker.program.symbols.costs import cost_of
from shrinker.program.symbols.table import Dropped, Site, Table
from shrinker.program.why import Chain, Step
from shrinker.values.errors import InputError

FORMAT = 3
EDGES = "symbol_edges.json"
"""Beside the saved search."""
_DEFINITIONS = frozenset({"function", "class", "member", "assign"})
"""Kinds of units that people have names for."""
_MOST = 12
"""How many places that named a removed symbol are shown."""
_MODULE = 10
"""What an edge to a module that is loaded counts in a chain from a definition."""


def load_symbols(path: Path) -> Symbols | None:
    """Read a saved search; None where it is not there: such reports are not committed.

    Raises:
        InputError: the file is no saved search of this format.
    """
    try:
        data = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: no saved search: {error}", "run `make shrink` first") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f"{path} is not a search of format {FORMAT}", "generate the tree again with `make shrink`")
    return Symbols(data, lambda: _edges(path.with_name(EDGES)))


def _edges(path: Path) -> list[int]:
    try:
        rows: list[int] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: no edges of the saved search: {error}", "run `make shrink` first") from error
    return rows


class Symbols(Table):
    """A saved search, asked why."""

    # Kept

    def explain(self, number: int, *, every: bool = False) -> list[Chain]:
        """Chains from a root to a live unit, the best first; for a member found by its name also one to its class.

        Args:
            every: one chain for each place that names it.
        """
        if every:
            incoming = [edge for edge in self._incoming.get(number, ()) if self._is_reached(edge[0])]
        else:
            incoming = [self._first[number]] if number in self._first else []
        chains: list[Chain] = []
        for edge in incoming:
            chains += self._through(edge, every=every)
        chains.sort(key=lambda chain: len(chain.steps))
        unit = self._units[number]
        if unit[1] == "member" and chains and chains[0].steps[-1].kind == "by name":
            owner = self.owner(number)
            chains += self.explain(owner)
        return chains or [Chain(self._node(number), ())]

    def _through(self, edge: list[int], *, every: bool) -> list[Chain]:
        source = edge[0]
        target = self._node(edge[1])
        if every and self._node(source).startswith("name:"):
            return [
                Chain(target, (*self._chain(before[0]), self._step(before), self._step(edge)))
                for before in self._incoming.get(source, ())
                if self._is_reached(before[0])
            ]
        return [Chain(target, (*self._chain(source), self._step(edge)))]

    def _chain(self, number: int) -> tuple[Step, ...]:
        steps: list[Step] = []
        seen = {number}
        while (edge := self._first.get(number)) is not None:
            steps.append(self._step(edge))
            number = edge[0]
            if number in seen:
                break
            seen.add(number)
        return tuple(reversed(steps))

    # From a definition

    def from_here(self, starts: Iterable[int]) -> dict[int, list[int] | None]:
        """The last edge of the cheapest way from some units to each node that they reach; None for themselves.

        A live member of a class that is reached is reached with it.
        """
        size = len(self._units)
        members: dict[int, list[list[int]]] = {}
        for number, unit in enumerate(self._units):
            if unit[1] == "member" and unit[6]:
                owner = self.owner(number)
                members.setdefault(owner, []).append([owner, number, -1, unit[3]])
        first: dict[int, list[int] | None] = dict.fromkeys(starts)
        costs = dict.fromkeys(first, 0)
        queue = [(0, node) for node in sorted(first)]
        while queue:
            cost, node = heappop(queue)
            if cost > costs[node]:
                continue
            for edge in (*members.get(node, ()), *self._outgoing.get(node, ())):
                target = edge[1]
                if target < size and not self._units[target][6]:
                    continue
                whole = cost + self._cost(edge)
                if whole < costs.get(target, whole + 1):
                    costs[target], first[target] = whole, edge
                    heappush(queue, (whole, target))
        return first

    def chain_of(self, first: Mapping[int, list[int] | None], number: int) -> list[Step] | None:
        """The way to a node that `from_here` found; None when it did not reach it."""
        if number not in first:
            return None
        steps: list[Step] = []
        while (edge := first[number]) is not None:
            steps.append(self._step(edge) if edge[2] >= 0 else self._member(edge))
            number = edge[0]
        return steps[::-1]

    def _member(self, edge: list[int]) -> Step:
        source, target, _, line = edge
        return Step(self._node(source), self._node(target), "member", self._path(target), line)

    def _cost(self, edge: list[int]) -> int:
        if edge[2] < 0:
            return 1
        # What a module does when it is loaded explains less than what names it.
        loads = self._node(edge[1]).startswith("module:")
        return (
            _MODULE
            if loads
            else cost_of(self._data["kinds"][edge[2]], self._node(edge[0]), len(self._outgoing[edge[0]]))
        )

    # Removed

    def dropped(self) -> Iterator[Dropped]:
        """All definitions that folding or a rule removed from modules that stay."""
        for module, rows in self._data["gone"].items():
            for name, line, _, rule, reason in rows:
                yield Dropped(f"{module}.{name}", self._files[module], line, rule, reason)

    def gone(self, query: str) -> list[Dropped]:
        """Definitions and assignments that folding or a rule removed from modules that stay.

        A kept symbol with code that named one is what would have kept it.
        """
        query = query.strip().removeprefix("symbol:")
        found: list[Dropped] = []
        for module, rows in self._data["gone"].items():
            for name, line, end, rule, reason in rows:
                whole = f"{module}.{name}"
                if whole == query or whole.endswith(f".{query}"):
                    path = self._files[module]
                    sites = self._sites_of(name, path, line, end)
                    named = tuple(Site(site[0], site[1], site[3] or site[0], site[2]) for site in sites)
                    alive = (_nearest(sites, f"symbol:{whole}"),) if sites else ()
                    found.append(Dropped(whole, path, line, rule, reason, named, alive))
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

    def explain_removed(self, number: int, *, alive: bool = False) -> Dropped:
        """Why a unit is not live.

        Args:
            alive: look for what would have kept it.
        """
        unit = self._units[number]
        name = self.name(number)
        owner = self.owner(number)
        if unit[1] == "member" and not self.is_live(owner):
            reason = f"its class goes: nothing kept names {self.name(owner)}"
        elif unit[1] == "member":
            reason = "nothing kept looks up its name on an object that may be of its class"
        elif unit[1] == "main":
            reason = "no root runs the module as a program; a named error stands in its place"
        else:
            reason = "nothing kept names it"
        return Dropped(
            name,
            self._path(number),
            unit[3],
            "unreachable",
            reason,
            tuple(self._named_by(number)),
            self._alive(number) if alive else (),
        )

    def _named_by(self, number: int) -> Iterable[Site]:
        for edge in self._dead_incoming(number):
            step = self._step(edge)
            yield Site(step.path, edge[3], self._node(edge[0]).removeprefix("symbol:"), "itself removed (unreachable)")
        for path, line, fate, around, _ in self._sites(number):
            yield Site(path, line, around or path, fate)

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
        found = list(self._from_removed.get(number, ()))
        unit = self._units[number]
        if unit[1] == "member":
            name = f"name:{unit[2].rpartition('.')[2]}"
            found.extend(self._from_removed.get(self._numbers.get(name, -1), ()))
        return [edge for edge in found if edge[0] != number]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: len(self._units) + n for n, name in enumerate(self._others)}

    def _alive(self, number: int) -> tuple[Step, ...]:
        """Backwards from a removed unit to the nearest place that is not just removed for the same reason."""
        after: dict[int, tuple[Step, int] | None] = {number: None}
        frontier = [number]
        at = number
        while frontier:
            wave: list[int] = []
            for at in frontier:
                sites = self._sites(at)
                if sites:
                    return (_nearest(sites, self._node(at)), *_down(after, at))
                for edge in self._dead_incoming(at):
                    if edge[0] not in after:
                        kind = self._data["kinds"][edge[2]]
                        step = Step(self._node(edge[0]), self._node(at), kind, self._path(edge[0]), edge[3])
                        after[edge[0]] = (step, at)
                        wave.append(edge[0])
            frontier = sorted(wave)
        return _down(after, at)


def _nearest(sites: list[list[Any]], target: str) -> Step:
    """From the place that would first have kept a symbol: in a kept symbol, then in a removed file."""
    path, line, fate, around, _ = min(sites, key=lambda s: (not s[3], s[0], s[1]))
    return Step(f"symbol:{around}" if around else f"file:{path}", target, fate, path, line)


def _down(after: dict[int, tuple[Step, int] | None], number: int) -> tuple[Step, ...]:
    steps: list[Step] = []
    while (following := after[number]) is not None:
        step, number = following
        steps.append(step)
    return tuple(steps)
