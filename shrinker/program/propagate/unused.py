"""Imports and flags that only modules outside the kept tree, or code folded away, would have asked for.

`cleanup` judges one module by what all of upstream imports from it. Here the judges are the kept folded modules.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from shrinker.facts.lattice import Known, Ref
from shrinker.program.propagate.loading import Loading
from shrinker.program.propagate.world import World
from shrinker.values.folded import FoldedModule
from shrinker.values.refinement import Refinement


def find_unused(world: World, loading: Loading, banned: frozenset[str]) -> Iterator[tuple[str, Refinement]]:
    """Names that the module does not read and that no other kept module can use, and modules that it need not load.

    Only what folding dropped somewhere is asked for: a name that upstream left unused stays, unless it is a flag or
    predicate that the facts decide.
    """
    unused = {module.path: _unused(world, module) for module in world.modules}
    for module in world.modules:
        names = unused[module.path] - banned
        if unused[module.path] or module.summary.idle_locals:
            yield module.path, Refinement(unused=names, unloaded=loading.drop(module, names))


def _unused(world: World, module: FoldedModule) -> frozenset[str]:
    return frozenset(
        name
        for name in module.summary.idle
        if name in world.lost
        and name not in world.public
        and not world.uses_of(module.module, name)
        and (_is_decided(world, module.module, name) or _may_go(world, module, name))
    )


def _may_go(world: World, module: FoldedModule, name: str) -> bool:
    """False for what upstream never used, and for the result of a call that the module itself did not lose a read of:
    it is made anyway."""
    bindings = world.environment.outlines[module.module].names.get(name, ())
    if bindings and all(b.kind == "value" and isinstance(b.value, ast.Call) for b in bindings):
        return name in module.summary.lost
    return _was_used(world, module, name)


def _was_used(world: World, module: FoldedModule, name: str) -> bool:
    """True when code of upstream, in the module or elsewhere, used the module's name."""
    environment = world.environment
    return (
        (module.module, name) in environment.imported
        or module.module in environment.starred
        or name in environment.read
        or name in world.asked_by_removed
        or name in module.summary.exports
        or name in module.summary.lost
    )


def _is_decided(world: World, module: str, name: str) -> bool:
    value = world.environment.resolve(module, name)
    if isinstance(value, Ref):
        return world.environment.called(value.name) is not None
    return isinstance(value, Known) and bool(value.rules)
