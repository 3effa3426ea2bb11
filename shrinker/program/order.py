"""Orders of a graph: the first reason of every node, all that some nodes lead to, and each node after those that it leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from shrinker.values.graph import Edge

Node = TypeVar("Node")


def first_reasons(edges: Mapping[Edge, str]) -> tuple[dict[str, Edge], dict[str, str]]:
    """Breadth first from the roots over the sure edges, then over the weak ones and what only they reach.

    Args:
        edges: every edge to why it is weak (``""`` when sure).

    Returns:
        The first edge into each node, and for the nodes that no chain of sure edges reaches, why they are kept.
    """
    sure: dict[str, list[Edge]] = {}
    weak: dict[str, list[Edge]] = {}
    for edge in sorted(edges):
        (weak if edges[edge] else sure).setdefault(edge.src, []).append(edge)
    first: dict[str, Edge] = {}
    doubtful: dict[str, str] = {}
    roots = sorted({edge.src for edge in edges if edge.src.startswith("root:")})
    reached = list(roots)
    frontier, guess = list(roots), False
    while True:
        while frontier:
            wave: list[str] = []
            for node in frontier:
                for edge in sure.get(node, ()):
                    if edge.dst in first:
                        continue
                    first[edge.dst] = edge
                    wave.append(edge.dst)
                    if guess:
                        doubtful[edge.dst] = f"needed only by {edge.src}, which is uncertain"
            frontier = sorted(wave)
            reached += frontier
        for node in reached:
            for edge in weak.get(node, ()):
                if edge.dst not in first:
                    first[edge.dst] = edge
                    doubtful[edge.dst] = f"{edges[edge]} ({edge.path}:{edge.line})"
                    frontier.append(edge.dst)
        if not frontier:
            return first, doubtful
        frontier.sort()
        reached, guess = list(frontier), True


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


def postorder(starts: Iterable[str], successors: Callable[[str], Iterable[str]]) -> list[str]:
    """Every node that the starts reach, each after those that it leads to, as far as there is no cycle.

    Args:
        starts: where the search begins, one after the other.
        successors: of a node; the last one is entered first.
    """
    order: list[str] = []
    seen: set[str] = set()
    for start in starts:
        stack = [(start, False)]
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                stack.extend((other, False) for other in successors(node) if other not in seen)
    return order
