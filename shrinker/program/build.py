"""The graph phase: from a tree, its rules and a way to fold modules to what is kept, removed and uncertain, with the files that kept modules
load."""

from collections.abc import Mapping

from shrinker.program.edges.data import DataEdges
from shrinker.program.edges.named import named_modules
from shrinker.program.edges.native import include_edges
from shrinker.program.files import FileIndex
from shrinker.program.modules import ModuleIndex
from shrinker.program.nodes import Found, file_node, module_node, suffix
from shrinker.program.order import first_reasons
from shrinker.program.reach import Fold, Search
from shrinker.program.removals import removed_by_rule
from shrinker.ruleset import Remove, Ruleset
from shrinker.syntax.native.conditionals import without_refuted
from shrinker.values.folded import FoldedModule, LeakedUse, Uncertain
from shrinker.values.graph import UNREACHABLE, Graph, Removal
from shrinker.values.upstream import PACKAGE_PREFIX, UpstreamTree


def build_graph(
    tree: UpstreamTree,
    rules: Ruleset,
    fold: Fold,
    *,
    rescued: Mapping[str, tuple[str, LeakedUse]] | None = None,
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
    kept: dict[str, str] = {}
    for node, edge in first.items():
        path = search.path(node)
        if path is not None:
            kept[path] = edge.reason
    uncertain = [item for module in search.modules.values() for item in module.uncertain]
    uncertain += search.problems
    uncertain += [Uncertain(path, 0, reason) for path, reason in rescues.items() if path in kept]
    uncertain += _undecided_sites(search)
    for node, reason in doubtful.items():
        path = search.path(node)
        if path is not None:
            uncertain.append(Uncertain(path, 0, reason))
    graph = Graph(
        edges=tuple(sorted(search.edges)),
        kept=dict(sorted(kept.items())),
        removed=_removals(paths, kept, removed, _unasked(search)),
        uncertain=tuple(sorted(set(uncertain))),
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
            own = index.paths.get(module)
            if own is not None and own in removed:
                rule = removed.pop(own)
                reasons[own] = f"rule {rule.id} would remove it, but `{use.name}` is used at {path}:{use.line}"
    return reasons


def _unasked(search: Search) -> dict[str, Removal]:
    """Path of each file that a row of a table names which no kept code asks for."""
    found: dict[str, Removal] = {}
    for module, site, edge in search.registry.left():
        if path := search.path(edge.dst):
            reason = (
                f"only the row of {site.key!r} names it ({module.path}:{site.line}), and no kept code asks for that"
            )
            found.setdefault(path, Removal(site.rule, reason))
    return found


def _removals(
    paths: list[str], kept: Mapping[str, str], removed: Mapping[str, Remove], unasked: Mapping[str, Removal]
) -> dict[str, Removal]:
    out: dict[str, Removal] = {}
    for path in sorted(paths):
        if path in kept:
            continue
        rule = removed.get(path)
        if rule is not None:
            out[path] = Removal(rule.id, f"removed feature: {rule.feature}")
        elif path in unasked:
            out[path] = unasked[path]
        elif not path.startswith(PACKAGE_PREFIX):
            out[path] = Removal(UNREACHABLE, "out of scope: outside the package and named by no rule")
        elif path.endswith(".py"):
            out[path] = Removal(UNREACHABLE, "no kept module imports or names it")
        else:
            out[path] = Removal(UNREACHABLE, "no kept module or source names it")
    return out


def _undecided_sites(search: Search) -> list[Uncertain]:
    """Imports of computed names, for which nothing is kept beyond what the strings beside them name."""
    out: list[Uncertain] = []
    for module in search.modules.values():
        for site in module.dynamic:
            computed = not (site.target and site.target.strip("*."))
            if site.mechanism in ("import_module", "spec_from_file") and computed:
                out.append(Uncertain(module.path, site.line, f"imports a computed name: `{site.text}`"))
    return out


_BINARY = frozenset({"so", "pyd", "dylib", "cubin", "fatbin"})


def _add_files(search: Search, tree: UpstreamTree) -> None:
    """Add the edges to data files and native sources of the package, transitively.

    Files outside the package are kept by rules alone.

    Args:
        search: after its modules are found.
        tree: upstream.
    """
    files = FileIndex(
        file.path
        for file in tree.files
        if file.path.startswith(PACKAGE_PREFIX) and not file.path.endswith(".py") and file.path not in search.removed
    )
    data = DataEdges(files)
    ordered = [search.modules[name] for name in sorted(search.modules)]
    seen: set[str] = set()
    for module in ordered:
        src = module_node(module.module)
        stub = module.path + "i"
        stubs = [Found(file_node(stub), "data", 1)] if stub in tree.by_path else []
        for found in (*data.find(module), *_inline(module, files), *stubs):
            search.add(src, module.path, found)
    _follow_includes(search, tree, files, seen)
    for module, found in _folders(search, ordered, data):
        search.add(module_node(module.module), module.path, found)
    _follow_includes(search, tree, files, seen)


def _inline(module: FoldedModule, files: FileIndex) -> list[Found]:
    """Native source in a string: `load_inline(cuda_sources="#include <x.cuh> …")`."""
    folder = module.path.rpartition("/")[0]
    return [
        found
        for site in module.strings
        if "#" in site.text and "include" in site.text
        for found in include_edges(site.text, folder, files, site.line)
    ]


def _follow_includes(search: Search, tree: UpstreamTree, files: FileIndex, seen: set[str]) -> None:
    prefix = "native:" + PACKAGE_PREFIX
    while frontier := sorted(node for node in search.reached if node.startswith(prefix) and node not in seen):
        seen.update(frontier)
        for node in frontier:
            path = node[len("native:") :]
            if suffix(path) in _BINARY:
                continue
            text = without_refuted(tree.read(path), search.rules.undefined).decode("utf-8", "replace")
            for found in include_edges(text, path.rpartition("/")[0], files):
                search.add(node, path, found)


def _folders(search: Search, modules: list[FoldedModule], data: DataEdges) -> list[tuple[FoldedModule, Found]]:
    """Decided on what finer edges reached, so that the order of the modules makes no difference."""
    out: list[tuple[FoldedModule, Found]] = []
    for module in modules:
        globbed = data.globbed(module)
        for line, folder, text in data.folders(module):
            inside = data.in_folder(folder)
            finer = any(file_node(path) in search.reached for path in inside)
            for path in inside:
                if not finer or suffix(path) in globbed:
                    weak = f"only its folder is named, by the string {text!r}"
                    out.append((module, Found(file_node(path), "data", line, weak)))
    return out
