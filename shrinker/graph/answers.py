"""One question, whichever kind of thing it names: files and distributions first, then definitions and statements."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shrinker.graph.saved import load_graph
from shrinker.graph.symbols.why import Dropped, Symbols, load_symbols
from shrinker.graph.why import Chain, Unreached, explain, explain_removed, names_file
from shrinker.values.errors import InputError

SYMBOLS = "symbols.json"
"""Beside the saved graph."""


def why(graph: Path, query: str, *, every: bool = False) -> list[Chain]:
    """Chains from a root to what is kept.

    Args:
        graph: a saved graph; the search of the same run is beside it.
        query: a module, path, file name, distribution or kernel; or a symbol: ``module.Class.method``, an ending of it, or
            ``path:line`` of upstream.
        every: a chain for each place that names it, not only the shortest.

    Raises:
        InputError: nothing kept has that name.
    """
    data = load_graph(graph)
    symbols = None if names_file(data, query) else load_symbols(graph.with_name(SYMBOLS))
    if symbols is None:
        return explain(data, query, every=every)
    found = symbols.find(query)
    kept = [number for number in found if symbols.is_live(number)]
    if kept:
        return [chain for number in kept for chain in symbols.explain(number, every=every)]
    if found or symbols.gone(query) or _removed_module(data, query):
        raise InputError(f"{query} is not in the generated tree", f"ask `shrinker why-not {query}`")
    return explain(data, query, every=every)


def why_not(graph: Path, query: str, *, alive: bool = False) -> list[Unreached | Dropped]:
    """What removed something.

    Args:
        graph: a saved graph; the search of the same run is beside it.
        query: as of `why`.
        alive: say what would have kept a symbol.

    Raises:
        InputError: nothing removed has that name.
    """
    data = load_graph(graph)
    symbols = None if names_file(data, query) else load_symbols(graph.with_name(SYMBOLS))
    if symbols is None:
        return [*explain_removed(data, query)]
    found = symbols.find(query)
    dropped = [symbols.explain_removed(n, alive=alive) for n in found if not symbols.is_live(n)] or symbols.gone(query)
    if dropped:
        return [*dropped]
    if found:
        raise InputError(f"{query} is kept", f"ask `shrinker why {query}`")
    return [*explain_removed(data, _removed_module(data, query) or query)]


def _removed_module(data: Mapping[str, Any], query: str) -> str:
    """The removed module that a dotted name is of; empty when there is none."""
    name = query.strip().removeprefix("symbol:").rpartition(".")[0]
    while "." in name:
        if f"python/{name.replace('.', '/')}.py" in data["removed"]:
            return name
        name = name.rpartition(".")[0]
    return ""


__all__ = ["Dropped", "Symbols", "why", "why_not"]
