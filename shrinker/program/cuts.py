"""What would leave if something were cut: all that is reached through it alone."""

from collections.abc import Iterable, Mapping, Sequence


class Cuts:
    """A graph of numbered nodes.

    Its edges are rows that begin with source and target. `owners` are nodes that are reached only where another one is, too: a member and
    its class.
    """

    def __init__(
        self, count: int, edges: Iterable[Sequence[int]], roots: Iterable[int], owners: Mapping[int, int] | None = None
    ) -> None:
        self._out: list[list[int]] = [[] for _ in range(count)]
        for source, target, *_ in edges:
            self._out[source].append(target)
        self._roots = [*roots]
        self._owners = owners or {}
        self._all = self._reached(())

    def leaving(self, cut: Iterable[int]) -> list[int]:
        """What is reached, and is not without these nodes, themselves included."""
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
