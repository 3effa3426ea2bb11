"""Derive facts from the kept folded modules, for as long as there are new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from shrinker.fold.propagate.attributes import find_attributes
from shrinker.fold.propagate.imports import find_unused
from shrinker.fold.propagate.loading import Loading
from shrinker.fold.propagate.orphans import find_orphans
from shrinker.fold.propagate.recheck import BROKEN, find_broken
from shrinker.fold.propagate.refinement import NOTHING, Refinement
from shrinker.fold.propagate.world import World

Pass = Callable[[World, Loading, frozenset[str]], Iterator[tuple[str, Refinement]]]
"""Facts about a module, by its path, from what all kept modules say; never about names that may not be dropped."""
PASSES: tuple[Pass, ...] = (find_unused, find_orphans, find_attributes)


def derive(
    world: World, known: Mapping[str, Refinement], banned: frozenset[str] = frozenset()
) -> dict[str, Refinement]:
    """New facts of a round.

    Args:
        world: the kept folded modules.
        known: facts of the rounds before, by path.
        banned: names that may not be dropped: an earlier attempt did, and then kept code named them.

    Returns:
        All facts, old and new, of the modules for which there are new ones, by path. Where there are none, names that
        do not hold under `BROKEN`.
    """
    loading = Loading(world)
    needed = {
        module.path: before.joined(Refinement(needed=asked_for))
        for module in world.modules
        if (before := known.get(module.path, NOTHING)) is not None
        and (asked_for := loading.needed(module) - before.needed)
    }
    if needed:
        # These imports come back: nothing is to be derived from a tree without them.
        return needed
    found: dict[str, Refinement] = {}
    for each in PASSES:
        for path, facts in each(world, loading, banned):
            found[path] = found.get(path, NOTHING).joined(facts)
    by_path = {module.path: module for module in world.modules}
    fresh: dict[str, Refinement] = {}
    for path, facts in sorted(found.items()):
        before = known.get(path, NOTHING)
        after = before.joined(facts)
        if after != before:
            left = by_path[path].imports if path in by_path else ()
            fresh[path] = replace(after, bound=frozenset(f"{s.module}:{s.name}" for s in left if s.name))
    if not fresh and (broken := find_broken(world, known) - banned):
        fresh[BROKEN] = Refinement(orphans=broken)
    return fresh
