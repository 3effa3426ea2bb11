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

    def __init__(
        self,
        starts: Mapping[Node, int],
        out: Callable[[Node], Iterable[tuple[Node, int, Edge]]],
        owner: Callable[[Node], Node | None] = lambda node: None,
    ) -> None:
        """
        Args:
            starts: and what a way costs before its first step.
            out: of a node: where each edge leads, what it costs, and the edge.
            owner: of a node: another one that is to be reached before it, as far as anything else reaches that.
        """
        self.costs: dict[Node, int] = dict(starts)
        """Of every node that is reached."""
        self.last: dict[Node, tuple[Node, Edge]] = {}
        """Of every node but the starts the last edge of its way, and where that comes from."""
        reached: set[Node] = set()
        waiting: dict[Node, list[tuple[int, Node]]] = {}
        queue = sorted((cost, node) for node, cost in starts.items())
        while queue or waiting:
            if not queue:
                # Nothing else leads to these owners: what they own does.
                queue = sorted(row for rows in waiting.values() for row in rows)
                waiting, owner = {}, lambda node: None
            cost, node = heappop(queue)
            if node in reached:
                continue
            if (around := owner(node)) is not None and around not in reached:
                waiting.setdefault(around, []).append((cost, node))
                continue
            reached.add(node)
            for held, owned in waiting.pop(node, ()):
                heappush(queue, (max(cost, held), owned))
            for target, more, edge in out(node):
                if target not in reached and cost + more < self.costs.get(target, cost + more + 1):
                    self.costs[target], self.last[target] = cost + more, (node, edge)
                    heappush(queue, (cost + more, target))

    def to(self, node: Node) -> list[Edge]:
        """Edges from a start to a node; none for a start, and for what is not reached."""
        edges: list[Edge] = []
        while (last := self.last.get(node)) is not None:
            node, edge = last
            edges.append(edge)
        return edges[::-1]
