"""Where upstream imports what was removed, and what became of each place: the answer of `why-not`.

It serves the explanation alone, no decision rests on it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping

from shrinker.program.saved import Importer
from shrinker.program.written import Written
from shrinker.values.distributions import Distributions
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph
from shrinker.values.upstream import module_name

_MOST = 8


def removed_importers(graph: Graph, folded: Mapping[str, FoldedModule], written: Written) -> dict[str, list[Importer]]:
    """Path of every removed module to at most eight places that import it, kept files first."""
    targets = {name: path for path in graph.removed if (name := module_name(path)) is not None}
    found: dict[str, list[tuple[bool, Importer]]] = {}
    for file_path, imports in written.items():
        for line, dotted in imports:
            path = targets.get(dotted)
            if path is not None and path != file_path:
                row = (file_path, line, _fate(graph, folded, file_path, line, dotted))
                found.setdefault(path, []).append((file_path in graph.removed, row))
    return {path: [row for _, row in sorted(rows)[:_MOST]] for path, rows in sorted(found.items())}


def dropped_importers(
    distributions: Distributions, graph: Graph, folded: Mapping[str, FoldedModule]
) -> dict[str, list[Importer]]:
    """Name of every dropped distribution to at most eight places that import it in upstream, kept files first."""
    found: dict[str, list[Importer]] = {}
    for row in distributions.rows:
        rows = sorted((path in graph.removed, path, line, dotted) for path, line, dotted in row.importers)
        if rows:
            found[row.name] = [(p, line, _fate(graph, folded, p, line, dotted)) for _, p, line, dotted in rows[:_MOST]]
    return found


def _fate(graph: Graph, folded: Mapping[str, FoldedModule], path: str, line: int, dotted: str) -> str:
    if (gone := graph.removed.get(path)) is not None:
        return f"itself removed ({gone.rule})"
    module = folded.get(path)
    if module is None:
        return "kept"
    for site in module.imports:
        if site.line == line and dotted in (site.module, f"{site.module}.{site.name}"):
            return f"still imported ({site.kind})"
    decisions = sorted(module.decisions, key=lambda d: d.line)
    at = bisect_right([d.line for d in decisions], line) - 1
    if at < 0:
        return "folded away"
    # The decision that removed a block stands at or above its first line.
    near = decisions[at]
    return f"folded away by {near.rule}: `{near.text}` is {near.outcome} (line {near.line})"
