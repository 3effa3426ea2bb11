"""Package walks: code that imports every module it finds in a package, narrowed by `[[walk]]` rules.

A walk often receives its package as an argument. Then the packages named by strings of the walking module and of
the modules that import it are its targets.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from shrinker.program.modules import ModuleIndex
from shrinker.program.nodes import Found, module_node
from shrinker.ruleset.match import name_matches
from shrinker.values.folded import DynamicSite, FoldedModule


def walk_edges(
    modules: Mapping[str, FoldedModule],
    importers: Mapping[str, Sequence[str]],
    by_package: Mapping[str, tuple[str, ...]],
    index: ModuleIndex,
) -> Iterator[tuple[str, Found]]:
    """Edges of all walks in the modules kept so far.

    Args:
        modules: dotted name to folded module, everything kept so far.
        importers: dotted name to the kept modules that import it.
        by_package: what walks find (`Ruleset.walked`).

    Yields:
        Dotted name of the module where the edge starts, and the edge.
    """
    for name in sorted(modules):
        for site in modules[name].dynamic:
            if site.mechanism != "walk":
                continue
            if site.target is not None and site.target.strip("*."):
                for package in _packages(site.target, index):
                    yield from _walk(name, site.line, site, package, by_package, index)
                continue
            for origin in [name, *importers.get(name, ())]:
                for line, package in _named_packages(modules[origin], index):
                    yield from _walk(origin, line, site, package, by_package, index)


def _packages(target: str, index: ModuleIndex) -> Iterable[str]:
    if "*" not in target:
        return [target] if target in index.packages else []
    return [package for package in sorted(index.packages) if name_matches(target, package)]


def _named_packages(module: FoldedModule, index: ModuleIndex) -> Iterator[tuple[int, str]]:
    for site in module.strings:
        if site.text in index.packages and "." in site.text:
            yield site.line, site.text


def _walk(
    origin: str, line: int, site: DynamicSite, package: str, rules: Mapping[str, Sequence[str]], index: ModuleIndex
) -> Iterator[tuple[str, Found]]:
    kept = rules.get(package)
    # `iter_modules` sees one level, `walk_packages` and anything unknown see all.
    names = index.children.get(package, ()) if "iter_modules" in site.text else tuple(index.below(package))
    for dotted in names:
        if dotted not in index.paths:
            continue
        below = dotted[len(package) + 1 :]
        if kept is None:
            yield (
                origin,
                Found(module_node(dotted), "walk", line, f"walk over `{package}`, which no [[walk]] rule narrows"),
            )
        elif any(name_matches(pattern, below) for pattern in kept):
            yield origin, Found(module_node(dotted), "walk", line)
