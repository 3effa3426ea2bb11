"""Cycles and dominators of the kept modules: what hangs together, and what would leave with a module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import networkx as nx

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


def module_graph(graph: Graph) -> nx.DiGraph[str]:
    """Modules and roots as a directed graph with one start node."""
    out: nx.DiGraph[str] = nx.DiGraph()
    for edge in graph.edges:
        if edge.kind in _MODULE_KINDS and edge.dst.startswith("module:"):
            src = edge.src if edge.src.startswith("module:") else _START
            out.add_edge(src, edge.dst)
    return out


def cycles(graph: nx.DiGraph[str]) -> list[list[str]]:
    """Groups of modules that import each other in a circle, the largest first."""
    groups = [
        sorted(short(node) for node in group) for group in nx.strongly_connected_components(graph) if len(group) > 1
    ]
    return sorted(groups, key=lambda group: (-len(group), group))


def dominators(graph: nx.DiGraph[str], lines: Mapping[str, int], most: int = 20) -> list[Dominator]:
    """The modules that alone keep the most lines besides their own.

    Args:
        lines: lines of each module node in the generated tree.
    """
    if _START not in graph:
        return []
    # Whether the start is its own dominator differs between versions of the library.
    parent = {**nx.immediate_dominators(graph, _START), _START: _START}
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
