"""The form in which a graph is saved for `why`: tables of strings, and rows of indexes into them."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

from shrinker.program.nodes import distribution_name, path_node
from shrinker.values.distributions import Distribution, Distributions
from shrinker.values.errors import InputError
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Edge, Graph

FORMAT = 3

Importer = tuple[str, int, str]
"""Path and line of an import in upstream, and what became of it: ``kept``, ``removed`` or the decision that folded it away."""


def graph_data(
    graph: Graph,
    folded: Mapping[str, FoldedModule],
    *,
    profile: str = "",
    upstream: str = "",
    importers: Mapping[str, Sequence[Importer]] | None = None,
    distributions: Distributions | None = None,
    dropped: Mapping[str, Sequence[Importer]] | None = None,
) -> dict[str, Any]:
    """What `shrinker.program.answers` reads, ready for JSON.

    Args:
        importers: path of a removed file to the places in upstream that import it.
        distributions: what the generated package requires.
        dropped: the same of a distribution that it does not require any more.
    """
    required = (distributions or Distributions()).rows
    edges = [*graph.edges, *_requirements(required)]
    ends = {end for edge in edges for end in (edge.src, edge.dst)}
    ends.update(map(path_node, graph.kept), (f"distribution:{row.name}" for row in required if row.kept))
    tables = [sorted(names) for names in (ends, {edge.kind for edge in edges}, {edge.path for edge in edges})]
    nodes, kinds, paths = tables
    node_at, kind_at, path_at = ({name: number for number, name in enumerate(table)} for table in tables)
    return {
        "format": FORMAT,
        "profile": profile,
        "upstream": upstream,
        "nodes": nodes,
        "kinds": kinds,
        "paths": paths,
        "edges": [[node_at[e.src], node_at[e.dst], kind_at[e.kind], path_at[e.path], e.line] for e in edges],
        "kept": list(graph.kept),
        "removed": {path: astuple(removal) for path, removal in graph.removed.items()},
        "uncertain": [*map(astuple, graph.uncertain)],
        "decisions": {p: [*map(astuple, module.decisions)] for p, module in folded.items() if module.decisions},
        "defines": {module.module: module.defines for module in folded.values()},
        "importers": importers or {},
        "distributions": {row.name: _distribution(row, (dropped or {}).get(row.name, ())) for row in required},
    }


def _distribution(row: Distribution, importers: Sequence[Importer]) -> dict[str, object]:
    said = {name: getattr(row, name) for name in ("state", "reason", "rule", "imports")}
    return {**said, "importers": importers}


def _requirements(rows: Iterable[Distribution]) -> Iterator[Edge]:
    """What requires each distribution that stays: the modules that import it, or the one that loads it."""
    names = {row.name for row in rows}
    for row in rows:
        node = f"distribution:{row.name}"
        yield from (Edge(path_node(path), node, "requires", path, line) for path, line in row.users)
        if row.needed_by:
            loader = distribution_name(row.needed_by)
            loads = f"distribution:{loader}" if loader in names else f"external:{row.needed_by}"
            yield Edge(loads, node, "loads", "", 0)


def load_graph(path: Path) -> dict[str, Any]:
    """Read a saved graph.

    Raises:
        InputError: the file is missing or is not a graph of this format.
    """
    data: dict[str, Any] = load_report(path, FORMAT)
    return data


def load_report(path: Path, form: int | None = None) -> Any:
    """Read what a run left in JSON.

    Args:
        form: its format, where that has a number.

    Raises:
        InputError: the file is missing, no JSON, or of another format.
    """
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}", "run `make shrink` first") from error
    if form is not None and (not isinstance(data, dict) or data.get("format") != form):
        raise InputError(f"{path} is not of format {form}", "generate the tree again with `make shrink`")
    return data
