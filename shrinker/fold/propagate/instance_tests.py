"""Classes that no kept code makes an instance of: a test for one is false.

Only classes of which folding dropped a mention are looked at: what upstream itself never makes stays as it is. Names are
compared, not objects; see `made` for what one module says. A class counts only when nothing but its name leads to it,
and its heirs with it.

An assumption: objects that come into the server from outside, pickled say, are of classes that the server's own code
makes somewhere, or of classes that folding had nothing to do with.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from shrinker.facts.evaluate import evaluate
from shrinker.facts.lattice import Ref, Removed
from shrinker.facts.scopes import ModuleScope
from shrinker.fold.context import Context
from shrinker.fold.propagate.instantiated_types import is_looked_at, tested_classes
from shrinker.fold.propagate.refinement import Refinement
from shrinker.fold.propagate.world import World
from shrinker.syntax.side_effects import is_free
from shrinker.syntax.walk import walk
from shrinker.values.usage import words_in

UNMADE = "unmade-class"
"""Stands for a rule: no kept code makes an instance of the class."""
_HARMLESS = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "torch.nn.Module"})
"""Bases outside the tree by which nothing else becomes an instance, and that make none."""
_OWN_TESTS = frozenset({"__instancecheck__", "__subclasshook__"})
_CALLS = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


def find_unmade(world: World, banned: frozenset[str] = frozenset()) -> dict[str, set[str]]:
    """Classes that nothing makes and that a kept module tests for.

    Args:
        world: the kept modules.
        banned: last names for which an earlier attempt did not hold.

    Returns:
        Qualified names by path of the modules that test for them.
    """
    tested = {name for name in world.tested & world.lost if name not in banned}
    if not tested or not world.defined.isdisjoint(_OWN_TESTS):
        return {}
    found: dict[str, set[str]] = {}
    places = _places(world, tested)
    for name in sorted(places):
        if all(is_unmade(world, qualified) for qualified in places[name]):
            for module in world.modules:
                if name in words_in(module.usage.tested):
                    found.setdefault(module.path, set()).update(places[name])
    return found


def find_made(world: World, known: Mapping[str, Refinement]) -> frozenset[str]:
    """Last names of classes that were taken to be unmade and that kept code may make after all."""
    taken = {qualified for facts in known.values() for qualified in facts.unmade}
    return frozenset(q.rpartition(".")[2] for q in taken if not is_unmade(world, q))


def _places(world: World, names: set[str]) -> dict[str, set[str]]:
    """Classes of the module level with these last names."""
    found: dict[str, set[str]] = {}
    for module in world.modules:
        for name in names & words_in(module.usage.classes):
            found.setdefault(name, set()).add(f"{module.module}.{name}")
    return found


def is_unmade(world: World, qualified: str) -> bool:
    """True when no kept code may make an instance of a class, or of one that inherits from it."""
    family = {qualified, *world.hierarchy.descendants(qualified)}
    return all(_never_made(world, member) for member in family)


def _never_made(world: World, qualified: str) -> bool:
    module, _, name = qualified.rpartition(".")
    if (
        not is_looked_at(name)
        or name in world.made
        or world.is_named_outside(module, name)
        or name in world.public_classes
        or world.computes(name)
        or module in world.asked.everything
        or world.is_found_by_its_base(qualified)
    ):
        return False
    outlines = world.environment.outlines
    for ancestor in (qualified, *world.hierarchy.ancestors(qualified)):
        if ancestor in _HARMLESS:
            continue
        around, _, own = ancestor.rpartition(".")
        outline = outlines.get(around)
        bindings = outline.names.get(own, ()) if outline is not None else ()
        if not bindings or not all(
            isinstance(b.node, ast.ClassDef) and not b.node.keywords and is_free(b.node) for b in bindings
        ):
            # A metaclass, a decorator that may register or make one, or a base of which nothing is known.
            return False
    own_bindings = outlines[module].names[name]
    # A framework may make an instance of a data class that an annotation names.
    return all(isinstance(b.node, ast.ClassDef) and not b.node.decorator_list for b in own_bindings)


def decide_unmade(tree: ast.Module, context: Context, unmade: frozenset[str]) -> set[str]:
    """Note on each test for such a class what it is; folding acts on it.

    Args:
        tree: the module as upstream wrote it.
        context: of the module.
        unmade: qualified names.

    Returns:
        The names that were looked for.
    """
    if not unmade:
        return set()
    names = {qualified.rpartition(".")[2] for qualified in unmade}
    for node in walk(tree):
        if not isinstance(node, ast.Call) or names.isdisjoint(tested_classes(node)):
            continue
        tested, classes = node.args
        if any(isinstance(part, _CALLS) for part in walk(tested)):
            # It is asked in any case: the test stays.
            continue
        for item in classes.elts if isinstance(classes, ast.Tuple) else [classes]:
            found = _named(item, context)
            if found in unmade:
                context.decided.note(item, Removed(UNMADE, "what nothing here makes", found))
    return names


def _named(item: ast.expr, context: Context) -> str:
    """The qualified name of a class; empty where it is not the same one everywhere in the module."""
    environment, module = context.environment, context.module
    if not isinstance(item, ast.Name):
        value = evaluate(item, ModuleScope(environment, module)) if isinstance(item, ast.Attribute) else None
        return value.name if isinstance(value, Ref) else ""
    found: set[str] = set()
    outline = environment.outlines[module]
    if any(binding.kind == "class" for binding in outline.names.get(item.id, ())):
        found.add(f"{module}.{item.id}")
    for source, name, bound in outline.aliases:
        if bound == item.id:
            value = environment.resolve(source, name) if name else None
            found.add(value.name if isinstance(value, Ref) else "")
    return found.pop() if len(found) == 1 else ""
