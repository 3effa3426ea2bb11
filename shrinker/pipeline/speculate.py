"""The search of symbols, made beside what goes on as if it had found what an earlier one did.

Most commits that touch kept modules change what functions do, and hardly ever what is reachable. Where rounds and the graph of
files say what they said (`shrinker.fold.alike`), the search alone could still tell otherwise. It is the longest step that is left,
and all that later phases ask of it is what is dead. So they take that from the earlier run, while a process of its own searches
anew. Nothing is put in its place before that search said the same: what it found is what the reports say.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from shrinker.cache import Cache
from shrinker.fold.alike import Folding
from shrinker.fold.engine import FoldEngine
from shrinker.program.build import build_graph
from shrinker.program.symbols.dead import Place, Searched, dead_spans, named_places, search_symbols
from shrinker.program.symbols.result import leave_out
from shrinker.program.symbols.saved import SymbolData, found_symbols
from shrinker.program.written import written_imports
from shrinker.ruleset import Ruleset
from shrinker.values.edits import Span
from shrinker.values.folded import Escape, FoldedModule
from shrinker.values.upstream import UpstreamTree, modules_of

Dead = Mapping[str, frozenset[Span]]
"""Spans of what nothing names, by path."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier search looked at and found."""

    steps: Mapping[str, Folding]
    """How each module was folded that it looked at, by path."""
    dead: Dead
    symbols: SymbolData
    kept: Collection[str]
    """Dotted names of the modules that stayed."""
    rescues: Mapping[str, tuple[str, Escape]]
    """Of each rescued module, the path and use that keep it."""
    stay: frozenset[str]
    """Modules that stay as upstream wrote them."""


Proof = Callable[[], tuple[Dead, SymbolData] | None]
"""What is dead in the modules that changed, and all that the search found; None where anything else is dead than was."""


def search_again(
    tree: UpstreamTree,
    rules: Ruleset,
    engine: FoldEngine,
    cache: Cache,
    earlier: Earlier,
    changed: Collection[str],
    folded: Callable[[], Mapping[str, FoldedModule]],
    asked: Callable[[], Mapping[str, Place | None]],
    alike: Callable[[], bool],
) -> tuple[Dead, SymbolData] | None:
    """Search a tree in which some modules changed inside.

    Args:
        tree: upstream.
        rules: of the profile.
        engine: folds what changed; all else is known to it.
        cache: of earlier runs.
        earlier: the search before.
        changed: paths of the modules whose texts differ.
        folded: waits for what they fold to in the same steps, by path.
        asked: where any code of upstream names a method that nothing reached then, as far as that was asked then.
        alike: whether the steps before those look as they did.

    Returns:
        See `Proof`.
    """
    known = engine.recalled({path: step for path, step in earlier.steps.items() if path not in changed})
    modules = known | {path: module for path, module in folded().items() if path in earlier.steps}
    if modules.keys() != earlier.steps.keys():
        return None
    places: Mapping[str, Place | None] | None = None

    def named(names: Collection[str]) -> Mapping[str, Place]:
        nonlocal places
        if places is None:
            places = asked()
        found = {name: place for name in names if (place := places.get(name)) is not None}
        return found | named_places(tree, [name for name in names if name not in places])

    try:
        graph, units = build_graph(
            tree, rules, lambda paths: [modules[path] for path in paths], rescued=earlier.rescues
        )
    except KeyError:
        # A module that the earlier graph did not reach.
        return None
    search = search_symbols(tree, rules, graph, units, earlier.stay, named=named)
    dead = dead_spans(search, modules_of(tree.by_path))
    if {path: spans for path, spans in dead.items() if path not in changed} != {
        path: spans for path, spans in earlier.dead.items() if path not in changed
    }:
        return None
    if any(name not in search.loaded and name not in earlier.stay for name in earlier.kept):
        return None
    leave_out(search, earlier.kept)
    same = {module.module for path, module in units.items() if path not in changed}
    found = found_symbols(Searched(search, units), tree, written_imports(tree, cache), earlier.symbols, same)
    if not alike():
        return None
    return {path: dead[path] for path in changed if path in dead}, found
