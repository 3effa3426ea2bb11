"""Definitions whose every mention was folded away: functions, classes and methods.

By name: one mention anywhere, in a string or by a computed name, keeps all definitions of the name.
"""

from __future__ import annotations

from collections.abc import Iterator

from shrinker.program.propagate.hierarchy import CALLED_BY_TORCH
from shrinker.program.propagate.world import World
from shrinker.values.folded import FoldedModule
from shrinker.values.refinement import Refinement


def find_orphans(world: World, banned: frozenset[str]) -> Iterator[tuple[str, Refinement]]:
    """Definitions that may go: ``function``, ``Class`` or ``Class.method``."""
    found: dict[str, list[tuple[FoldedModule, str]]] = {}
    fixed: set[str] = set()
    for module in world.modules:
        fixed.update(module.summary.fixed)
        for qualified in module.summary.free:
            name = qualified.rpartition(".")[2]
            if name in world.lost and name not in banned and not world.mentions(name):
                found.setdefault(name, []).append((module, qualified))
    for name, places in found.items():
        if name not in fixed and name not in world.public and all(_may_go(world, m, q) for m, q in places):
            for module, qualified in places:
                yield module.path, Refinement(orphans=frozenset({qualified}))


def _may_go(world: World, module: FoldedModule, qualified: str) -> bool:
    owner, _, name = qualified.rpartition(".")
    if not owner:
        return not world.is_found_by_its_base(f"{module.module}.{name}")
    if owner in world.public_classes and not name.startswith("_"):
        return False
    if name in world.lost_own and name not in CALLED_BY_TORCH:
        # Code of the tree called it on itself: a protocol of the tree's own.
        return True
    return name not in CALLED_BY_TORCH and not world.hierarchy.is_called_from_outside(f"{module.module}.{owner}")
