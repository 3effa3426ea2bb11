"""Ways through a graph: the cheapest ones, what leaves when they are cut, and what an edge counts
in a chain that explains something.

By hand, since networkx knows no node that is reached only where another one is, too, as a member is
with its class; and since answers of the command line take less time than loading it would. What a
run asks of the graph of files is `reasons`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import Generic, TypeVar

Node = TypeVar("Node", int, str)
Edge = TypeVar("Edge")
_COSTS = {"by name": 8, "enumeration": 6, "string": 20, "pattern": 30}
"""Between symbols, where not 1: what the syntax proves explains more than a name that merely
agrees.
"""
FILE_COSTS = {"package": 2, "string": 4, "walk": 4, "import-type": 10}
"""The same between files: what only a type checker reads explains least."""
_BUILTIN = 6
"""What a look-up counts more by a name that objects of Python's own types have: `x.decode()` most
likely means bytes.
"""
_TYPES = (bytes, dict, float, int, list, set, str, tuple)
_OF_BUILTINS = frozenset(f"name:{name}" for each in _TYPES for name in dir(each))


class Ways(Generic[Node, Edge]):
    """From some starts to all that they reach; of two ways that cost the same the first in the
    order of the nodes.
    """

    def __init__(
        self,
        starts: Mapping[Node, int],
        out: Callable[[Node], Iterable[tuple[Node, int, Edge]]],
        owner: Callable[[Node], Node | None] = lambda node: None,
    ) -> None:
        """Starts come with what a way costs before its first step; `out` gives where each edge of a
        node leads, what it costs, and the edge; `owner` another node that is to be reached before
        this one, as far as anything else reaches that.
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
        """Return edges from a start to a node; none for a start, and for what is not reached."""
        edges: list[Edge] = []
        while (last := self.last.get(node)) is not None:
            node, edge = last
            edges.append(edge)
        return edges[::-1]


class Cuts:
    """What would leave a graph of numbered nodes if something were cut: all that is reached through
    it alone. Its edges are rows that begin with source and target; `owners` are nodes that are
    reached only where another one is, too: a member and its class.
    """

    def __init__(
        self,
        count: int,
        edges: Iterable[Sequence[int]],
        roots: Iterable[int],
        owners: Mapping[int, int] | None = None,
    ) -> None:
        self._out: list[list[int]] = [[] for _ in range(count)]
        for source, target, *_ in edges:
            self._out[source].append(target)
        self._roots = [*roots]
        self._owners = owners or {}
        self._all = self._reached(())

    def leaving(self, cut: Iterable[int]) -> list[int]:
        """Return what is reached, and is not without these nodes, themselves included."""
        cut = [*cut]
        if not self._owners and not any(self._out[node] for node in cut):
            return [node for node in cut if self._all[node]]
        left = self._reached(cut)
        return [node for node, reached in enumerate(self._all) if reached and not left[node]]

    def _reached(self, cut: Iterable[int]) -> bytearray:
        cut = frozenset(cut)
        seen = bytearray(len(self._out))
        waiting: dict[int, list[int]] = {}
        stack = [node for node in self._roots if node not in cut]
        for node in (*stack, *cut):
            seen[node] = 1
        while stack:
            node = stack.pop()
            for target in (*self._out[node], *waiting.pop(node, ())):
                if seen[target]:
                    continue
                owner = self._owners.get(target, -1)
                if owner >= 0 and (not seen[owner] or owner in cut):
                    waiting.setdefault(owner, []).append(target)
                    continue
                seen[target] = 1
                stack.append(target)
        for node in cut:
            seen[node] = 0
        return seen


def cost_of(kind: str, source: str, out: int) -> int:
    """Return what an edge counts that leaves a node with so many others."""
    cost = _COSTS.get(kind, 1)
    if kind == "by name":
        # A name that two hundred members share says less than one that two share.
        cost += out.bit_length() - 1 + (_BUILTIN if source in _OF_BUILTINS else 0)
    return cost
