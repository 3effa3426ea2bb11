"""Members of enumerations that no kept code can produce: no value is ever one of them.

A comparison with such a member is decided, its rows and cases go, and once nothing names it any more, so does its
definition. The judgement is by name and over all kept modules; see `produced` for what one module says.

A limit: the members of an `IntEnum` equal numbers. Numbers that are given to a name which is compared with members are
looked for; a number that comes from elsewhere (a tensor, a file) is not.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from shrinker.facts.lattice import Removed
from shrinker.fold.constructs.classes import UNPRODUCED
from shrinker.fold.context import Context
from shrinker.fold.propagate.refinement import Refinement
from shrinker.fold.propagate.world import World
from shrinker.syntax.walk import walk
from shrinker.values.folded import FoldedModule
from shrinker.values.usage import words_in


def find_members(world: World, banned: frozenset[str] = frozenset()) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Members that nothing produces.

    Args:
        world: the kept modules.
        banned: members for which an earlier attempt did not hold.

    Returns:
        By path of a module: members that nothing produces, by qualified name, of classes that it names; members that
        it defines and that nothing names any more.
    """
    members: dict[str, set[str]] = {}
    unnamed: dict[str, set[str]] = {}
    defined = _enumerations(world)
    candidates = _candidates(world, defined)
    naming = _Naming(world, candidates)
    for (owner, member), places in candidates.items():
        if member in banned:
            continue
        ruled = all(world.environment.removed_member(qualified) is not None for _, qualified in places)
        if ruled and not world.writes(member):
            # Nothing names it, whatever the class: no module need be asked.
            for module, qualified in places:
                unnamed.setdefault(module.path, set()).add(qualified)
            continue
        asked, uses = naming.uses(owner, member)
        open_ = (
            len(places) > 1
            or any(world.environment.removed_member(qualified) is not None for _, qualified in places)
            or any(name in world.outside for name in (owner, member))
            or owner in world.public
            or _may_be_produced(owner, member, uses)
        )
        if not any(f"{owner}?{member}" in found for found in uses):
            for module, qualified in places:
                if world.environment.removed_member(qualified) is not None or not open_:
                    unnamed.setdefault(module.path, set()).add(qualified)
        elif not open_:
            ((_, qualified),) = places
            for user in asked:
                members.setdefault(user.path, set()).add(qualified)
    return members, unnamed


def _enumerations(world: World) -> dict[str, list[tuple[FoldedModule, str]]]:
    """Kept enumerations by last name: module, and name below it."""
    found: dict[str, list[tuple[FoldedModule, str]]] = {}
    for module in world.modules:
        outline = world.environment.outlines.get(module.module)
        for name in outline.members if outline is not None else ():
            found.setdefault(name.rpartition(".")[2], []).append((module, name))
    return found


def _candidates(
    world: World, defined: Mapping[str, list[tuple[FoldedModule, str]]]
) -> dict[tuple[str, str], list[tuple[FoldedModule, str]]]:
    """Class and member of which folding dropped a mention or that a rule names, with module and qualified name."""
    found: dict[tuple[str, str], list[tuple[FoldedModule, str]]] = {}
    for owner, places in defined.items():
        for module, name in places:
            for member in world.environment.outlines[module.module].members[name]:
                qualified = f"{module.module}.{name}.{member}"
                ruled = world.environment.removed_member(qualified) is not None
                if ruled or (member in world.lost and member.isupper() and len(places) == 1):
                    found.setdefault((owner, member), []).append((module, qualified))
    return found


class _Naming:
    """Modules that may use a member, or its class to hand out any: each module is looked at once for all of them.

    Args:
        world: the kept modules.
        wanted: pairs of a class and a member of it, by their last names.
    """

    def __init__(self, world: World, wanted: Collection[tuple[str, str]]) -> None:
        owners = {owner for owner, _ in wanted}
        either = owners.union(member for _, member in wanted)
        self._modules = world.modules
        self._mentioned: dict[str, list[int]] = {}
        self._defined: dict[str, list[int]] = {}
        for at, module in enumerate(world.modules) if either else ():
            for name in world.words_of(module) & either:
                self._mentioned.setdefault(name, []).append(at)
            for name in owners & words_in(module.usage.classes):
                self._defined.setdefault(name, []).append(at)

    def uses(self, owner: str, member: str) -> tuple[list[FoldedModule], list[frozenset[str]]]:
        """The modules of one member, that of the class among them, and how each uses members."""
        places = {*self._mentioned.get(owner, ()), *self._mentioned.get(member, ()), *self._defined.get(owner, ())}
        found = [self._modules[at] for at in sorted(places)]
        return found, [words_in(module.usage.members) for module in found]


def _parts(qualified: str) -> tuple[str, str]:
    """Last names of the class and of the member."""
    _, owner, member = qualified.rsplit(".", 2)
    return owner, member


def _may_be_produced(owner: str, member: str, uses: list[frozenset[str]]) -> bool:
    words = frozenset().union(*uses)
    if f"{owner}!" in words or f"{owner}.{member}" in words:
        return True
    compared = {w.partition("=")[2] for w in words if w.startswith(f"{owner}=")}
    return f"{owner}%" in words and any(f"#{name}" in words for name in compared)


def find_produced(world: World, known: Mapping[str, Refinement]) -> frozenset[str]:
    """Last names of members that were taken to be unproduced, or unnamed, and that kept code does produce or name."""
    found: set[str] = set()
    naming = _Naming(world, [_parts(name) for facts in known.values() for name in (*facts.members, *facts.unnamed)])
    for facts in known.values():
        for qualified in (*facts.members, *facts.unnamed):
            owner, member = _parts(qualified)
            _, uses = naming.uses(owner, member)
            named = any(f"{owner}?{member}" in words for words in uses)
            if (qualified in facts.unnamed and named) or (
                qualified in facts.members and _may_be_produced(owner, member, uses)
            ):
                found.add(member)
    return frozenset(found)


def decide_members(tree: ast.Module, context: Context, members: frozenset[str], unnamed: frozenset[str]) -> set[str]:
    """Note on each mention of such a member what it is, and which definitions may go; folding acts on it.

    Args:
        tree: the module as upstream wrote it.
        context: of the module.
        members: qualified names of members that nothing produces.
        unnamed: qualified names of members of the module that nothing names.

    Returns:
        The names that were looked for.
    """
    context.unnamed = unnamed
    by_word: dict[tuple[str, str], str] = {}
    for qualified in members:
        owner, member = _parts(qualified)
        by_word[owner, member] = qualified
    for node in walk(tree) if members else ():
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            base = node.value
            written = base.id if isinstance(base, ast.Name) else base.attr if isinstance(base, ast.Attribute) else ""
            found = by_word.get((written, node.attr))
            if found is not None:
                context.decided.note(node, Removed(UNPRODUCED, "what nothing here produces", found, member=True))
    return {member for _, member in by_word} | {qualified.rpartition(".")[2] for qualified in unnamed}
