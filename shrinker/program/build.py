"""The graph phase: from a tree, its rules and a way to fold modules to what is kept, removed and uncertain, with the files that kept modules
load."""

from collections.abc import Iterator, Mapping

from shrinker.program.edges.data import DataEdges
from shrinker.program.edges.named import named_modules
from shrinker.program.edges.native import include_edges
from shrinker.program.edges.strings import DYNAMIC
from shrinker.program.files import FileIndex
from shrinker.program.modules import ModuleIndex
from shrinker.program.nodes import Found, file_node, module_node, suffix
from shrinker.program.reach import Fold, Search
from shrinker.program.removals import removed_by_rule
from shrinker.program.ways import first_reasons
from shrinker.ruleset import Remove, Ruleset
from shrinker.syntax.native.conditionals import without_refuted
from shrinker.values.folded import FoldedModule, LeakedUse, Uncertain
from shrinker.values.graph import UNREACHABLE, Graph, Removal
from shrinker.values.upstream import PACKAGE_PREFIX, UpstreamTree

_BINARY = frozenset({"so", "pyd", "dylib", "cubin", "fatbin"})


def build_graph(
    tree: UpstreamTree, rules: Ruleset, fold: Fold, *, rescued: Mapping[str, tuple[str, LeakedUse]] | None = None
) -> tuple[Graph, dict[str, FoldedModule]]:
    """Decide for every file of the tree whether it is kept.

    Args:
        fold: folds Python paths; called with whole waves of the search.
        rescued: modules that stay although a rule removes them, since the code at that path runs one of their names;
            the packages above them stay with them.

    Returns:
        The graph, and the folded module of every kept Python file of the package by path, sorted.

    Raises:
        ShrinkerError: `fold` did not return one of the paths it was given.
    """
    paths = [file.path for file in tree.files]
    index = ModuleIndex(paths)
    removed = removed_by_rule(paths, rules.removes)
    rescues = _rescue(removed, rescued or {}, index)
    search = Search(index, paths, rules, removed)
    search.run(fold)
    _add_files(search, tree)

    first, doubtful = first_reasons(search.edges)
    kept = {path: edge.reason for node, edge in first.items() if (path := search.path(node)) is not None}
    uncertain = {item for module in search.modules.values() for item in (*module.uncertain, *_undecided_sites(module))}
    uncertain.update(search.problems)
    uncertain.update(Uncertain(path, 0, reason) for path, reason in rescues.items() if path in kept)
    doubts = ((search.path(node), reason) for node, reason in doubtful.items())
    uncertain.update(Uncertain(path, 0, reason) for path, reason in doubts if path is not None)
    graph = Graph(
        edges=tuple(sorted(search.edges)),
        kept=dict(sorted(kept.items())),
        removed=_removals(paths, kept, removed, _unasked(search)),
        uncertain=tuple(sorted(uncertain)),
    )
    return graph, {module.path: module for module in sorted(search.modules.values(), key=lambda m: m.path)}


def missing_roots(tree: UpstreamTree, rules: Ruleset) -> tuple[tuple[str, str], ...]:
    """Root modules that this upstream does not have, as (rule id, pattern); the search starts without them."""
    index = ModuleIndex(file.path for file in tree.files)
    return tuple(
        (rule.id, pattern) for rule in rules.roots for pattern in rule.modules if not named_modules(pattern, index)
    )


def _rescue(
    removed: dict[str, Remove], rescued: Mapping[str, tuple[str, LeakedUse]], index: ModuleIndex
) -> dict[str, str]:
    """Take the rescued modules out of `removed`; path of each to the reason."""
    reasons: dict[str, str] = {}
    for name, (path, use) in sorted(rescued.items()):
        for module in (name, *index.parents(name)):
            own = index.paths.get(module, "")
            if (rule := removed.pop(own, None)) is not None:
                reasons[own] = f"rule {rule.id} would remove it, but `{use.name}` is used at {path}:{use.line}"
    return reasons


def _unasked(search: Search) -> dict[str, Removal]:
    """Path of each file that a row of a table names which no kept code asks for."""
    found: dict[str, Removal] = {}
    for module, site, edge in search.registry.left():
        place = f"{module.path}:{site.line}"
        reason = f"only the row of {site.key!r} names it ({place}), and no kept code asks for that"
        if path := search.path(edge.dst):
            found.setdefault(path, Removal(site.rule, reason))
    return found


def _removals(
    paths: list[str], kept: Mapping[str, str], removed: Mapping[str, Remove], unasked: Mapping[str, Removal]
) -> dict[str, Removal]:
    def removal(path: str) -> Removal:
        if (rule := removed.get(path)) is not None:
            return Removal(rule.id, f"removed feature: {rule.feature}")
        if path in unasked:
            return unasked[path]
        if not path.startswith(PACKAGE_PREFIX):
            return Removal(UNREACHABLE, "out of scope: outside the package and named by no rule")
        imported = "module imports or" if path.endswith(".py") else "module or source"
        return Removal(UNREACHABLE, f"no kept {imported} names it")

    return {path: removal(path) for path in sorted(paths) if path not in kept}


def _undecided_sites(module: FoldedModule) -> Iterator[Uncertain]:
    """Imports of computed names, for which nothing is kept beyond what the strings beside them name."""
    for site in module.dynamic:
        if site.mechanism in DYNAMIC and not (site.target or "").strip("*."):
            yield Uncertain(module.path, site.line, f"imports a computed name: `{site.text}`")


def _add_files(search: Search, tree: UpstreamTree) -> None:
    """Add the edges to data files and native sources of the package, transitively, once the modules of a search are found.

    Files outside the package are kept by rules alone.
    """
    files = FileIndex(
        file.path
        for file in tree.files
        if file.path.startswith(PACKAGE_PREFIX) and not file.path.endswith(".py") and file.path not in search.removed
    )
    data = DataEdges(files)

    def by_name(module: FoldedModule) -> Iterator[Found]:
        yield from data.find(module)
        folder = module.path.rpartition("/")[0]
        for site in module.strings:
            # Native source: `load_inline(cuda_sources="#include <x.cuh> …")`.
            if "#" in site.text and "include" in site.text:
                yield from include_edges(site.text, folder, files, site.line)
        if (stub := module.path + "i") in tree.by_path:
            yield Found(file_node(stub), "data", 1)

    def by_folder(module: FoldedModule) -> Iterator[Found]:
        globbed = data.globbed(module)
        for line, folder, text in data.folders(module):
            inside = data.in_folder(folder)
            finer = any(file_node(path) in search.reached for path in inside)
            for path in inside:
                if not finer or suffix(path) in globbed:
                    yield Found(file_node(path), "data", line, f"only its folder is named, by the string {text!r}")

    seen: set[str] = set()
    prefix = "native:" + PACKAGE_PREFIX
    for mechanism in (by_name, by_folder):
        # All are found before one is added, so that the order of the modules makes no difference.
        for module, found in [(module, [*mechanism(module)]) for module in search.modules.values()]:
            search.add(module_node(module.module), module.path, found)
        while frontier := sorted(node for node in search.reached - seen if node.startswith(prefix)):
            seen.update(frontier)
            for path in (node.removeprefix("native:") for node in frontier):
                if suffix(path) not in _BINARY:
                    text = without_refuted(tree.read(path), search.rules.undefined).decode("utf-8", "replace")
                    search.add(f"native:{path}", path, include_edges(text, path.rpartition("/")[0], files))
