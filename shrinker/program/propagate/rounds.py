"""Derive facts from the kept folded modules and fold with them, for as long as there are new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from shrinker.facts.environment import Environment
from shrinker.program.propagate.attributes import find_attributes
from shrinker.program.propagate.needed import find_needed
from shrinker.program.propagate.orphans import find_orphans
from shrinker.program.propagate.surroundings import Surroundings
from shrinker.program.propagate.world import World
from shrinker.values.errors import ShrinkerError
from shrinker.values.folded import FoldedModule
from shrinker.values.refinement import NOTHING, Refinement

Pass = Callable[[World, frozenset[str]], Iterator[tuple[str, Refinement]]]
"""Facts about a module, by its path, from what all kept modules say; never about names that may not be dropped."""
PASSES: tuple[Pass, ...] = (find_orphans, find_attributes)


class Folding(Protocol):
    """What folds again: the engine."""

    environment: Environment
    refinements: dict[str, Refinement]
    """What is known of modules, by path."""

    def refold(self, facts: Mapping[str, Refinement]) -> Iterable[FoldedModule]:
        """These modules, folded with other facts."""


class Rounds:
    """Propagation in one set of surroundings."""

    def __init__(self, surroundings: Surroundings) -> None:
        """
        Args:
            surroundings: what is kept beside the modules.
        """
        self._surroundings = surroundings
        self._paths: frozenset[str] = frozenset()
        self._banned: frozenset[str] = frozenset()
        """Names that may not be dropped: an earlier attempt did, and then kept code named them."""

    def run(self, folding: Folding, folded: Mapping[str, FoldedModule]) -> bool:
        """Fold again, in rounds, what the kept modules together say of each other.

        Args:
            folding: folds; it has the closed world.
            folded: every kept module, by path.

        Returns:
            True when a module changed: the graph is to be built again.

        Raises:
            ShrinkerError: the graph reached a module that it did not reach before.
        """
        if self._paths and not folded.keys() <= self._paths:
            raise ShrinkerError(
                f"a refinement round made {min(folded.keys() - self._paths)} reachable",
                "report this as a defect of shrinker",
            )
        self._paths = frozenset(folded)
        current = dict(folded)
        changed = False
        while True:
            world = self._surroundings.world(current.values(), folding.environment)
            fresh = _derive(world, folding.refinements, self._banned)
            if not fresh and (broken := _broken(world, folding.refinements) - self._banned):
                # Once more without dropping these names.
                self._banned |= broken
                fresh = dict.fromkeys(folding.refinements.keys() & current.keys(), NOTHING)
                folding.refinements.clear()
            if not fresh:
                return changed
            changed = True
            current.update((module.path, module) for module in folding.refold(fresh))


def _derive(world: World, known: Mapping[str, Refinement], banned: frozenset[str]) -> dict[str, Refinement]:
    """All facts, old and new, of the modules for which there are new ones, by path.

    Args:
        world: the kept folded modules.
        known: facts of the rounds before, by path.
        banned: names that may not be dropped.
    """
    needed = {
        path: before.joined(Refinement(needed=asked_for))
        for path, asked_for in find_needed({module.module: module for module in world.modules})
        if not asked_for <= (before := known.get(path, NOTHING)).needed
    }
    if needed:
        # These imports come back: nothing is to be derived from a tree without them.
        return needed
    found: dict[str, Refinement] = {}
    for each in PASSES:
        for path, facts in each(world, banned):
            found[path] = found.get(path, NOTHING).joined(facts)
    by_path = {module.path: module for module in world.modules}
    fresh: dict[str, Refinement] = {}
    for path, facts in sorted(found.items()):
        before = known.get(path, NOTHING)
        after = before.joined(facts)
        if after != before:
            left = by_path[path].imports if path in by_path else ()
            fresh[path] = replace(after, bound=frozenset(f"{s.module}:{s.name}" for s in left if s.name))
    return fresh


def _broken(world: World, known: Mapping[str, Refinement]) -> frozenset[str]:
    """At the end: last names of definitions that went and that kept code names after all.

    Rounds only delete, so that there should be none. But a module is folded again with other facts, and what an earlier
    folding of it dropped (an import, say) a later one may keep.
    """
    gone = (qualified.rpartition(".")[2] for facts in known.values() for qualified in facts.orphans)
    return frozenset(name for name in gone if world.mentions(name))
