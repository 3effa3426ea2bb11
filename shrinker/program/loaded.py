"""The files that kept modules load, added to a finished module search."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from shrinker.program.edges.data import DataEdges
from shrinker.program.edges.native import include_edges
from shrinker.program.files import FileIndex, index_files
from shrinker.program.nodes import Found, file_node, module_node, suffix
from shrinker.program.reach import Search
from shrinker.ruleset import Remove
from shrinker.syntax.native import without_refuted
from shrinker.values.folded import FoldedModule
from shrinker.values.upstream import PACKAGE_PREFIX, UpstreamTree

_BINARY = frozenset({"so", "pyd", "dylib", "cubin", "fatbin"})


def add_files(
    search: Search, tree: UpstreamTree, removed: Mapping[str, Remove], undefined: Collection[str] = ()
) -> None:
    """Add the edges to data files and native sources of the package, transitively.

    Files outside the package are kept by rules alone.

    Args:
        search: after its modules are found.
        tree: upstream.
        removed: files that a rule removes.
        undefined: macros that no build defines.
    """
    files = index_files(
        file.path
        for file in tree.files
        if file.path.startswith(PACKAGE_PREFIX) and not file.path.endswith(".py") and file.path not in removed
    )
    data = DataEdges(files)
    ordered = [search.modules[name] for name in sorted(search.modules)]
    seen: set[str] = set()
    for module in ordered:
        src = module_node(module.module)
        for found in (*data.find(module), *_inline(module, files), *_stub(module, tree)):
            search.add(src, module.path, found)
    _follow_includes(search, tree, files, undefined, seen)
    for module, found in _folders(search, ordered, data):
        search.add(module_node(module.module), module.path, found)
    _follow_includes(search, tree, files, undefined, seen)


def _inline(module: FoldedModule, files: FileIndex) -> list[Found]:
    """Native source in a string: `load_inline(cuda_sources="#include <x.cuh> …")`."""
    folder = module.path.rpartition("/")[0]
    return [
        found
        for site in module.strings
        if "#" in site.text and "include" in site.text
        for found in include_edges(site.text, folder, files, site.line)
    ]


def _stub(module: FoldedModule, tree: UpstreamTree) -> list[Found]:
    path = module.path + "i"
    return [Found(file_node(path), "data", 1)] if path in tree.by_path else []


def _follow_includes(
    search: Search, tree: UpstreamTree, files: FileIndex, undefined: Collection[str], seen: set[str]
) -> None:
    prefix = "native:" + PACKAGE_PREFIX
    frontier = sorted(node for node in search.reached if node.startswith(prefix) and node not in seen)
    while frontier:
        seen.update(frontier)
        for node in frontier:
            path = node[len("native:") :]
            if suffix(path) in _BINARY:
                continue
            text = without_refuted(tree.read(path), undefined).decode("utf-8", "replace")
            for found in include_edges(text, path.rpartition("/")[0], files):
                search.add(node, path, found)
        frontier = sorted(node for node in search.reached if node.startswith(prefix) and node not in seen)


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
