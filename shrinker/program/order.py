"""The first reason of every node of a graph, and all that some nodes lead to."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from shrinker.program.ways import Ways
from shrinker.values.graph import Edge

Node = TypeVar("Node")
_WEAK = 1 << 20
"""What a weak edge counts: more than any way of sure ones."""


def first_reasons(edges: Mapping[Edge, str]) -> tuple[dict[str, Edge], dict[str, str]]:
    """The nearest ways from the roots, by sure edges where there are such.

    Args:
        edges: every edge to why it is weak (``""`` when sure).

    Returns:
        The last edge of the way to each node, and for the nodes that no way of sure edges reaches, why they are kept.
    """
    leaving: dict[str, list[Edge]] = {}
    for edge in sorted(edges):
        leaving.setdefault(edge.src, []).append(edge)
    roots = {edge.src: 0 for edge in edges if edge.src.startswith("root:")}
    ways = Ways(roots, lambda node: ((e.dst, _WEAK if edges[e] else 1, e) for e in leaving.get(node, ())))
    first = {node: edge for node, (_, edge) in ways.last.items()}
    doubtful = {
        node: f"{edges[edge]} ({edge.path}:{edge.line})"
        if edges[edge]
        else f"needed only by {edge.src}, which is uncertain"
        for node, edge in first.items()
        if ways.costs[node] >= _WEAK
    }
    return first, doubtful


def reached(starts: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> dict[Node, None]:
    """Everything that the starts lead to, themselves included, in the order in which it is found."""
    found = dict.fromkeys(starts)
    stack = list(found)
    while stack:
        for node in successors(stack.pop()):
            if node not in found:
                found[node] = None
                stack.append(node)
    return found
