"""What the search will ask for next, told by one folded module: so that it can be folded before the search gets there."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from shrinker.program.edges.imports import import_edges, package_edges
from shrinker.program.modules import ModuleIndex, index_modules
from shrinker.program.removals import removed_by_rule
from shrinker.ruleset import Remove, Ruleset
from shrinker.values.folded import FoldedModule
from shrinker.values.upstream import UpstreamTree

_MODULE = "module:"


def import_leads(tree: UpstreamTree, rules: Ruleset) -> Callable[[FoldedModule], list[str]]:
    """A function that gives the paths that a kept module's imports make reachable, in order.

    Only what is certain: strings, walks and rescued modules are left to the search.

    Args:
        tree: upstream.
        rules: of the profile; what they remove is not reached.
    """

    @cache
    def known() -> tuple[ModuleIndex, dict[str, Remove]]:
        # Only when something is folded: a run that finds all it needs does not ask.
        paths = [file.path for file in tree.files]
        return index_modules(paths), removed_by_rule(paths, rules.removes)

    def leads(module: FoldedModule) -> list[str]:
        index, removed = known()
        named = [found.dst[len(_MODULE) :] for found in import_edges(module, index) if found.dst.startswith(_MODULE)]
        found = [index.paths[name] for name in named]
        for name in named:
            if index.paths[name] not in removed:
                found += [index.paths[e.dst[len(_MODULE) :]] for e in package_edges(name, index)]
        return [path for path in dict.fromkeys(found) if path not in removed]

    return leads
