"""A saved graph: its form, tables of strings and rows of indexes into them; and files,
distributions and kernels in it: what a name means there, the chains to what is kept, and what
removed the rest.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from shrinker.program.decided import around, told
from shrinker.program.nodes import distribution_name, path_node
from shrinker.program.ways import FILE_COSTS, Ways
from shrinker.values.distributions import Distribution, Distributions
from shrinker.values.errors import InputError
from shrinker.values.folded import Decision, Folded
from shrinker.values.graph import UNREACHABLE, Chain, Edge, Graph, Removed, Site
from shrinker.values.relations import grouped
from shrinker.values.upstream import PACKAGE_PREFIX, enclosing, module_name

FORMAT = 3
_SHOWN = 5

Importer = tuple[str, int, str]
"""Path and line of an import in upstream, and what became of it: ``kept``, ``removed`` or the
decision that folded it away.
"""
Names = Mapping[str, tuple[str, ...]]
"""Of each thing the names by which people ask for it."""


def graph_data(
    graph: Graph,
    folded: Folded,
    *,
    importers: Mapping[str, Sequence[Importer]] | None = None,
    distributions: Distributions | None = None,
    dropped: Mapping[str, Sequence[Importer]] | None = None,
) -> dict[str, Any]:
    """Return what `shrinker.program.answers` reads, ready for JSON; with the places in upstream
    that import each removed file, by its path, and of each distribution that was `dropped`, by its
    name.
    """
    required = (distributions or Distributions()).rows
    edges = [*graph.edges, *_requirements(required)]
    ends = {end for edge in edges for end in (edge.src, edge.dst)}
    ends.update(
        map(path_node, graph.kept), (f"distribution:{row.name}" for row in required if row.kept)
    )
    tables = [
        sorted(names)
        for names in (ends, {edge.kind for edge in edges}, {edge.path for edge in edges})
    ]
    nodes, kinds, paths = tables
    node_at, kind_at, path_at = (
        {name: number for number, name in enumerate(table)} for table in tables
    )
    return {
        "format": FORMAT,
        "nodes": nodes,
        "kinds": kinds,
        "paths": paths,
        "edges": [
            [node_at[e.src], node_at[e.dst], kind_at[e.kind], path_at[e.path], e.line]
            for e in edges
        ],
        "kept": list(graph.kept),
        "removed": {path: astuple(removal) for path, removal in graph.removed.items()},
        "uncertain": [*map(astuple, graph.uncertain)],
        "decisions": {
            p: [*map(astuple, module.decisions)] for p, module in folded.items() if module.decisions
        },
        "defines": {module.module: module.defines for module in folded.values()},
        "importers": importers or {},
        "distributions": {
            row.name: {name: getattr(row, name) for name in ("state", "reason", "rule", "imports")}
            | {"importers": (dropped or {}).get(row.name, ())}
            for row in required
        },
    }


def _requirements(rows: Iterable[Distribution]) -> Iterator[Edge]:
    """Yield what requires each distribution that stays: the modules that import it, or the one that
    loads it.
    """
    names = {row.name for row in rows}
    for row in rows:
        node = f"distribution:{row.name}"
        yield from (Edge(path_node(path), node, "requires", path, line) for path, line in row.users)
        if row.needed_by:
            loader = distribution_name(row.needed_by)
            loads = f"distribution:{loader}" if loader in names else f"external:{row.needed_by}"
            yield Edge(loads, node, "loads", "", 0)


def load_report(path: Path, form: int | None = None) -> Any:
    """Read what a run left in JSON, of a format where that has a number.

    Raises InputError when the file is missing, no JSON, or of another format.
    """
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}", "run `make shrink` first") from error
    if form is not None and (not isinstance(data, dict) or data.get("format") != form):
        raise InputError(
            f"{path} is not of format {form}", "generate the tree again with `make shrink`"
        )
    return data


class Files:
    """The saved graph of one run, as `load_report` reads it."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._nodes: list[str] = data["nodes"]
        self._numbers = {node: number for number, node in enumerate(self._nodes)}
        self._paths = {path_node(path): path for path in data["kept"]}

    def kept(self, query: str) -> list[str]:
        """Return nodes that a query names: a module, a path, a distribution, a kernel or a node id,
        or an ending of one; of a line none. Raises InputError when it is the ending of several
        files.
        """
        if place_of(query)[0]:
            return []
        if found := _whole(self._named, query):
            return found
        found = _ending(self._named, query)
        paths = [
            path
            for node in found
            if (path := self._paths.get(node, "")).endswith(f"/{query.strip()}")
        ]
        if len(paths) > 1:
            some = ", ".join(paths[:_SHOWN])
            raise InputError(
                f"{len(paths)} kept files are named {query!r}: {some}", "give the path"
            )
        return found

    def removed(self, query: str) -> list[Removed]:
        """Return removed files that a query names, as of `kept`, those of a folder or package, or a
        distribution that is no longer required.
        """
        if self._lines(query)[0]:
            return []
        named = {path: _forms(path) for path in self._data["removed"]}
        if paths := _whole(named, query) or _inside(named, query) or _ending(named, query):
            return [self._file(path) for path in paths]
        rows = {f"distribution:{name}": row for name, row in self._data["distributions"].items()}
        dropped = {
            name: (name, *row["imports"]) for name, row in rows.items() if row["state"] == "dropped"
        }
        gone = ((name, rows[name]) for name in _whole(dropped, query))
        return [
            Removed(n, r["rule"] or UNREACHABLE, r["reason"], named_by=_sites(r["importers"]))
            for n, r in gone
        ]

    @cached_property
    def _named(self) -> Names:
        """Names of each kept node."""
        return {
            node: (*_forms(self._paths.get(node, "")), node, node.partition(":")[2])
            for node in self._nodes
        }

    def _file(self, path: str) -> Removed:
        rule, reason = self._data["removed"][path]
        return Removed(path, rule, reason, named_by=_sites(self._data["importers"].get(path, ())))

    def names(self) -> Iterator[str]:
        """Yield names of everything that is kept or removed."""
        yield from (node.partition(":")[2] for node in self._nodes)
        yield from (module_name(path) or path for path in self._data["removed"])
        yield from self._data["distributions"]

    def defining(self, query: str) -> list[str]:
        """Return kept modules that define a name at their top."""
        defines, name = self._data["defines"], query.strip()
        return [
            f"module:{module}"
            for module in sorted(defines)
            if any(row[0] == name for row in defines[module])
        ]

    @cached_property
    def _ways(self) -> Ways[int, Sequence[int]]:
        costs = [FILE_COSTS.get(kind, 1) for kind in self._data["kinds"]]
        out = grouped((edge[0], (edge[1], costs[edge[2]], edge)) for edge in self._data["edges"])
        roots = self._data.get("roots", {})
        # Node numbers are alphabetical, and so is the tie-break.
        starts = {
            n: roots.get(name, 0) for n, name in enumerate(self._nodes) if name.startswith("root:")
        }
        return Ways(starts, lambda node: out.get(node, ()))

    def to(self, path: str) -> tuple[Edge, ...]:
        """Return the best chain to a kept file; empty for a file that is not kept, or that nothing
        but itself keeps.
        """
        return self._steps(self._ways.to(self._numbers.get(path_node(path), -1)))

    def chains(self, node: str, *, every: bool = False) -> list[Chain]:
        """Return the best chain to a node; with `every` one by way of each edge to it, shortest
        first.
        """
        number = self._numbers[node]
        ways = [self._ways.to(number)]
        if every:
            edges = (
                edge
                for edge in self._data["edges"]
                if edge[1] == number and edge[0] in self._ways.costs
            )
            found = ([*self._ways.to(edge[0]), edge] for edge in edges)
            # A chain that comes back to the target says nothing.
            ways = sorted(
                (way for way in found if all(edge[0] != number for edge in way)), key=len
            ) or [[]]
        return [Chain(node, self._steps(way), self._doubt(node)) for way in ways]

    def _doubt(self, node: str) -> str:
        own = self._paths.get(node)
        reasons = (
            reason for path, line, reason in self._data["uncertain"] if not line and path == own
        )
        row = self._data["distributions"].get(node.removeprefix("distribution:"), {"state": ""})
        return next(reasons, row["reason"] if row["state"] == "uncertain" else "")

    def _steps(self, way: Iterable[Sequence[int]]) -> tuple[Edge, ...]:
        nodes, kinds, paths = self._nodes, self._data["kinds"], self._data["paths"]
        return tuple(
            Edge(nodes[src], nodes[dst], kinds[kind], paths[path], line)
            for src, dst, kind, path, line in way
        )

    def decided(self, query: str) -> list[Removed]:
        """Return what was decided about the line of a kept file that ``path:line`` names, where the
        line went by that.
        """
        files, line = self._lines(query)
        went = {file: around(self.decisions(file), line) for file in files}
        return [
            Removed(file, d.rule, told(d), f"{file}:{line}", line)
            for file, d in went.items()
            if d is not None
        ]

    def partly(self, query: str) -> list[Decision]:
        """Return what was decided within the line that ``path:line`` names, of which the rest
        stays.
        """
        files, line = self._lines(query)
        decisions = (d for file in files for d in self.decisions(file))
        return [d for d in decisions if d.line == line and not d.first and d.kind != "refusal"]

    def decisions(self, path: str) -> list[Decision]:
        """Return what was decided in a kept file."""
        return [Decision(*row) for row in self._data["decisions"].get(path, ())]

    def _lines(self, query: str) -> tuple[list[str], int]:
        """Return the kept files of which a query names a line, and the line."""
        path, line = place_of(query)
        return [
            file for file in self._data["kept"] if f"/{file}".endswith(f"/{path}")
        ] if path else [], line

    def held(self, query: str) -> list[Removed]:
        """Return what removed modules define by a name, or hold a member of; else the removed
        module that a dotted name is of. Raises InputError when it is a line of a kept file: nothing
        stands in it that could be kept or removed by itself.
        """
        path, line = place_of(query)
        if self._lines(query)[0]:
            what = f"line {line} of {path} belongs to no statement"
            raise InputError(what, "a comment or empty line goes with what is around it")
        whole = query.strip().removeprefix("symbol:")
        for name in (whole, whole.rpartition(".")[0]):
            last = name.rpartition(".")[2]
            places = self._data.get("gone", {}).get(last, ())
            symbols = ((path, line, f"{module_name(path)}.{last}") for path, line in places)
            if found := [
                self._held(*each) for each in symbols if f".{each[2]}".endswith(f".{name}")
            ]:
                return found
        paths = (f"python/{name.replace('.', '/')}.py" for name in enclosing(whole))
        return [self._file(path) for path in paths if path in self._data["removed"]][:1]

    def _held(self, path: str, line: int, symbol: str) -> Removed:
        file = self._file(path)
        sites = tuple(replace(site, source=site.path) for site in file.named_by)
        return replace(
            file, reason=f"its module goes: {file.reason}", symbol=symbol, line=line, named_by=sites
        )


