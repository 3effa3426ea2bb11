"""The steps of an earlier run once more, for modules whose texts changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from shrinker.fold.alike import Folding, Refolded, moved_spans, named_alike, names_apart
from shrinker.fold.engine import FoldEngine
from shrinker.fold.propagate.refinement import Refinement
from shrinker.values.folded import FoldedModule

_Row = tuple[str, Folding, Refinement]


class FoldedAgain:
    """Modules of which nothing else in the world changed but their texts, and texts of which `looks_alike` holds, too."""

    def __init__(self, engine: FoldEngine, modules: Mapping[str, tuple[str, Sequence[Folding]]]) -> None:
        """
        Args:
            engine: folds them.
            modules: SHA-256 of the text in the earlier run, and the history there, by path.
        """
        self._engine = engine
        self._texts = {path: sha256 for path, (sha256, _) in modules.items()}
        rows = [(path, step, step[1]) for path, (_, history) in modules.items() for step in dict.fromkeys(history)]
        # What the search of symbols looks at is the last one before anything was dropped.
        searched = {row[0]: row for row in rows if not row[2].dead}
        self._searched = list(searched.values())
        self._dropping = [row for row in rows if row[2].dead]
        self._others = [row for row in rows if not row[2].dead and row is not searched[row[0]]]
        self.steps: dict[str, list[Refolded]] = {path: [] for path in modules}
        """What was folded so far, by path; what a search looks at first, then where something was dropped."""
        self.apart: set[str] = set()
        """Names by which a round that asked for one of them could tell that a module has another text."""

    def ends_alike(
        self, meanwhile: Callable[[], None], told: Callable[[Mapping[str, FoldedModule]], None] = lambda modules: None
    ) -> bool:
        """Whether the last steps look as they did: those before anything was dropped, and those where it was.

        Args:
            meanwhile: called while other processes fold, if they do.
            told: called with what the search of symbols looks at, by path, as soon as it is known: before it is compared.

        Returns:
            False also where it cannot be told what to drop from a new text.
        """
        last = self._engine.refold(self._texts, self._searched, meanwhile)
        if last is None:
            return False
        told({each.now.path: each.now for each in last})
        if not self._takes(last):
            return False
        dropping: list[_Row] = []
        for path, step, refinement in self._dropping:
            found = self.steps[path][0]
            dead = moved_spans(refinement.dead, found.before.units, found.now.units)
            if dead is None:
                return False
            dropping.append((path, step, replace(refinement, dead=dead)))
        dropped = self._engine.refold(self._texts, dropping, meanwhile)
        if dropped is None or not all(named_alike(each.before, each.now) for each in dropped):
            return False
        for each in dropped:
            self.steps[each.now.path].append(each)
        return True

    def looks_alike(
        self, meanwhile: Callable[[], None] = lambda: None, among: Callable[[str, Folding], bool] | None = None
    ) -> bool:
        """Whether all the other steps look as they did; to be asked after `ends_alike`.

        Args:
            meanwhile: called while other processes fold, if they do.
            among: takes path and step; only these steps, each of which is asked for once.
        """
        others = [row for row in self._others if among is None or among(row[0], row[1])]
        self._others = [row for row in self._others if row not in others]
        found = self._engine.refold(self._texts, others, meanwhile)
        return found is not None and self._takes(found)

    def _takes(self, found: Sequence[Refolded]) -> bool:
        for each in found:
            names = names_apart(each.before, each.now)
            if names is None:
                return False
            self.apart |= names
            self.steps[each.now.path].append(each)
        return True
