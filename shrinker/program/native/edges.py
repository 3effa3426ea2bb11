"""The chain from kept Python over a wrapper and an operator to the source that defines it, edge by edge."""

import re
from collections.abc import Collection, Iterator, Mapping

from shrinker.program.native.callers import Callers, calling_lines
from shrinker.program.native.reach import NativeReach
from shrinker.program.nodes import file_node, operator_node, path_node
from shrinker.program.symbols.search import Search
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Edge, Graph
from shrinker.values.upstream import UpstreamTree


def wrapper_edges(
    tree: UpstreamTree,
    graph: Graph,
    search: Search,
    callers: Callers,
    wrappers: Mapping[str, FoldedModule],
    operators: Collection[str],
) -> Iterator[Edge]:
    """From names that kept code imports to the files of the library's package, and from all of these to operators.

    Args:
        search: of the package.
        wrappers: kept modules of the package by path.
        operators: names of those that are reached.
    """
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


def library_edges(tree: UpstreamTree, reach: NativeReach) -> Iterator[Edge]:
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
