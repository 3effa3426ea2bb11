"""Fold many modules: worker processes, results remembered, uses that escape their rule honoured.

When kept code turns out to run a name of a module that a rule removes, the module is rescued: it
stays, is listed as uncertain, and every module that imports it is folded again.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from pathlib import Path

from shrinker.cache import Cache, Variants, unpack
from shrinker.facts.environment import Environment, outline_file
from shrinker.facts.lattice import Removed, Value
from shrinker.fold.dependency_tracker import Answers, canonical
from shrinker.fold.exports import LOADED
from shrinker.fold.workers import FoldWorkers, Result, Wanted, World
from shrinker.syntax.parsing import decode
from shrinker.syntax.ranges import Lines
from shrinker.values.edits import Span
from shrinker.values.folded import NOTHING, FoldedModule, LeakedUse, Refinement
from shrinker.values.upstream import UpstreamTree, enclosing, modules_of


class FoldEngine:
    """Folds modules on demand, each once for a given set of rescued modules."""

    def __init__(
        self,
        tree: UpstreamTree,
        environment: Environment,
        *,
        jobs: int,
        progress: Callable[[int], None] = lambda done: None,
        cache: Cache | None = None,
        unwritable: Mapping[str, str] | None = None,
        leads: Callable[[FoldedModule], Iterable[str]] = lambda module: (),
    ) -> None:
        """
        Args:
            progress: called with the number of modules folded so far.
            unwritable: paths that stay as upstream wrote them, and why.
            leads: paths of modules that will be asked for because of a folded one; those are
                folded before they are.
        """
        self._leads = leads
        self._workers = FoldWorkers(tree, jobs)
        self.tree = tree
        self.environment = environment
        self.progress = progress
        self.folded: dict[str, FoldedModule] = {}
        self.rescued: dict[str, tuple[str, LeakedUse]] = {}
        """Module to the path and use that keep it."""
        self.refinements: dict[str, Refinement] = {}
        """What propagation and the search found out, by path."""
        self._unwritable = unwritable or {}
        self.folded_anew = 0
        """Modules that no earlier run folded, each counted once for every time."""
        self._cache = cache or Cache()
        self._results = Variants(self._cache, "folded")
        self._answers: Answers | None = None

    def __enter__(self) -> "FoldEngine":
        return self

    def __exit__(self, *_: object) -> None:
        self._workers.close()
        self._results.save()

    def fold(self, paths: Sequence[str]) -> Iterable[FoldedModule]:
        """Folded modules of these paths, in their order.

        Raises InputError: a file does not parse, or a worker died.
        """
        for module, recorded in self._fold([p for p in paths if p not in self.folded]):
            self.folded[module.path] = module
            self.folded_anew += 1
            if recorded is not None:
                self._results.learn(self._input(module.path), recorded)
            self.progress(len(self.folded))
        self.progress(len(self.folded))
        return [self.folded[p] for p in paths]

    def _recall(self, paths: Iterable[str]) -> tuple[dict[str, FoldedModule], list[Wanted]]:
        """Return modules that an earlier run folded, and the others."""
        world, inputs = self._world(), {path: self._input(path) for path in paths}
        found: dict[str, FoldedModule] = {}
        if isinstance(world, Answers):
            found = {
                path: unpack(packed)
                for path, packed in self._results.recall(inputs, world.digest).items()
            }
        self.folded.update(found)
        return found, [(path, self._refinement(path)) for path in inputs if path not in found]

    def _input(self, path: str) -> str:
        """Stands for all that a result depends on besides the closed world."""
        return f"{path} {self.tree.by_path[path].sha256} {canonical(self._refinement(path))}"

    def _world(self) -> World:
        """Return the closed world; its answers, where later runs are to know what was asked."""
        if not self._cache.enabled:
            return self.environment
        if self._answers is None or self._answers.environment is not self.environment:
            paths, files = modules_of(self.tree.by_path), self.tree.by_path
            hashes = {module: files[path].sha256 for module, path in paths.items()}
            self._answers = Answers(
                self.environment, hashes.get, partial(_words, self.tree.root, paths)
            )
        return self._answers

    def _fold(self, missing: Iterable[str]) -> Iterator[Result]:
        _, wanted = self._recall(missing)
        asked = {path for path, _ in wanted}

        def more(module: FoldedModule) -> list[Wanted]:
            fresh: list[Wanted] = []
            seen = [module]
            while seen:
                ahead = [
                    p for p in self._leads(seen.pop()) if p not in asked and p not in self.folded
                ]
                asked.update(ahead)
                known, unknown = self._recall(ahead)
                seen += known.values()
                fresh += unknown
            return fresh

        return self._workers.fold(wanted, self._world(), more)

    def _refinement(self, path: str) -> Refinement:
        known = self.refinements.get(path, NOTHING)
        reason = self._unwritable.get(path)
        return known if reason is None else replace(known, unwritable=frozenset({reason}))

    def drop(
        self, dead: Mapping[str, frozenset[Span]], loads: Mapping[str, frozenset[Span]]
    ) -> None:
        """Fold again without what nothing reachable names, in the place of what was so before.

        Args:
            dead: spans of statements and imported names, by path.
            loads: those of the names of which the module is loaded all the same, by path.
        """
        for path in sorted({*self.refinements, *dead}):
            before = self.refinements.get(path, NOTHING)
            gone = dead.get(path, frozenset())
            after = replace(before, dead=gone, loads=loads.get(path, frozenset()))
            self.refinements[path] = after
            if after != before:
                self.folded.pop(path, None)

    def whole(self, paths: Iterable[str]) -> Iterable[FoldedModule]:
        """Return modules folded with what is known of them, with nothing dropped that nothing
        reachable names.
        """
        return self.refold({p: _undropped(self.refinements[p]) for p in paths})

    def restore(self, before: Mapping[str, Refinement]) -> Iterable[FoldedModule]:
        """Return modules of which more was found out than was known before, folded with
        that alone.
        """
        known = {path: before.get(path, NOTHING) for path in self.refinements}
        more = (
            path for path, facts in self.refinements.items() if _undropped(facts) != known[path]
        )
        return self.refold({path: known[path] for path in more})

    def refold(self, facts: Mapping[str, Refinement]) -> Iterable[FoldedModule]:
        """Return modules folded with what propagation found out, by path."""
        self.refinements.update(facts)
        for path in facts:
            self.folded.pop(path, None)
        return self.fold(sorted(facts))

    def rescue(self, kept: Iterable[str]) -> bool:
        """Rescue the removed modules that the kept ones (paths) are seen to run.

        True when one was: its importers are to be folded again, the graph built again.
        """
        fresh: dict[str, tuple[str, LeakedUse]] = {}
        for path in sorted(kept):
            for use in self.folded[path].escapes if path in self.folded else ():
                # Importing the module runs the `__init__` of the packages around it.
                for name in (use.module, *enclosing(use.module)):
                    if (
                        name not in self.rescued
                        and self.environment.removed_module(name) is not None
                    ):
                        fresh.setdefault(name, (path, use))
        if not fresh:
            return False
        self.rescued.update(fresh)
        # A rescue brings code back, so that nothing derived before it holds.
        for path in self.refinements:
            self.folded.pop(path, None)
        self.refinements.clear()
        self._workers.close()
        before = self.environment
        self.environment = self.world_with(before.rescued | frozenset(fresh))
        self.folded = {
            path: module
            for path, module in self.folded.items()
            if not _touches(module, fresh, before)
        }
        return True

    def world_with(self, rescued: frozenset[str]) -> Environment:
        """Return the closed world in which these modules stay."""
        before = self.environment
        paths = modules_of(self.tree.by_path)
        fresh = sorted(name for name in rescued - before.rescued if name in paths)
        found = {name: outline_file(self.tree.root, paths[name]) for name in fresh}
        outlines = {
            **before.outlines,
            **{name: each for name, each in found.items() if each is not None},
        }
        return Environment(before.rules, outlines, before.modules, rescued)


def _undropped(facts: Refinement) -> Refinement:
    """Facts of a module without what nothing reachable names."""
    return replace(facts, dead=frozenset(), loads=frozenset())


def _touches(module: FoldedModule, fresh: Collection[str], before: Environment) -> bool:
    """Tell whether a name that the module imports came from one of these modules, through whatever
    re-exports.
    """
    if (known := before.outlines.get(module.module)) is None:
        return False
    rules = {gone.rule for name in fresh if (gone := before.removed_module(name)) is not None}
    if any(decision.kind == LOADED and decision.rule in rules for decision in module.decisions):
        # A loop over texts imports no name.
        return True
    for source, name, _ in known.aliases:
        whole = f"{source}.{name}" if name else source
        values: list[Value | None] = [] if name in ("", "*") else [before.resolve(source, name)]
        for module_name in (whole, source) if name == "*" else (whole,):
            values.append(before.removed_module(module_name))
            values += (before.resolve(module_name, n) for n in before.hot_names(module_name))
        if any(isinstance(v, Removed) and v.module in fresh for v in values):
            return True
    return False


def _words(root: Path, paths: Mapping[str, str], module: str) -> Set[str]:
    return Lines(decode((root / paths[module]).read_bytes())[0]).words
