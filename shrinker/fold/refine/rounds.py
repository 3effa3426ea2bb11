"""Derive facts from the kept folded modules, for as long as there are new ones."""

from __future__ import annotations

from collections.abc import Mapping

from shrinker.fold.refine.attributes import find_attributes
from shrinker.fold.refine.imports import find_unused
from shrinker.fold.refine.loading import find_unloaded
from shrinker.fold.refine.orphans import find_orphans
from shrinker.fold.refine.refinement import NOTHING, Refinement
from shrinker.fold.refine.world import World


def derive(world: World, known: Mapping[str, Refinement]) -> dict[str, Refinement]:
    """New facts of a round.

    Args:
        world: the kept folded modules.
        known: facts of the rounds before, by path.

    Returns:
        All facts, old and new, of the modules for which there are new ones, by path.
    """
    unused = find_unused(world)
    orphans = find_orphans(world)
    attributes, stores = find_attributes(world)
    by_path = {module.path: module for module in world.modules}
    taken: set[str] = set()
    fresh: dict[str, Refinement] = {}
    for path in sorted({*unused, *orphans, *attributes, *stores}):
        before = known.get(path, NOTHING)
        after = before.joined(
            Refinement(
                orphans=orphans.get(path, frozenset()),
                unused=unused.get(path, frozenset()),
                unloaded=find_unloaded(world, by_path[path], unused[path], taken) if path in unused else frozenset(),
                attributes=frozenset(attributes.get(path, ())),
                stores=frozenset(stores.get(path, ())),
            )
        )
        if after != before:
            fresh[path] = after
    return fresh
