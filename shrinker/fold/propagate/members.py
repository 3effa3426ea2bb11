"""Members of enumerations that a rule removes: a definition goes once no kept code names it.

The facts decide comparisons with such a member, rows and cases. Its definition may stand in another module than these.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from shrinker.fold.context import Context
from shrinker.fold.propagate.loading import Loading
from shrinker.fold.propagate.refinement import Refinement
from shrinker.fold.propagate.world import World
from shrinker.fold.reading import Reading


def member_names(reading: Reading, context: Context) -> set[tuple[str, str]]:
    """Removed members that a folded module may name, and the last names of their classes.

    An attribute of a class that has another name in its own module is another one.
    """
    owners = {member: of for member, of in context.environment.removed_members.items() if member in context.words}
    if not owners:
        return set()
    classes = {node.name for node, _ in reading.definitions}
    classes.update(a.name for node, _, _ in reading.imports for a in node.names if a.asname in (None, a.name))
    classes = {name for name in classes if name[:1].isupper() and not name.isupper()} | frozenset().union(
        *owners.values()
    )
    found: set[tuple[str, str]] = set()
    for attribute in chain(reading.plain.attributes, reading.typing.attributes):
        base = getattr(attribute.value, "id", getattr(attribute.value, "attr", ""))
        for owner in owners.get(attribute.attr, ()):
            if base == owner or base not in classes:
                found.add((owner, attribute.attr))
    for name in chain(reading.plain.names, reading.typing.names):
        if name.ctx.__class__ is not ast.Store:
            found.update((owner, name.id) for owner in owners.get(name.id, ()))
    return found


def find_unnamed_members(world: World, loading: Loading, banned: frozenset[str]) -> Iterator[tuple[str, Refinement]]:
    """Removed members that nothing names, of the modules that define them."""
    environment = world.environment
    for module in world.modules:
        outline = environment.outlines.get(module.module)
        for owner, members in outline.members.items() if outline is not None else ():
            for member in members:
                qualified = f"{module.module}.{owner}.{member}"
                named = member in banned or (owner.rpartition(".")[2], member) in world.members
                if not named and environment.removed_member(qualified) is not None:
                    yield module.path, Refinement(unnamed=frozenset({qualified}))
