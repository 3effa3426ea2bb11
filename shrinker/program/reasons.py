"""Why files are kept: the nearest ways through the graph of files, and what leaves with each of
them.
"""

from collections.abc import Iterable, Mapping, Sequence

import networkx

from shrinker.values.graph import Edge

_WEAK = 1 << 20
"""What a weak edge counts: more than any way of sure ones."""
_TOP = -1
"""A node above all roots."""


def first_reasons(edges: Mapping[Edge, str]) -> tuple[dict[str, Edge], dict[str, str]]:
    """Find the nearest ways from the roots, by sure edges where there are such.

    Args:
        edges: each with why it is weak; empty when it is sure.

    Returns:
        By node the last edge of the way to it, and for the nodes that no way of sure edges reaches,
        why they are kept.
    """
    graph = networkx.DiGraph()
    # Of several edges between two nodes the first one tells, a sure one before others.
    for edge in sorted(edges, key=lambda edge: (bool(edges[edge]), edge)):
        if not graph.has_edge(edge.src, edge.dst):
            graph.add_edge(edge.src, edge.dst, cost=_WEAK if edges[edge] else 1, edge=edge)
    roots = sorted(node for node in graph if node.startswith("root:"))
    if not roots:
        return {}, {}
    costs, ways = networkx.multi_source_dijkstra(graph, roots, weight="cost")
    first = {node: graph.edges[way[-2], node]["edge"] for node, way in ways.items() if len(way) > 1}
    doubtful = {
        node: f"{edges[edge]} ({edge.path}:{edge.line})"
        if edges[edge]
        else f"needed only by {edge.src}, which is uncertain"
        for node, edge in first.items()
        if costs[node] >= _WEAK
    }
    return first, doubtful


def leaving_with_each(edges: Iterable[Sequence[int]], roots: Iterable[int]) -> dict[int, list[int]]:
    """Find what is reached through each node alone, itself first.

    ``[(0, 1), (1, 2)], [0]`` gives ``{0: [0, 1, 2], 1: [1, 2], 2: [2]}``.

    Args:
        edges: rows that begin with source and target.
        roots: nodes that are reached without an edge.
    """
    graph = networkx.DiGraph((source, target) for source, target, *_ in edges)
    graph.add_node(_TOP)
    graph.add_edges_from((_TOP, root) for root in roots)
    above = networkx.immediate_dominators(graph, _TOP)
    tree = networkx.DiGraph(
        (over, node) for node, over in above.items() if node != _TOP and over is not None
    )
    return {node: [*networkx.dfs_preorder_nodes(tree, node)] for node in tree if node != _TOP}
