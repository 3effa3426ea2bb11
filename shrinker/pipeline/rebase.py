"""An analysis carried over to texts that differ inside some modules: at once where only lines moved, else as far as a search agrees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from shrinker.cache import Cache
from shrinker.cache.workers import beside, letter_box
from shrinker.fold.alike import Folding
from shrinker.fold.engine import FoldEngine
from shrinker.fold.reuse import FoldedAgain
from shrinker.pipeline.kept import Analysed, Kept
from shrinker.pipeline.speculate import Earlier, Proof, search_again
from shrinker.program.build import build_graph
from shrinker.program.removals import removed_by_rule
from shrinker.program.symbols.dead import Place
from shrinker.program.symbols.moved import Text, moved_symbols
from shrinker.program.symbols.saved import SymbolData
from shrinker.program.written import written_imports
from shrinker.ruleset import Ruleset
from shrinker.values.edits import Span
from shrinker.values.folded import Escape, FoldedModule
from shrinker.values.units import NO_UNITS
from shrinker.values.upstream import UpstreamTree, module_name

Rescues = Mapping[str, tuple[str, Escape]]
"""Of each rescued module, the path and use that keep it."""
Asked = Callable[[], Mapping[str, Place | None]]
"""Where any code of upstream names a method that nothing reached, as far as that was asked."""


class Carry:
    """One earlier analysis and the modules that differ from it."""

    def __init__(
        self,
        tree: UpstreamTree,
        rules: Ruleset,
        engine: FoldEngine,
        cache: Cache,
        kept: Kept,
        modules: Mapping[str, tuple[str, Sequence[Folding]]],
        asked: Asked,
    ) -> None:
        """
        Args:
            tree: upstream.
            rules: of the profile.
            engine: folds what differs.
            cache: of earlier runs.
            kept: the analysis.
            modules: SHA-256 of the earlier text and its history, of each folded module that differs, by path.
            asked: what is asked of all of upstream.
        """
        self.again = FoldedAgain(engine, modules)
        self.told: Callable[[Mapping[str, FoldedModule]], None] = _to_nobody
        """To be called with what a search looks at in the modules that differ."""
        self._tree = tree
        self._rules = rules
        self._engine = engine
        self._cache = cache
        self._kept = kept
        self._modules = modules
        self._asked = asked
        self._proof: Proof | None = None

    def search(self, ended: ExitStack) -> None:
        """Begin to search symbols anew in a process of its own, where there is something to search for.

        Args:
            ended: ends the process.
        """
        kept = self._kept
        if not self._modules or kept.analysed.symbols is None or kept.stay is None:
            return
        # Both processes ask for these.
        removed_by_rule([file.path for file in self._tree.files], self._rules.removes)
        self._engine.open_worlds(step for history in kept.history.values() for step in history)
        letters = ended.enter_context(letter_box())
        search = partial(
            search_again,
            self._tree,
            self._rules,
            self._engine,
            self._cache.uncounted(),
            _searched(kept, kept.analysed.symbols, kept.stay),
            list(self._modules),
            letters.read,
            self._asked,
            self._looks_alike,
        )
        self._proof = ended.enter_context(beside(search))
        self.told = letters.write

    def analysed(self, ended: ExitStack) -> tuple[Analysed, Rescues] | None:
        """The analysis of today, after the last steps were seen to end alike, if it is `proven`.

        Args:
            ended: ends the search where nothing is left to search for.

        Returns:
            It, without companions, and the rescues of today; None where it is another one.
        """
        kept, symbols, proof = self._kept, self._kept.analysed.symbols, self._proof
        if symbols is None or proof is None:
            return None
        texts = {path: Text(steps[0].before, steps[0].now) for path, steps in self.again.steps.items()}
        moved = moved_symbols(symbols, texts, self._tree, written_imports(self._tree, self._cache))
        if moved is not None:
            moved = with_places(moved, self._asked())
        rescues = self._rescues()
        if rescues is None:
            return None
        if moved is not None:
            # Nothing is left to search for: that process makes room for one that looks at the other steps.
            ended.close()
            alike = ended.enter_context(beside(self._looks_alike))
        folded, dead = dict(kept.analysed.folded), dict[str, frozenset[Span]]()
        for path, steps in self.again.steps.items():
            dropping = [step for step in steps if step.refinement.dead]
            last = dropping[-1] if dropping else steps[0]
            if dropping:
                dead[path] = last.refinement.dead
            if path in folded:
                folded[path] = replace(last.now, units=NO_UNITS)
        graph, _ = build_graph(self._tree, self._rules, lambda paths: map(folded.__getitem__, paths), rescued=rescues)
        if graph.kept.keys() != kept.analysed.graph.kept.keys():
            return None
        rescued = {name: f"{path}:{use.line} uses {use.name}" for name, (path, use) in rescues.items()}

        def proven() -> SymbolData | None:
            try:
                if moved is not None:
                    return moved if alike() else None
                found = proof()
            except EOFError:
                # Killed, often for memory: nothing is proven then.
                return None
            return found[1] if found is not None and found[0] == dead else None

        return Analysed(graph, folded, rescued, moved, proven), rescues

    def _looks_alike(self) -> bool:
        """Whether the other steps look as they did; what they gave is kept for later runs."""
        found = self.again.looks_alike()
        self._engine.save()
        return found and self.again.apart.isdisjoint(self._kept.asked_inside)

    def _rescues(self) -> Rescues | None:
        """The rescues with the uses of today; None where one of them is none any more."""
        rescues = self._kept.rescues
        # A module that was rescued is no removed one in later steps: nothing there says where it is used.
        changed = {name: use[0] for name, use in rescues.items() if use[0] in self.again.steps}
        if changed and not self.again.looks_alike(
            among=lambda path, step: any(path == changed[name] and name not in step[0] for name in changed)
        ):
            return None
        uses = {
            (path, before): now
            for path, steps in self.again.steps.items()
            for step in steps
            for before, now in zip(step.before.escapes, step.now.escapes, strict=True)
        }
        if any(use[0] in changed.values() and use not in uses for use in rescues.values()):
            return None
        return {name: (use[0], uses.get(use, use[1])) for name, use in rescues.items()}


def with_places(symbols: SymbolData, places: Mapping[str, Place | None]) -> SymbolData | None:
    """What a search found, with the places of today; None where another method than before is named nowhere."""
    if any((places[name] is None) != (place is None) for name, place in symbols.asked.items()):
        return None
    return replace(symbols, asked=places)


def _to_nobody(modules: Mapping[str, FoldedModule]) -> None:
    """No search waits for them."""


def _searched(kept: Kept, symbols: SymbolData, stay: frozenset[str]) -> Earlier:
    steps = {path: [step for step in kept.history[path] if not step[1].dead][-1] for path in kept.spelled}
    dead = {path: history[-1][1].dead for path, history in kept.history.items() if history[-1][1].dead}
    modules = {module_name(path) for path in kept.analysed.folded}
    names = frozenset(name for name in modules if name is not None)
    return Earlier(steps, dead, symbols, names, kept.rescues, stay)
