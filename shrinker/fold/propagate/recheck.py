"""At the end of the rounds: does what was derived still hold in the tree that came of it?

It should, since rounds only delete. But a module is folded again with other facts, and what an earlier folding of it
dropped (an import, say) a later one may keep. Names for which that happened are then not derived at all.
"""

from __future__ import annotations

from collections.abc import Mapping

from shrinker.fold.propagate.refinement import Refinement
from shrinker.fold.propagate.world import World

BROKEN = ""
"""In the place of a path: names whose facts no longer hold."""


def find_broken(world: World, known: Mapping[str, Refinement]) -> frozenset[str]:
    """Last names of definitions and imports that went and that kept code names after all."""
    found: set[str] = set()
    by_path = {module.path: module for module in world.modules}
    for path, facts in known.items():
        found.update(n for n in (q.rpartition(".")[2] for q in facts.orphans) if world.mentions(n))
        if path in by_path:
            found.update(n for n in facts.unused if world.uses_of(by_path[path].module, n))
    return frozenset(found)
