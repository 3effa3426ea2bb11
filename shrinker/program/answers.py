"""One question, whichever kind of thing it names: files and distributions first, then definitions and statements."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from shrinker.program.saved import load_graph
from shrinker.program.symbols.table import Dropped, Site
from shrinker.program.symbols.why import Symbols, load_symbols
from shrinker.program.why import Chain, Unreached, explain, explain_removed, names_file
from shrinker.values.errors import InputError
from shrinker.values.upstream import module_name

SYMBOLS = "symbols.json"
"""Beside the saved graph."""


@dataclass
class SavedRun:
    """What a run saved, each part read once."""

    graph: Path
    """The saved graph; the search of the same run is beside it."""

    @cached_property
    def data(self) -> dict[str, Any]:
        """The saved graph."""
        return load_graph(self.graph)

    @cached_property
    def symbols(self) -> Symbols | None:
        """The saved search; None where it is not there."""
        return load_symbols(self.graph.with_name(SYMBOLS))


def why(run: SavedRun, query: str, *, every: bool = False) -> list[Chain]:
    """Chains from a root to what is kept.

    Args:
        run: that is asked.
        query: a module, path, file name, distribution or kernel; or a symbol: ``module.Class.method``, an ending of it, or
            ``path:line`` of upstream.
        every: a chain for each place that names it, not only the shortest.

    Raises:
        InputError: nothing kept has that name.
    """
    data = run.data
    symbols = None if names_file(data, query) else run.symbols
    if symbols is None:
        return explain(data, query, every=every)
    found = symbols.find(query)
    kept = [number for number in found if symbols.is_live(number)]
    went = _decided_at(data, query)
    if kept and not went:
        return [chain for number in kept for chain in symbols.explain(number, every=every)]
    if found or went or symbols.gone(query) or _removed_module(data, query) or _defined_in_removed(data, query):
        raise InputError(f"{query} is not in the generated tree", f"ask `shrinker why-not {query}`")
    _refuse_line(data, query)
    return explain(data, query, every=every)


def why_not(run: SavedRun, query: str, *, alive: bool = False) -> list[Unreached | Dropped]:
    """What removed something.

    Args:
        run: that is asked.
        query: as of `why`.
        alive: say what would have kept a symbol.

    Raises:
        InputError: nothing removed has that name.
    """
    data = run.data
    symbols = None if names_file(data, query) else run.symbols
    if symbols is None:
        return [*explain_removed(data, query)]
    found = symbols.find(query)
    dropped = [symbols.explain_removed(n, alive=alive) for n in found if not symbols.is_live(n)] or symbols.gone(query)
    if dropped or (dropped := _decided_at(data, query)):
        return [*dropped]
    if found:
        raise InputError(f"{query} is kept", f"ask `shrinker why {query}`")
    _refuse_line(data, query)
    if defined := _defined_in_removed(data, query):
        return [*defined]
    return [*explain_removed(data, _removed_module(data, query) or query)]


def sample(run: SavedRun, count: int, seed: int, *, live: bool) -> list[str]:
    """Names of symbols drawn at random, for a spot check: each a question for `why` or `why_not`.

    Args:
        run: that is asked.
        count: how many; all where there are fewer.
        seed: the same one draws the same names from the same tree.
        live: True for symbols that are kept, False for those of kept modules that are not.

    Raises:
        InputError: the saved search is not there.
    """
    symbols = run.symbols
    if symbols is None:
        raise InputError(f"{run.graph.with_name(SYMBOLS)} is not there", "run `make shrink`")
    names = symbols.named_units(live=live)
    return random.Random(seed).sample(names, min(count, len(names)))


def _decided_at(data: Mapping[str, Any], query: str) -> list[Dropped]:
    """What was decided about the line of a kept file that ``path:line`` names, where the line went by that."""
    path, line = _line(query)
    found: list[Dropped] = []
    for file in _ending(data["decisions"], path) if path else ():
        rows = data["decisions"][file]
        around = [row for row in rows if row[6] <= line <= row[7]]
        if around:
            at, rule, _, text, outcome, *_ = min(around, key=lambda row: (row[7] - row[6], row[0]))
            found.append(Dropped(f"{file}:{line}", file, line, rule, f"`{text}` is {outcome} (line {at})"))
    return found


def _refuse_line(data: Mapping[str, Any], query: str) -> None:
    """A line of a kept file in which nothing stands that could be kept or removed by itself."""
    path, line = _line(query)
    if path and any(_ending(data["kept"], path)):
        raise InputError(
            f"line {line} of {path} belongs to no statement", "a comment or empty line goes with what is around it"
        )


def _line(query: str) -> tuple[str, int]:
    """The two parts of ``path:line``; no path where it is something else."""
    path, _, number = query.strip().rpartition(":")
    return (path, int(number)) if path and number.isdigit() else ("", 0)


def _ending(files: Iterable[str], path: str) -> Iterator[str]:
    """The files that a path or an ending of one names."""
    return (file for file in files if file == path or file.endswith(f"/{path}"))


def _removed_module(data: Mapping[str, Any], query: str) -> str:
    """The removed module that a dotted name is of; empty when there is none."""
    name = query.strip().removeprefix("symbol:").rpartition(".")[0]
    while "." in name:
        if f"python/{name.replace('.', '/')}.py" in data["removed"]:
            return name
        name = name.rpartition(".")[0]
    return ""


def _defined_in_removed(data: Mapping[str, Any], query: str) -> list[Dropped]:
    """Functions and classes of removed modules with this name, or whose member has it: ``Class``, ``Class.method`` or more of the path."""
    whole = query.strip().removeprefix("symbol:")
    found: list[Dropped] = []
    for name in (whole, whole.rpartition(".")[0]):
        for path, line in data.get("gone", {}).get(name.rpartition(".")[2], ()):
            symbol = f"{module_name(path)}.{name.rpartition('.')[2]}"
            if symbol == name or symbol.endswith(f".{name}"):
                rule, reason = data["removed"][path]
                sites = (Site(by, at, by, fate) for by, at, fate in data["importers"].get(path, ()))
                found.append(Dropped(symbol, path, line, rule, f"its module goes: {reason}", tuple(sites)))
        if found:
            break
    return found


__all__ = ["Dropped", "SavedRun", "Symbols", "sample", "why", "why_not"]
