"""The cheapest ways through a graph: all that is told of chains is found here.

Only the standard library is imported: an answer takes less time than loading a graph library would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from heapq import heappop, heappush
from typing import Generic, TypeVar

Node = TypeVar("Node", int, str)
Edge = TypeVar("Edge")


class Ways(Generic[Node, Edge]):
    """From some starts to all that they reach; of two ways that cost the same the first in the order of the nodes."""

    def __init__(self, starts: Mapping[Node, int], out: Callable[[Node], Iterable[tuple[Node, int, Edge]]]) -> None:
        """
        Args:
            starts: and what a way costs before its first step.
            out: of a node: where each edge leads, what it costs, and the edge.
        """
        self.costs: dict[Node, int] = dict(starts)
        """Of every node that is reached."""
        self._last: dict[Node, tuple[Node, Edge]] = {}
        queue = sorted((cost, node) for node, cost in starts.items())
        while queue:
            cost, node = heappop(queue)
            if cost > self.costs[node]:
                continue
            for target, more, edge in out(node):
                if cost + more < self.costs.get(target, cost + more + 1):
                    self.costs[target], self._last[target] = cost + more, (node, edge)
                    heappush(queue, (cost + more, target))

    def to(self, node: Node) -> list[Edge]:
        """Edges from a start to a node; none for a start, and for what is not reached."""
        edges: list[Edge] = []
        while (last := self._last.get(node)) is not None:
            node, edge = last
            edges.append(edge)
        return edges[::-1]
