"""Cycles and dominators of the kept modules: what hangs together, and what would leave with a module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from shrinker.cache import Cache, pack, unpack
from shrinker.report.chains import short
from shrinker.values.graph import Graph

_START = "start:"
_MODULE_KINDS = frozenset({"root", "keep", "import", "import-local", "import-type", "package", "string", "walk"})


@dataclass(frozen=True, slots=True)
class Dominator:
    """A module through which every chain to some others goes."""

    name: str
    modules: int
    """Modules that would leave with it, itself included."""
    lines: int


@dataclass(frozen=True, slots=True)
class Structure:
    """What depends on who imports whom, and on nothing else."""

    circles: tuple[tuple[str, ...], ...]
    """Nodes of each strongly connected component that has several."""
    parents: Mapping[str, str]
    """Immediate dominator of each node; the start's is itself."""


def structure(graph: Graph, cache: Cache | None = None) -> Structure:
    """Modules and roots as a directed graph with one start node, analysed.

    Args:
        cache: structures of earlier graphs; by default none.
    """
    pairs = sorted(
        {
            (edge.src if edge.src.startswith("module:") else _START, edge.dst)
            for edge in graph.edges
            if edge.kind in _MODULE_KINDS and edge.dst.startswith("module:")
        }
    )
    layer = (cache or Cache.off()).layer("structure")
    keys = {"structure": layer.key(repr(pairs))}
    packed = layer.load(keys)
    if not packed:
        packed = {"structure": pack(_analyse(pairs))}
        layer.save(keys, packed)
    found: Structure = unpack(packed["structure"])
    return found


def _analyse(pairs: Iterable[tuple[str, str]]) -> Structure:
    # Here and not above: it takes half a second to load, and who imports whom seldom changes.
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph(list(pairs))
    circles = tuple(tuple(sorted(group)) for group in nx.strongly_connected_components(graph) if len(group) > 1)
    # Whether the start is its own dominator differs between versions of the library.
    parents = {**nx.immediate_dominators(graph, _START), _START: _START} if _START in graph else {}
    return Structure(circles, parents)


def cycles(found: Structure) -> list[list[str]]:
    """Groups of modules that import each other in a circle, the largest first."""
    groups = [sorted(short(node) for node in group) for group in found.circles]
    return sorted(groups, key=lambda group: (-len(group), group))


def dominators(found: Structure, lines: Mapping[str, int], most: int = 20) -> list[Dominator]:
    """The modules that alone keep the most lines besides their own.

    Args:
        lines: lines of each module node in the generated tree.
    """
    parent = found.parents
    count = dict.fromkeys(parent, 1)
    total = {node: lines.get(node, 0) for node in parent}
    depth: dict[str, int] = {_START: 0}

    def level(node: str) -> int:
        path = []
        while node not in depth:
            path.append(node)
            node = parent[node]
        base = depth[node]
        for step, inner in enumerate(reversed(path), 1):
            depth[inner] = base + step
        return depth[path[0]] if path else base

    for node in sorted(parent, key=lambda n: (-level(n), n)):
        above = parent[node]
        if node != _START:
            count[above] += count[node]
            total[above] += total[node]
    rows = [Dominator(short(n), count[n], total[n]) for n in parent if n != _START and count[n] > 1]
    return sorted(rows, key=lambda row: (-row.lines, row.name))[:most]
