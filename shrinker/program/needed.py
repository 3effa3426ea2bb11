"""Imports that folding dropped because the facts decide all that they give, and that must stay for what else they do.

Nearly every module of predicates and flags is loaded by others, too, so that folding drops such an import without a proof.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache

from shrinker.syntax.imports import with_packages
from shrinker.values.folded import NOTHING, FoldedModule, Refinement
from shrinker.values.relations import grouped, reached


def find_needed(kept: Iterable[FoldedModule], known: Mapping[str, Refinement]) -> Iterator[tuple[str, Refinement]]:
    """Modules, by path, that must load others again: those do something, and nothing else loads them.

    Libraries that only such an import loads are not counted: a predicate asks them. What is known before is by path, too.
    """
    modules = {module.module: module for module in kept}
    loads = {name: _loaded(module, modules) for name, module in modules.items()}
    loaders = grouped((other, name) for name, others in loads.items() for other in others - {name})

    @cache
    def led_to(name: str) -> frozenset[str]:
        return frozenset(reached((name,), loads.__getitem__))

    @cache
    def is_left_alone(name: str) -> bool:
        """True when no module loads this one, but for those that it loads itself."""
        return led_to(name).issuperset(loaders.get(name, ()))

    for name, module in modules.items():
        alone = [m for m in module.summary.unproven_imports if m in modules and is_left_alone(m)]
        needed = {m for m in alone if any(not modules[n].summary.inert for n in led_to(m) - led_to(name))}
        before = known.get(module.path, NOTHING)
        if not needed <= before.needed:
            yield module.path, replace(before, needed=before.needed | needed)


def _loaded(module: FoldedModule, modules: Mapping[str, FoldedModule]) -> frozenset[str]:
    """Modules of the tree that the module level imports, with the packages around them."""
    sites = [site for site in module.imports if site.kind == "import"]
    found = (name for site in sites for name in (site.module, f"{site.module}.{site.name}"))
    return frozenset(modules.keys() & with_packages((module.module, *found)))
