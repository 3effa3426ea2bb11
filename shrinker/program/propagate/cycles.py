"""Modules that import each other at module level: which of them is loaded first may decide whether they load at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shrinker.program.order import postorder
from shrinker.values.folded import FoldedModule


class Cycles:
    """Module-level imports of the kept modules, branches included."""

    def __init__(self, modules: Mapping[str, FoldedModule]) -> None:
        """
        Args:
            modules: every kept module by dotted name.
        """
        self._edges = {name: _imported(module, modules) for name, module in modules.items()}
        self._known: dict[str, frozenset[str]] = {}
        self.members = frozenset(
            name
            for group in _components(self._edges)
            if len(group) > 1 and not _has_one_way_in(group)
            for name in group
        )
        """Modules of the cycles that can be entered in more than one place."""

    def entered_by(self, module: str) -> frozenset[str]:
        """Members of cycles that loading a module may load."""
        if not self.members:
            return frozenset()
        if module not in self._known:
            seen = {module}
            stack = [module]
            while stack:
                fresh = self._edges.get(stack.pop(), frozenset()) - seen
                seen |= fresh
                stack.extend(fresh)
            self._known[module] = self.members & seen
        return self._known[module]


def _imported(module: FoldedModule, modules: Mapping[str, FoldedModule]) -> frozenset[str]:
    names = {
        name for site in module.imports if site.kind == "import" for name in (site.module, f"{site.module}.{site.name}")
    }
    return frozenset((names & modules.keys()) - {module.module})


def _has_one_way_in(group: frozenset[str]) -> bool:
    """True for a package and modules in it: loading any of them loads the package first."""
    top = min(group, key=len)
    return all(name == top or name.startswith(f"{top}.") for name in group)


def _components(edges: Mapping[str, frozenset[str]]) -> Iterable[frozenset[str]]:
    """Strongly connected components, by Kosaraju's two searches: the graph is small, and a library would be loaded for it
    in every run."""
    order = postorder(sorted(edges), lambda node: sorted(edges[node]))
    backwards: dict[str, list[str]] = {name: [] for name in edges}
    for name, others in edges.items():
        for other in others:
            backwards[other].append(name)
    assigned: set[str] = set()
    for start in reversed(order):
        if start in assigned:
            continue
        group: set[str] = set()
        pending = [start]
        while pending:
            node = pending.pop()
            if node not in assigned:
                assigned.add(node)
                group.add(node)
                pending.extend(backwards[node])
        yield frozenset(group)
