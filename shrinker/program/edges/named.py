"""What rules name: by hand in `[[root]]` and `[[keep]]`, and in package walks, code that imports every module it finds in a package, which
`[[walk]]` narrows.

A pattern over modules names exactly what it matches: ``sglang.x`` the module, ``sglang.x.**`` all below it. A pattern
over paths names a file or a folder with all below it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from shrinker.program.nodes import Found, ModuleIndex, module_node, path_node
from shrinker.ruleset import Keep, Root, Ruleset, path_matches
from shrinker.ruleset.match import name_matches
from shrinker.values.folded import DynamicSite, FoldedModule
from shrinker.values.upstream import UpstreamTree


def named_modules(pattern: str, index: ModuleIndex) -> list[str]:
    """Modules of the tree that a root or keep pattern names, sorted."""
    if "*" not in pattern:
        return [pattern] if pattern in index.paths else []
    return [name for name in sorted(index.paths) if name_matches(pattern, name)]


def missing_roots(tree: UpstreamTree, rules: Ruleset) -> tuple[tuple[str, str], ...]:
    """Root modules that this upstream does not have, as (rule id, pattern); the search starts without them."""
    index = ModuleIndex(tree.by_path)
    return tuple(
        (rule.id, pattern) for rule in rules.roots for pattern in rule.modules if not named_modules(pattern, index)
    )


def rule_targets(rule: Root | Keep, index: ModuleIndex, paths: Sequence[str]) -> Iterator[str]:
    """Nodes that the rule names, of all paths of the tree."""
    for pattern in rule.modules:
        yield from map(module_node, named_modules(pattern, index))
    # Most patterns start with a literal folder, most paths are elsewhere.
    heads = tuple(pattern.partition("*")[0].rstrip("/") for pattern in rule.paths)
    for path in paths:
        if path.startswith(heads) and any(path_matches(pattern, path) for pattern in rule.paths):
            yield path_node(path)


def walk_edges(
    modules: Mapping[str, FoldedModule],
    importers: Mapping[str, Collection[str]],
    by_package: Mapping[str, tuple[str, ...]],
    index: ModuleIndex,
) -> Iterator[tuple[str, Found]]:
    """Edges of all walks in the modules kept so far, each with the module where it starts; walks find what `Ruleset.walked` says. A walk
    often receives its package as an argument: then the packages named by strings of the walking module and of its importers are its
    targets."""
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
