"""`why` and `why-not`: the shortest chain from a root to a node, and what removed a file.

Only the standard library is imported here: an answer takes less time than loading a graph library would.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

from shrinker.program.nodes import distribution_name, path_node
from shrinker.program.symbols.costs import file_cost
from shrinker.values.errors import InputError
from shrinker.values.upstream import PACKAGE_PREFIX, module_name

_LINE = re.compile(r":\d+$")
_KINDS = ("module:", "data:", "native:", "external:", "kernel:", "operator:", "root:", "asset:", "distribution:")


@dataclass(frozen=True, slots=True)
class Step:
    """One edge of a chain."""

    src: str
    dst: str
    kind: str
    path: str
    """Empty for an edge that a rule makes."""
    line: int


@dataclass(frozen=True, slots=True)
class Chain:
    """The shortest way from a root to a node; of two equally short ones the first in alphabetical order."""

    target: str
    steps: tuple[Step, ...]
    uncertain: str = ""
    """Why the target is only a guess; empty when it is sure."""


@dataclass(frozen=True, slots=True)
class Unreached:
    """Why a file is not in the generated tree."""

    path: str
    rule: str
    """Rule id, or ``unreachable``."""
    reason: str
    importers: tuple[tuple[str, int, str], ...]
    """Path and line of imports of it in upstream, and what became of each."""


def explain(data: Mapping[str, Any], query: str, *, every: bool = False) -> list[Chain]:
    """Chains to everything that `query` names.

    Args:
        data: a saved graph.
        query: dotted module, path with or without ``python/``, unique file name, external distribution, kernel,
            top-level definition or node id.
        every: one chain for each edge to it, not only the shortest.

    Raises:
        InputError: nothing kept has that name; the message says whether it was removed, or names the nearest.
    """
    targets = _targets(data, query)
    if not targets:
        removed = _removed_paths(data, query)
        if removed:
            raise InputError(f"{removed[0]} is not in the generated tree", f"ask `shrinker why-not {query}`")
        for name in _dropped(data, query):
            raise InputError(f"{name} is not required by the generated package", f"ask `shrinker why-not {query}`")
        near = _nearest(data, query)
        raise InputError(f"nothing kept is named {query!r}{near}", "give a module, path, file, distribution or kernel")
    chains = FileChains(data)
    doubt = {row[0]: row[2] for row in data["uncertain"] if row[1] == 0}
    files = _files(data)
    return [
        Chain(node, steps, doubt.get(files.get(node, ""), "") or _doubt(data, node))
        for node in targets
        for steps in chains.all_to(node, every=every)
    ]


class FileChains:
    """The best chains of one graph, which is searched once."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        """
        Args:
            data: a saved graph.
        """
        self._data = data
        self._first = _search(data)
        self._numbers = {node: number for number, node in enumerate(data["nodes"])}
        self._nodes = {path: node for node, path in _files(data).items()}

    def to(self, path: str) -> tuple[Step, ...]:
        """The chain to a kept file; empty for a file that is not kept, or that nothing but itself keeps."""
        return self._to(self._numbers.get(self.node(path), -1))

    def node(self, path: str) -> str:
        """Node id of a kept file, empty when it is not kept."""
        return self._nodes.get(path, "")

    def all_to(self, node: str, *, every: bool) -> list[tuple[Step, ...]]:
        """The best chain to a node; with `every` one by way of each edge to it, shortest first."""
        number = self._numbers[node]
        if not every:
            return [self._to(number)]
        found = [
            (*self._to(edge[0]), self._step(edge))
            for edge in self._data["edges"]
            if edge[1] == number != edge[0]
            and (edge[0] in self._first or self._data["nodes"][edge[0]].startswith("root:"))
        ]
        # A chain that comes back to the target says nothing.
        straight = [steps for steps in found if all(step.src != node for step in steps)]
        return sorted(straight, key=len) or [()]

    def _to(self, number: int) -> tuple[Step, ...]:
        steps: list[Step] = []
        while (edge := self._first.get(number)) is not None:
            steps.append(self._step(edge))
            number = edge[0]
        return tuple(reversed(steps))

    def _step(self, edge: Sequence[int]) -> Step:
        nodes, (src, dst, kind, path, line) = self._data["nodes"], edge
        return Step(nodes[src], nodes[dst], self._data["kinds"][kind], self._data["paths"][path], line)


def names_file(data: Mapping[str, Any], query: str) -> bool:
    """True when a query names a file, module, distribution or kernel, kept or removed, and not only a symbol in one."""
    return bool(_nodes(data, query) or _removed_paths(data, query) or _dropped(data, query))


def explain_removed(data: Mapping[str, Any], query: str) -> list[Unreached]:
    """What removed the files that `query` names (a module, a path, a file name or a package), or a distribution.

    Raises:
        InputError: no removed file or distribution has that name.
    """
    paths = _removed_paths(data, query)
    if not paths and (dropped := _dropped(data, query)):
        return [
            Unreached(f"distribution:{name}", row["rule"] or "unreachable", row["reason"], _importers(row["importers"]))
            for name, row in dropped.items()
        ]
    if not paths:
        if _targets(data, query):
            raise InputError(f"{query} is kept", f"ask `shrinker why {query}`")
        near = _nearest(data, query)
        raise InputError(f"upstream has no file named {query!r}{near}", "give a module or a path of upstream")
    return [
        Unreached(
            path,
            rule=data["removed"][path][0],
            reason=data["removed"][path][1],
            importers=_importers(data["importers"].get(path, ())),
        )
        for path in paths
    ]


def _importers(rows: Iterable[Iterable[Any]]) -> tuple[tuple[str, int, str], ...]:
    return tuple((path, line, fate) for path, line, fate in rows)


def _dropped(data: Mapping[str, Any], query: str) -> dict[str, Any]:
    """Distributions that are no longer required, by their name or that of a module that they install."""
    query = query.strip().removeprefix("distribution:")
    found = {name: row for name, row in data["distributions"].items() if row["state"] == "dropped"}
    exact = distribution_name(query)
    return {exact: found[exact]} if exact in found else {n: row for n, row in found.items() if query in row["imports"]}


def _doubt(data: Mapping[str, Any], node: str) -> str:
    row = data["distributions"].get(node.removeprefix("distribution:"))
    return row["reason"] if row is not None and row["state"] == "uncertain" else ""


def _search(data: Mapping[str, Any]) -> dict[int, list[int]]:
    """The last edge of the cheapest chain from a root to each node."""
    nodes, costs = data["nodes"], [file_cost(kind) for kind in data["kinds"]]
    out: dict[int, list[list[int]]] = {}
    for edge in data["edges"]:
        out.setdefault(edge[0], []).append(edge)
    roots = data.get("roots", {})
    known = {n: roots.get(name, 0) for n, name in enumerate(nodes) if name.startswith("root:")}
    first: dict[int, list[int]] = {}
    # Node numbers are alphabetical, and so is the tie-break.
    queue = sorted((cost, node) for node, cost in known.items())
    while queue:
        cost, node = heappop(queue)
        if cost > known[node]:
            continue
        for edge in out.get(node, ()):
            whole = cost + costs[edge[2]]
            if whole < known.get(edge[1], whole + 1):
                known[edge[1]], first[edge[1]] = whole, edge
                heappush(queue, (whole, edge[1]))
    return first


def _targets(data: Mapping[str, Any], query: str) -> list[str]:
    found = _nodes(data, query)
    if found:
        return found
    name = query.strip()
    return [f"module:{m}" for m, rows in sorted(data["defines"].items()) if any(row[0] == name for row in rows)]


def _nodes(data: Mapping[str, Any], query: str) -> list[str]:
    nodes: list[str] = data["nodes"]
    query = query.strip().removeprefix("./").rstrip("/")
    if query.startswith(_KINDS):
        return [query] if query in nodes else []
    known = set(nodes)
    paths = [query, f"python/{query}", f"{PACKAGE_PREFIX}{query}"]
    exact = [f"module:{query}", f"external:{query}", f"kernel:{query}"]
    exact += [f"module:{name}" for name in map(module_name, paths) if name]
    exact += [f"{kind}:{path}" for path in paths for kind in ("data", "native")]
    found = [node for node in dict.fromkeys(exact) if node in known]
    if found:
        return found
    found = [node for node in nodes if node.startswith("kernel:") and node.endswith("." + query)]
    if found:
        return found
    if (distribution := f"distribution:{distribution_name(query)}") in known:
        return [distribution]
    if "/" not in query:
        files = _files(data)
        found = [node for node, path in files.items() if path.rpartition("/")[2] == query]
        if len(found) > 1:
            some = ", ".join(files[node] for node in found[:5])
            raise InputError(f"{len(found)} kept files are named {query!r}: {some}", "give the path")
        if found:
            return found
        found = [node for node in nodes if node.startswith("module:") and node.endswith("." + query)]
        if found:
            return found
    return []


def _removed_paths(data: Mapping[str, Any], query: str) -> list[str]:
    removed: dict[str, Any] = data["removed"]
    # A line goes with its file.
    query = _LINE.sub("", query.strip().removeprefix("./").rstrip("/"))
    as_path = query.replace(".", "/")
    candidates = [
        query,
        f"python/{query}",
        f"{PACKAGE_PREFIX}{query}",
        f"python/{as_path}.py",
        f"python/{as_path}/__init__.py",
    ]
    found = [path for path in dict.fromkeys(candidates) if path in removed]
    if found:
        return found
    folders = tuple(
        f"{folder}/" for folder in (query, f"python/{query}", f"{PACKAGE_PREFIX}{query}", f"python/{as_path}")
    )
    found = [path for path in removed if path.startswith(folders)]
    return found or [path for path in removed if path.rpartition("/")[2] in (query, query + ".py")]


def _files(data: Mapping[str, Any]) -> dict[str, str]:
    """Node of every kept file to its path."""
    return {path_node(path): path for path in data["kept"]}


def _nearest(data: Mapping[str, Any], query: str) -> str:
    names = sorted({node.partition(":")[2] for node in data["nodes"]})
    short = {name.rpartition("/" if "/" in name else ".")[2]: name for name in names}
    near = difflib.get_close_matches(query, names, 3, 0.6) or [
        short[name] for name in difflib.get_close_matches(query, list(short), 3, 0.7)
    ]
    return f" (nearest: {', '.join(near)})" if near else ""
