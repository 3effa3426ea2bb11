"""Attributes that every kept store sets to the same literal: what reads them through `self` is that literal.

Only attributes are looked at that folding gave a literal, or of which it dropped a store: upstream's own constants
stay. Names are compared, not objects: one other store of the name anywhere, a keyword, an annotated field, a string
or a definition of that name, and the attribute is open.
"""

from __future__ import annotations

from collections.abc import Iterator

from shrinker.program.propagate.world import World
from shrinker.values.refinement import Refinement

_KNOWN_TO_TORCH = frozenset({"training", "dump_patches", "call_super_init"})


def find_attributes(world: World, banned: frozenset[str]) -> Iterator[tuple[str, Refinement]]:
    """Attributes with one value, where code of their class reads them."""
    constant = {
        name: next(iter(values))
        for name, values in world.stores.items()
        if len(values) == 1 and "" not in values and _is_candidate(world, name)
    }
    if not constant:
        return
    owners = {name: _owners(world, name) for name in constant}
    for module in world.modules:
        stored = {store.attribute for store in module.summary.stores}
        mentioned = frozenset(module.summary.words)
        for name, value in constant.items():
            if name in stored and not world.mentions(name) and owners[name]:
                yield module.path, Refinement(stores=frozenset({name}))
            if name in mentioned:
                for owner in owners[name]:
                    around, _, own = owner.rpartition(".")
                    if around == module.module:
                        yield module.path, Refinement(attributes=frozenset({(own, name, value)}))


def _is_candidate(world: World, name: str) -> bool:
    return (
        (name in world.decided or name in world.lost)
        and name not in world.texts
        and name not in world.defined
        and name not in _KNOWN_TO_TORCH
        and not (name.startswith("__") and name.endswith("__"))
    )


def _owners(world: World, name: str) -> set[str]:
    """Classes that certainly have the attribute: those that set it, and what inherits from them; none when a base
    outside the tree could set it, too."""
    found: set[str] = set()
    for owner in world.fields.get(name, ()):
        found |= {owner, *world.hierarchy.descendants(owner)}
    if any(world.hierarchy.is_called_from_outside(owner) for owner in found):
        return set()
    return set() if world.may_compute_store(name, found) else found
