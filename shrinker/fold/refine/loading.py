"""Imports that may go as a whole: what they load is loaded anyway, or loading it does nothing but define.

An import statement runs the module that it names. So the last name of one is dropped only where that makes no
difference: the importer certainly imports the module on another way, too, or the module is inert.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator

from shrinker.fold.refine.world import World
from shrinker.values.folded import FoldedModule


def find_unloaded(world: World, importer: FoldedModule, unused: Collection[str], taken: set[str]) -> frozenset[str]:
    """Those of the unused names whose import statements may go even when no name is left of them.

    Args:
        world: the kept modules.
        importer: the module that holds the imports.
        unused: names that nobody uses.
        taken: modules that imports which go in this round leave to others to load; added to. Two imports must not
            go because of each other.
    """
    statements: dict[tuple[int, str], list[str | None]] = {}
    for site in importer.imports:
        statements.setdefault((site.line, site.module), []).append(site.name)
    found: set[str] = set()
    for key, names in sorted(statements.items()):
        source = key[1]
        if any(name is None or name not in unused or world.module(f"{source}.{name}") for name in names):
            continue
        loaded = _loaded_with(world, importer, {m for other, m in statements if (other, m) != key})
        relied: set[str] = set()
        if not _adds_nothing(world, source, loaded, relied) or not relied.isdisjoint(taken):
            continue
        found.update(name for name in names if name is not None)
        taken |= {name for name in relied if world.module(name) is not None} - set(_parents(importer.module))
        del statements[key]
    return frozenset(found)


def _loaded_with(world: World, importer: FoldedModule, direct: set[str]) -> set[str]:
    """Modules, in the tree or not, that importing a module certainly loads through these of its imports."""
    certain = [m for m in importer.usage.certain.split() if any(m == d or m.startswith(d + ".") for d in direct)]
    seen = {importer.module}
    stack = [*_parents(importer.module), *certain]
    while stack:
        name = stack.pop()
        if name in seen:
            continue
        seen.add(name)
        stack.extend(_parents(name))
        module = world.module(name)
        if module is not None:
            stack.extend(module.usage.certain.split())
    return seen


def _parents(name: str) -> Iterator[str]:
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _adds_nothing(world: World, name: str, loaded: set[str], relied: set[str]) -> bool:
    """True when a module need not be loaded; adds to `relied` those that are loaded on another way."""
    if name in relied:
        return True
    relied.add(name)
    if name in loaded:
        return True
    module = world.module(name)
    if module is None:
        # Outside the tree, or a name within a module.
        return name.partition(".")[0] in sys.stdlib_module_names or world.module(name.rpartition(".")[0]) is not None
    if not module.usage.inert or any(
        world.is_found_by_its_base(f"{name}.{own}") for own in module.usage.classes.split()
    ):
        return False
    return all(
        _adds_nothing(world, other, loaded, relied) for other in (*_parents(name), *module.usage.certain.split())
    )
