"""What is kept and what is left of it: facts, folding and reachability, with the answer of an earlier run where it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace

from shrinker.cache import Cache
from shrinker.cache.workers import beside
from shrinker.emit.workers import load_rewriting
from shrinker.facts.build import build_environment
from shrinker.fold.engine import FoldEngine
from shrinker.fold.propagate.surroundings import Surroundings
from shrinker.pipeline.analysis_cache import AnalysisMemory
from shrinker.pipeline.kept import Analysed
from shrinker.pipeline.progress import Progress, timed
from shrinker.program.ahead import import_leads
from shrinker.program.build import build_graph
from shrinker.program.distributions import decide_distributions, with_uncertain
from shrinker.program.symbols.dead import Searched, dead_spans, search_symbols
from shrinker.program.symbols.result import leave_out
from shrinker.program.symbols.saved import SymbolData, found_symbols
from shrinker.program.written import Written, written_imports
from shrinker.ruleset import Ruleset
from shrinker.values.distributions import Distributions
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph
from shrinker.values.units import NO_UNITS
from shrinker.values.upstream import UpstreamTree, modules_of

_FEW = 0.1
"""Of all modules: where fewer are folded anew, as few are rewritten."""


@dataclass(slots=True)
class Decided:
    """What analysis decided, before anything is written."""

    graph: Graph
    folded: dict[str, FoldedModule]
    rescued: dict[str, str]
    written: Written
    """Imports of all of upstream, as they are written."""
    distributions: Distributions
    symbols: SymbolData | None = None
    """What the search of symbols found; None when there was none, or before `proven`."""
    again: bool = False
    """True where an analysis of an earlier run holds: then there was little to do, and little is left."""
    later: Callable[[], None] = lambda: None
    """Work that nothing waits for but reports and later runs: to be called once, while other processes are busy."""
    proof: Callable[[], SymbolData | None] | None = None
    """Waits for what the search of symbols found; None of it where all of this does not hold."""

    def proven(self) -> bool:
        """Whether all of it holds; waits for the search that says so, and takes what it found."""
        if self.proof is not None:
            self.symbols, self.proof = self.proof(), None
            return self.symbols is not None
        return True


def analyse(
    tree: UpstreamTree,
    rules: Ruleset,
    jobs: int,
    timings: dict[str, float],
    progress: Progress,
    cache: Cache | None = None,
    unwritable: Mapping[str, str] | None = None,
    *,
    symbols: bool = False,
    deferred: bool = False,
    begun: Callable[[Graph], None] = lambda graph: None,
    stack: ExitStack | None = None,
) -> Decided:
    """Facts, folding and reachability; writes nothing.

    Args:
        unwritable: files that stay as upstream wrote them, and why.
        symbols: remove what nothing reachable names, too.
        deferred: leave `symbols` to `later`.
        begun: called with what is kept before anything is refined, where nothing of an earlier run holds.
        stack: ends a process that is left to prove what is handed over (`Decided.proven`); by default nothing is.
    """
    cache = cache or Cache.off()
    with timed("facts", timings, progress):
        environment = build_environment(tree, rules, jobs=jobs, progress=progress.advance, cache=cache)
    with (
        timed("fold and graph", timings, progress),
        FoldEngine(
            tree,
            environment,
            jobs=jobs,
            progress=lambda done: progress.advance(done, None),
            cache=cache,
            unwritable=unwritable,
            units=symbols,
            leads=import_leads(tree, rules),
        ) as engine,
    ):
        memory = AnalysisMemory(tree, rules, engine, cache, f"{symbols} {sorted((unwritable or {}).items())}")
        found = memory.recall(stack if symbols else None)
        searched: Searched | None = None
        if fresh := found is None:
            found, searched = _analyse(
                tree, rules, engine, timings, progress, cache, unwritable or {}, memory, begun, symbols=symbols
            )
    with timed("distributions", timings, progress):
        written = written_imports(tree, cache)
        distributions = decide_distributions(tree, rules, found.graph, found.folded, written)
    graph = with_uncertain(found.graph, distributions)
    decided = Decided(
        graph, found.folded, found.rescued, written, distributions, found.symbols, not fresh, proof=found.proof
    )

    def told() -> SymbolData | None:
        symbols = found_symbols(searched, tree, written) if searched is not None else None
        folded, stay = (searched.folded, searched.stay) if searched is not None else ({}, None)
        memory.keep(replace(found, symbols=symbols), folded, stay)
        return symbols

    def later() -> None:
        nonlocal searched
        decided.symbols = told()
        # As large as all that was folded.
        searched = None

    if not fresh:
        return decided
    if not deferred:
        later()
    elif stack is not None and searched is not None and jobs > 1 and engine.folded_anew < len(decided.folded) * _FEW:
        # Little is to be written and judged: no other process will be at work.
        decided.proof = _beside(told, stack)
    else:
        decided.later = later
    return decided


def _beside(told: Callable[[], SymbolData | None], stack: ExitStack) -> Callable[[], SymbolData | None]:
    """What waits for it, from a process of its own or, where that was killed, from this one."""
    wait = stack.enter_context(beside(told))

    def result() -> SymbolData | None:
        try:
            return wait()
        except EOFError:
            return told()

    return result


def _analyse(
    tree: UpstreamTree,
    rules: Ruleset,
    engine: FoldEngine,
    timings: dict[str, float],
    progress: Progress,
    cache: Cache,
    unwritable: Mapping[str, str],
    memory: AnalysisMemory,
    begun: Callable[[Graph], None],
    *,
    symbols: bool,
) -> tuple[Analysed, Searched | None]:
    """What was decided, without `symbols`, and the search that tells these."""
    surroundings: Surroundings | None = None
    while True:
        graph, folded = build_graph(tree, rules, engine.fold, rescued=engine.rescued)
        begun(graph)
        memory.saw(graph)
        if engine.rescue(graph.kept):
            surroundings = None
            continue
        if surroundings is None:
            surroundings = Surroundings(tree, rules, graph.kept, graph.ruled_out, cache)
        if not engine.refine(folded, surroundings):
            break
    searched: Searched | None = None
    if symbols:
        with timed("symbols", timings, progress):
            graph, folded, searched = _shake(tree, rules, engine, graph, folded, unwritable, memory)
    # The search has read them, and what is left is to be written.
    folded = {path: replace(module, units=NO_UNITS) for path, module in folded.items()}
    folded |= engine.companions(graph.kept)
    rescued = {name: f"{path}:{use.line} uses {use.name}" for name, (path, use) in engine.rescued.items()}
    return Analysed(graph, folded, rescued, None), searched


def _shake(
    tree: UpstreamTree,
    rules: Ruleset,
    engine: FoldEngine,
    graph: Graph,
    folded: dict[str, FoldedModule],
    unwritable: Mapping[str, str],
    memory: AnalysisMemory,
) -> tuple[Graph, dict[str, FoldedModule], Searched]:
    """Drop what nothing reachable names, and the files that only it named."""
    whole, units = graph, folded
    given = stay = frozenset(folded[path].module for path in unwritable if path in folded)
    modules = modules_of(tree.by_path)
    while True:
        found = search_symbols(tree, rules, whole, units, stay)
        dead = dead_spans(found, modules)
        engine.drop(dead)
        # All at once: the waves of the search would keep one process waiting for the other.
        engine.fold(sorted(path for path in dead if units[path].module in found.loaded), load_rewriting)
        graph, folded = build_graph(tree, rules, engine.fold, rescued=engine.rescued)
        memory.saw(graph)
        # A file that the file graph keeps and the search did not load would miss what the search took to be dead.
        kept = {module.module for module in folded.values()}
        missed = kept - found.loaded.keys() - stay
        if not missed:
            leave_out(found, kept)
            return graph, folded, Searched(found, units, stay if stay == given else None)
        stay |= missed
