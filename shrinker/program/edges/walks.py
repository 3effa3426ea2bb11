"""Package walks: code that imports every module it finds in a package, narrowed by `[[walk]]` rules.

A walk often receives its package as an argument. Then the packages named by strings of the walking module and of
the modules that import it are its targets.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from shrinker.program.modules import ModuleIndex
from shrinker.program.nodes import Found, module_node
from shrinker.ruleset.match import name_matches
from shrinker.values.folded import DynamicSite, FoldedModule


def walk_edges(
    modules: Mapping[str, FoldedModule],
    importers: Mapping[str, Collection[str]],
    by_package: Mapping[str, tuple[str, ...]],
    index: ModuleIndex,
) -> Iterator[tuple[str, Found]]:
    """Edges of all walks in the modules kept so far, of which each has its importers; walks find what `Ruleset.walked` says.

    Yields:
        Dotted name of the module where the edge starts, and the edge.
    """
    walks = ((name, site) for name in modules for site in modules[name].dynamic if site.mechanism == "walk")
    for name, site in walks:
        if site.target is not None and site.target.strip("*."):
            asked = [(name, site.line, each) for each in index.packages if name_matches(site.target, each)]
        else:
            texts = ((origin, s) for origin in (name, *importers.get(name, ())) for s in modules[origin].strings)
            asked = [(o, s.line, s.text) for o, s in texts if s.text in index.packages and "." in s.text]
        for origin, line, package in asked:
            for found in _walk(line, site, package, by_package.get(package), index):
                yield origin, found


def _walk(
    line: int, site: DynamicSite, package: str, kept: Sequence[str] | None, index: ModuleIndex
) -> Iterator[Found]:
    """What a walk over a package finds, as far as rules say so; all without a rule."""
    # `iter_modules` sees one level, `walk_packages` and anything unknown see all.
    names = index.children.get(package, ()) if "iter_modules" in site.text else index.below(package)
    for dotted in names:
        if dotted not in index.paths:
            continue
        if kept is None:
            yield Found(module_node(dotted), "walk", line, f"walk over `{package}`, which no [[walk]] rule narrows")
        elif any(name_matches(pattern, dotted[len(package) + 1 :]) for pattern in kept):
            yield Found(module_node(dotted), "walk", line)
