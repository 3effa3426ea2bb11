"""One question, whichever kind of thing it names: files and distributions first, then definitions
and statements.
"""

import difflib
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from shrinker.program.saved import FORMAT, Files, load_report
from shrinker.program.symbols.why import Symbols, load_symbols
from shrinker.values.errors import InputError
from shrinker.values.graph import Chain, Removed
from shrinker.values.relations import grouped

SYMBOLS = "symbols.json"
"""Beside the saved graph."""
_PARTS = re.compile(r"[./:]")


@dataclass
class SavedRun:
    """What a run saved, each part read once."""

    graph: Path
    """The saved graph; the search of the same run is beside it."""

    @cached_property
    def data(self) -> dict[str, Any]:
        """The saved graph."""
        graph: dict[str, Any] = load_report(self.graph, FORMAT)
        return graph

    @cached_property
    def files(self) -> Files:
        """The same, to be asked."""
        return Files(self.data)

    @cached_property
    def symbols(self) -> Symbols:
        """The saved search; one that found nothing where it is not there."""
        return load_symbols(self.graph.with_name(SYMBOLS))

    def names(self) -> Iterator[str]:
        """Yield names of everything of which the run knows."""
        yield from (unit.name for unit in self.symbols.units)
        yield from self.files.names()
        yield from self.data.get("whys", ())
        yield from (
            f"{module}.{row[0]}" for module, rows in self.data["defines"].items() for row in rows
        )


def ask(run: SavedRun, query: str, *, every: bool = False) -> list[Chain | Removed]:
    """Return what became of everything that a query names; nothing where there is nothing of that
    name.

    Raises InputError: it names several things, or a line in which nothing stands. A query is a
    module, path, file name, distribution or kernel; or a symbol: ``module.Class.method``, an ending
    of it, or ``path:line`` of upstream. With `every` there is a chain for each place that names it,
    not only the best.
    """
    files, symbols = run.files, run.symbols
    nodes, removed = files.kept(query), files.removed(query)
    chains = [
        chain
        for node in nodes or files.defining(query)
        for chain in files.chains(node, every=every)
    ]
    if nodes or removed:
        return [*chains, *removed]
    found, decided = symbols.find(query), files.decided(query)
    dropped = [symbols.explain_removed(n) for n in found if not symbols.units[n].live]
    dropped = dropped or symbols.gone(query) or decided
    # Of a line that went something around it may stay.
    live = [] if decided else [n for n in found if symbols.units[n].live]
    if not (found or dropped):
        # A statement may define a name that it does not bear.
        return [*files.held(query)] or [*chains]
    return [*(chain for number in live for chain in symbols.explain(number, every=every)), *dropped]


def why(run: SavedRun, query: str, *, every: bool = False) -> list[Chain]:
    """Chains from a root to what is kept; arguments as of `ask`.

    Raises InputError when nothing kept has that name.
    """
    if chains := [one for one in _known(run, query, every) if isinstance(one, Chain)]:
        return chains
    raise InputError(f"{query} is not in the generated tree", f"ask `shrinker why-not {query}`")


def why_not(run: SavedRun, query: str) -> list[Removed]:
    """Return what removed something; arguments as of `ask`.

    Raises InputError when nothing removed has that name.
    """
    if removed := [one for one in _known(run, query) if isinstance(one, Removed)]:
        return removed
    raise InputError(f"{query} is kept", f"ask `shrinker why {query}`")


def _known(run: SavedRun, query: str, every: bool = False) -> list[Chain | Removed]:
    if found := ask(run, query, every=every):
        return found
    raise unknown(query, run.names())


def unknown(name: str, known: Iterable[str]) -> InputError:
    """Return an error that names what is near: by its last part first, and then as a whole."""
    dotted = not name.startswith(("/", "--"))

    def last(one: str) -> str:
        return _PARTS.split(one)[-1] if dotted else one

    asked = last(name)
    ends = ((last(one), one) for one in dict.fromkeys(known))
    # Compared are those of about the same length that begin alike: there are a hundred thousand
    # names.
    alike = grouped(
        pair for pair in ends if abs(len(pair[0]) - len(asked)) < 4 and pair[0][:1] == asked[:1]
    )
    found = [
        one for end in difflib.get_close_matches(asked, list(alike), 4, 0.75) for one in alike[end]
    ]
    found.sort(key=lambda one: -difflib.SequenceMatcher(None, name, one).ratio())
    near = f"; did you mean {', '.join(found[:4])}?" if found else ""
    return InputError(
        f"neither the tree nor upstream has {name!r}{near}",
        (
            "give a file, folder, module, class, function, member, path:line, flag, variable, "
            "endpoint, kernel, package, rule, or a text that the code says"
        ),
    )


def sample(run: SavedRun, count: int, seed: int, *, live: bool) -> list[str]:
    """Return names of symbols drawn at random, kept or `live=False` of kept modules and not kept,
    for a spot check: each a question for `why` or `why_not`; all where there are fewer. The same
    seed draws the same names. Raises InputError when the saved search is not there.
    """
    if not run.symbols.units:
        raise InputError(f"{run.graph.with_name(SYMBOLS)} is not there", "run `make shrink`")
    names = run.symbols.named_units(live=live)
    return random.Random(seed).sample(names, min(count, len(names)))