def _forms(path: str) -> tuple[str, ...]:
    """Return names by which people ask for a file."""
    names = (
        path,
        path.removeprefix("python/"),
        path.removeprefix(PACKAGE_PREFIX),
        module_name(path) or path,
    )
    return names if path else ()


def _plain(query: str) -> str:
    # A line goes with its file.
    path = place_of(query)[0] or query.strip()
    return path.removeprefix("./").rstrip("/").removesuffix(".__init__")


def _whole(named: Names, query: str) -> list[str]:
    asked = {_plain(query), f"distribution:{distribution_name(_plain(query))}"}
    return [key for key, names in named.items() if not asked.isdisjoint(names)]


def _inside(named: Names, query: str) -> list[str]:
    folders = (f"{_plain(query)}/", f"{_plain(query)}.")
    return [key for key, names in named.items() if any(name.startswith(folders) for name in names)]


def _ending(named: Names, query: str) -> list[str]:
    """Return what a name is an ending of: of a path by its folders, of a dotted name by its
    parts.
    """
    path, dotted = f"/{_plain(query)}", f".{_plain(query)}"
    return [
        key
        for key, names in named.items()
        if any(n.endswith(path if "/" in n else dotted) for n in names)
    ]


def place_of(query: str) -> tuple[str, int]:
    """Return the two parts of ``path:line``; no path where it is something else."""
    path, _, number = query.strip().rpartition(":")
    return (path, int(number)) if path and number.isdigit() else ("", 0)


def _sites(rows: Iterable[Sequence[Any]]) -> tuple[Site, ...]:
    return tuple(Site(path, line, fate) for path, line, fate in rows)
