"""What is kept and what is left of it: facts, folding and reachability."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, cast

from shrinker.cache import Question, Recorded, Variants, digest_of, hash_of, pack, unpack
from shrinker.cache.layer import Counts
from shrinker.cache.workers import Tell, run_in_child
from shrinker.facts.environment import build_environment
from shrinker.fold.engine import FoldEngine
from shrinker.fold.module import fold_companions
from shrinker.pipeline.run import Run, Told
from shrinker.program.decided import Analysis
from shrinker.program.distributions import decide_distributions, with_uncertain
from shrinker.program.known import find_known_names
from shrinker.program.native.cuts import cargo_cuts, refuted_cuts
from shrinker.program.native.prune import prune_companions
from shrinker.program.propagation import find_needed, propagate_attributes
from shrinker.program.reach import FileGraph
from shrinker.program.symbols.dead import (
    NamedPlaces,
    dead_spans,
    live_again,
    loading_spans,
    search_symbols,
)
from shrinker.program.symbols.saved import found_symbols
from shrinker.program.symbols.search import Search
from shrinker.program.written import written_imports
from shrinker.values.edits import Span
from shrinker.values.errors import ShrinkerError
from shrinker.values.folded import EMPTY_SYMBOLS, FoldedModule
from shrinker.values.graph import Graph
from shrinker.values.relations import grouped
from shrinker.values.upstream import PACKAGE_PREFIX, modules_of


def analyse(run: Run, unwritable: Mapping[str, str] | None = None) -> Analysis:
    """Facts, folding and reachability; writes nothing.

    Files that are `unwritable` stay as upstream wrote them.

    An earlier run's is used again where no file that it looked at differs: commits that touch
    documents, tests and what is not kept outside the package are many. An analysis looks at the
    rules and the tool, all files of the package, the paths of all others, and those of them that
    were kept in any of its steps. Raises InputError: rules and upstream cannot be brought together,
    or a file does not parse. ShrinkerError: the process that analyses was killed.
    """
    stay, tree, cache = unwritable or {}, run.tree, run.cache
    if not cache.enabled:
        return _Steps(run, stay).analysis()
    results = Variants(cache, "analyses")
    files = (
        f"{f.path} {f.sha256}" if f.path.startswith(PACKAGE_PREFIX) else f.path for f in tree.files
    )
    settings = (
        run.rules.model_dump_json(),
        repr(sorted(stay.items())),
        repr(run.explained),
        repr(tree.declared),
    )
    looked_at = hash_of(*settings, *files).hex()

    def contents(asked: tuple[Question, ...]) -> bytes:
        return digest_of(tree.by_path[path].sha256 for (path,) in asked)

    if known := results.recall({"": looked_at}, contents):
        return cast(Analysis, unpack(known[""]))

    def call(tell: Tell) -> tuple[bytes, dict[str, float], dict[str, Counts]]:
        there = replace(run, progress=Told(tell), timings={})
        steps = _Steps(there, stay)
        packed = pack(steps.analysis())
        outside = tuple(
            (path,) for path in sorted(steps.kept) if not path.startswith(PACKAGE_PREFIX)
        )
        results.learn(looked_at, Recorded(outside, contents(outside), packed))
        results.save()
        return packed, there.timings, cache.counts

    # In a process of its own: it takes three times the memory of all that follows.
    with run_in_child(call) as child:
        for name, *arguments in cast(Iterator[tuple[Any, ...]], child.hear()):
            getattr(run.progress, name)(*arguments)
        try:
            packed, took, counts = child()
        except BrokenProcessPool as error:
            message = "the process that decides what stays was killed (often: out of memory)"
            raise ShrinkerError(message, "run again with fewer JOBS") from error
    run.timings.update(
        {name: run.timings.get(name, 0.0) + seconds for name, seconds in took.items()}
    )
    cache.counts.update(counts)
    return cast(Analysis, unpack(packed))


@dataclass
class _Steps:
    """One analysis."""

    run: Run
    unwritable: Mapping[str, str]
    kept: set[str] = field(default_factory=set)
    """Paths that any step kept."""

    @cached_property
    def files(self) -> FileGraph:
        """The graph of files."""
        return FileGraph(self.run.tree, self.run.rules)

    def analysis(self) -> Analysis:
        """Return all steps in their order."""
        run, tree, rules = self.run, self.run.tree, self.run.rules
        with run.timed("facts"):
            environment = build_environment(
                tree, rules, jobs=run.jobs, progress=run.progress.advance, cache=run.cache
            )
            written = written_imports(tree, run.cache)
        with (
            run.timed("fold and graph"),
            FoldEngine(
                tree,
                environment,
                jobs=run.jobs,
                progress=lambda done: run.progress.advance(done, None),
                cache=run.cache,
                unwritable=self.unwritable,
                leads=self.files.leads,
            ) as engine,
        ):
            graph, folded = self._settled(engine)
            with run.timed("symbols"):
                graph, folded, search, units = self._shaken(engine, graph, folded)
            # The search has read the units, and what is left is to be written.
            folded = {path: replace(module, units=EMPTY_SYMBOLS) for path, module in folded.items()}
            with run.timed("native"):
                companions = partial(fold_companions, tree, engine.environment)
                graph, beside, cuts = prune_companions(
                    tree, rules, graph, folded, companions, run.cache
                )
                cuts += [*cargo_cuts(tree, graph), *refuted_cuts(tree, graph.kept, rules.undefined)]
            folded |= beside
            rescued = {
                name: f"{path}:{use.line} uses {use.name}"
                for name, (path, use) in engine.rescued.items()
            }
        with run.timed("distributions"):
            distributions = decide_distributions(tree, rules, graph, folded, written)
        symbols: Mapping[str, Any] = {}
        edges: Sequence[tuple[int, ...]] = ()
        if run.explained:
            with run.timed("symbols"):
                symbols, edges = found_symbols(
                    search, units, tree, graph, written, environment.outlines
                )
        known = find_known_names(engine.environment, tree, folded, run.cache)
        graph = with_uncertain(graph, distributions)
        by_path = {path: tuple(sorted({*found})) for path, found in sorted(grouped(cuts).items())}
        found = (graph, folded, rescued, written, distributions, symbols, edges)
        return Analysis(*found, dict(engine.refinements), by_path, known)

    def _graph(self, engine: FoldEngine) -> tuple[Graph, dict[str, FoldedModule]]:
        graph, folded = self.files.build(engine.fold, engine.rescued)
        self.kept.update(graph.kept)
        return graph, folded

    def _settled(self, engine: FoldEngine) -> tuple[Graph, dict[str, FoldedModule]]:
        """Return the files that are kept, once no removed module must stay and every import is
        there that must run.
        """
        while True:
            graph, folded = self._graph(engine)
            if not engine.rescue(graph.kept):
                needed = dict(find_needed(folded.values(), engine.refinements))
                if not needed:
                    return graph, folded
                engine.refold(needed)

    def _shaken(
        self, engine: FoldEngine, whole: Graph, units: dict[str, FoldedModule]
    ) -> tuple[Graph, dict[str, FoldedModule], Search, dict[str, FoldedModule]]:
        """Drop what nothing reachable names, and the files that only it named; and what follows
        from that, until nothing does: what is left, the last search, and the modules that it was
        made in.
        """
        stay = frozenset[str]()
        before, dead = dict(engine.refinements), dict[str, frozenset[Span]]()
        named, modules = NamedPlaces(self.run.tree), modules_of(self.run.tree.by_path)
        while True:
            stay |= {module.module for module in units.values() if module.whole}
            found = search_symbols(self.run.tree, self.run.rules, whole, units, named, stay)
            if back := live_again(found, dead):
                # What was derived without it may not hold.
                stay |= back
                units |= {module.path: module for module in engine.restore(before)}
                dead = {}
                continue
            dead = dead_spans(found, modules)
            engine.drop(dead, loading_spans(found))
            # All at once: the waves of the search would keep one process waiting for the other.
            engine.fold(sorted(path for path in dead if units[path].module in found.loaded))
            graph, folded = self._graph(engine)
            # A file that the file graph keeps and the search did not load would miss what the
            # search took to be dead.
            kept = {module.module for module in folded.values()}
            missed = kept - found.loaded.keys() - stay
            stay |= missed
            if missed:
                continue
            changed = propagate_attributes(
                engine.refold, engine.refinements, folded, found.types, found.outside, found.live
            )
            if not changed:
                return graph, folded, found, units
            # What these modules name now is searched anew, with nothing dropped.
            del found
            units |= {module.path: module for module in engine.whole(changed)}
