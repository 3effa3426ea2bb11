"""Packages that travel beside the served one, with the kernels that they offer: what kept code reaches of both stays."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from shrinker.cache import Cache
from shrinker.program.native.callers import Callers, calling_lines, find_callers, said_by
from shrinker.program.native.cuts import cuts
from shrinker.program.native.library import read_library
from shrinker.program.native.reach import NativeReach
from shrinker.program.nodes import file_node, operator_node, path_node
from shrinker.program.symbols.dead import dead_spans, search_package
from shrinker.program.symbols.search import Search
from shrinker.program.ways import first_reasons
from shrinker.ruleset import Companion, Ruleset
from shrinker.syntax.names import is_special
from shrinker.values.edits import Cut, Span
from shrinker.values.folded import EMPTY_SYMBOLS, FoldedModule
from shrinker.values.graph import UNREACHABLE, Edge, Graph, Removal
from shrinker.values.upstream import UpstreamTree

Fold = Callable[[Collection[str], Mapping[str, frozenset[Span]] | None], dict[str, FoldedModule]]
"""Folds the companions among some paths; without what nothing names where that is given, else with their units."""

_NO_OPERATOR = "no operator that kept code names needs it"
_NO_IMPORT = "no kept code imports or names it"


def prune_companions(
    tree: UpstreamTree, rules: Ruleset, graph: Graph, folded: Mapping[str, FoldedModule], fold: Fold, cache: Cache
) -> tuple[Graph, dict[str, FoldedModule], dict[str, tuple[Cut, ...]]]:
    """Decide what stays of the packages beside the served one.

    Args:
        graph: of files, with all that rules keep of the companions.
        folded: modules of the served package by path, with nothing in them that goes.

    Returns:
        The graph without what goes, the companions that are left by path, and lines that go by path of a file that is no Python.
    """
    with_sources = [rule for rule in rules.companions if rule.sources]
    dead: dict[str, frozenset[Span]] = {}
    found: list[tuple[Companion, Callers, Search]] = []
    named = frozenset(edge.dst for edge in graph.edges if edge.kind == "keep" and edge.src.startswith("root:"))
    whole = fold(graph.kept, None) if with_sources else {}
    gone: dict[str, str] = {}
    for rule in with_sources:
        own = {path: module for path, module in whole.items() if path.startswith(f"{rule.folder}/")}
        if not own:
            continue
        callers = find_callers(tree, graph, folded, _package(rule), rule.sources)
        graph = replace(graph, uncertain=tuple(sorted({*graph.uncertain, *callers.undecided})))
        if callers.undecided:
            continue
        # Tools ask any package for these, such as its version.
        special = {name for module in own.values() for name, _ in module.defines if is_special(name)}
        search = search_package(rules, own, callers.words | special)
        dead |= dead_spans(search, {module.module for module in own.values()})
        unloaded = (path for path, module in own.items() if module.module not in search.loaded)
        gone |= {path: _NO_IMPORT for path in unloaded if file_node(path) not in named}
        found.append((rule, callers, search))
    companions = fold([path for path in graph.kept if path not in gone], dead)
    companions = {path: replace(module, units=EMPTY_SYMBOLS) for path, module in companions.items()}
    cut: dict[str, tuple[Cut, ...]] = {}
    edges: list[Edge] = []
    for rule, callers, search in found:
        library = read_library(tree, rule.sources, rule.folder, graph.kept, rules.undefined, cache)
        wrappers = {p: m for p, m in companions.items() if p.startswith(f"{rule.folder}/")}
        said = (said_by(module, _package(rule)) for module in wrappers.values())
        by_hand = frozenset(path for path in library.sources if file_node(path) in named)
        reach = NativeReach(library, callers.words.union(*said), by_hand).run()
        gone |= dict.fromkeys(library.sources.keys() - reach.kept, _NO_OPERATOR)
        cut |= cuts(reach)
        new = [*_wrapper_edges(tree, graph, search, callers, wrappers, reach.operators)]
        asked = named | {edge.dst for edge in new}
        # What the import of a module was for went: nobody imports it any more, and it has nothing.
        empty = (path for path, module in wrappers.items() if not module.defines and not module.is_package)
        gone |= {path: _NO_IMPORT for path in empty if file_node(path) not in asked}
        edges += [*new, *_library_edges(tree, reach)]
    companions = {path: module for path, module in companions.items() if path not in gone}
    return _without(graph, gone, edges), companions, cut


def _package(rule: Companion) -> str:
    return rule.folder.rpartition("/")[2]


def _without(graph: Graph, gone: Mapping[str, str], edges: Collection[Edge]) -> Graph:
    """The graph without some files; the edges take the place of the rule that named whole folders."""
    if not gone and not edges:
        return graph
    nodes = {file_node(path) for path in gone}
    stay, new = ([e for e in some if e.dst not in nodes and e.src not in nodes] for some in (graph.edges, edges))
    explained = {edge.dst for edge in new}
    by_rule = {edge for edge in stay if edge.dst in explained and edge.kind == "root"}
    first, _ = first_reasons(dict.fromkeys([*(e for e in stay if e not in by_rule), *new], ""))
    # What only the rule keeps, or a circle that it starts.
    merged = sorted({*(e for e in stay if e not in by_rule or e.dst not in first), *new})
    first, _ = first_reasons(dict.fromkeys(merged, ""))
    kept = {
        path: first[node].reason if (node := file_node(path)) in explained and node in first else reason
        for path, reason in graph.kept.items()
        if path not in gone
    }
    removed = {**graph.removed, **{path: Removal(UNREACHABLE, reason) for path, reason in gone.items()}}
    return replace(graph, edges=tuple(merged), kept=kept, removed=dict(sorted(removed.items())))


def _wrapper_edges(
    tree: UpstreamTree,
    graph: Graph,
    search: Search,
    callers: Callers,
    wrappers: Mapping[str, FoldedModule],
    operators: Collection[str],
) -> Iterator[Edge]:
    """From names that kept code imports to the files of the library's package, and from all of these to operators that are reached."""
    paths = {module.module: path for path, module in wrappers.items()}
    for kernel in sorted({edge.dst for edge in graph.edges if edge.dst.startswith("kernel:")}):
        module, _, name = kernel.removeprefix("kernel:").rpartition(".")
        for holder in dict.fromkeys((module, f"{module}.{name}".strip("."))):
            if holder in paths:
                yield Edge(kernel, file_node(paths[holder]), "import", paths[holder], 1)
        for touch in search.types.imported(module, name).touches if module in paths else ():
            if touch.kind == "unit" and touch.module in paths:
                line = search.program.unit(touch.key).span.line
                yield Edge(kernel, file_node(paths[touch.module]), "import", paths[touch.module], line)
    for path, wrapper in wrappers.items():
        for site in wrapper.imports:
            target = paths.get(site.module)
            if target is not None and target != path:
                yield Edge(file_node(path), file_node(target), "import", path, site.line)
    for path in (*callers.paths, *wrappers):
        for name, line in sorted(calling_lines(tree, path, operators).items()):
            yield Edge(path_node(path), operator_node(name), "operator", path, line)


def _library_edges(tree: UpstreamTree, reach: NativeReach) -> Iterator[Edge]:
    """From operators to sources, and from these to others."""
    yield from reach.edges
    for path, target, name in reach.calls:
        yield Edge(file_node(path), file_node(target), "call", path, _line(tree, reach.library.closure(path), name))


def _line(tree: UpstreamTree, paths: Collection[str], name: str) -> int:
    """Where a source, or else what it includes, first mentions a name; 1 where it is put together."""
    word = re.compile(rb"\b%s\b" % name.encode())
    for path in paths:
        data = tree.read(path)
        if found := word.search(data):
            return data.count(b"\n", 0, found.start()) + 1
    return 1
