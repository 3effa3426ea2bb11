"""Circles of the kept modules: what hangs together."""

from __future__ import annotations

from collections.abc import Iterable

from shrinker.cache import Cache, pack, unpack
from shrinker.report.chains import short
from shrinker.values.graph import Graph

_MODULE_KINDS = frozenset({"import", "import-local", "import-type", "package", "string", "walk"})


def cycles(graph: Graph, cache: Cache | None = None) -> list[list[str]]:
    """Groups of modules that import each other in a circle, the largest first.

    Args:
        cache: circles of earlier graphs; by default none.
    """
    pairs = sorted(
        {
            (edge.src, edge.dst)
            for edge in graph.edges
            if edge.kind in _MODULE_KINDS and edge.src.startswith("module:") and edge.dst.startswith("module:")
        }
    )
    layer = (cache or Cache.off()).layer("structure")
    keys = {"structure": layer.key(repr(pairs))}
    packed = layer.load(keys)
    if not packed:
        packed = {"structure": pack(_circles(pairs))}
        layer.save(keys, packed)
    found: list[list[str]] = unpack(packed["structure"])
    return found


def _circles(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    # Here and not above: it takes half a second to load, and who imports whom seldom changes.
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph(list(pairs))
    groups = [sorted(short(n) for n in group) for group in nx.strongly_connected_components(graph) if len(group) > 1]
    return sorted(groups, key=lambda group: (-len(group), group))
