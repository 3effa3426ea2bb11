"""Imports, for the pages and for `why-not`: shortest chains between the kept modules, from any module and not only from a root, and circles; and
where upstream imports what was removed, and what became of each place.

It serves explanations alone, no decision rests on it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from shrinker.cache import Cache
from shrinker.cache.files import cached
from shrinker.program.decided import folded_away
from shrinker.program.saved import Importer
from shrinker.program.ways import Ways
from shrinker.program.written import Written
from shrinker.values.distributions import Distributions
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Edge, Graph
from shrinker.values.upstream import module_name

_RUN = frozenset({"import", "import-local", "string", "walk"})
"""Kinds by which code of one module runs code of another; a parent's ``__init__`` and annotations are left out."""
_MODULE_KINDS = _RUN | {"import-type", "package"}
_MOST = 8


def outgoing(graph: Graph, kinds: frozenset[str] = _RUN) -> dict[str, dict[str, Edge]]:
    """First edge of each pair of modules, by source and target."""
    out: dict[str, dict[str, Edge]] = defaultdict(dict)
    for edge in graph.edges:
        if edge.kind in kinds and edge.src.startswith("module:") and edge.dst.startswith("module:"):
            out[edge.src].setdefault(edge.dst, edge)
    return out


def reached_from(out: Mapping[str, Mapping[str, Edge]], starts: Iterable[str]) -> Ways[str, Edge]:
    """The ways with the fewest imports to everything that some modules import."""
    return Ways(dict.fromkeys(starts, 0), lambda node: ((dst, 1, edge) for dst, edge in out.get(node, {}).items()))


def short(node: str) -> str:
    """Name of a node as the pages write it."""
    name = node.partition(":")[2]
    return name.removeprefix("sglang.srt.").removeprefix("sglang.") if node.startswith("module:") else name


def show(steps: list[Edge]) -> str:
    """``a:12 → b:30 → c``, each with the line of the import."""
    return " → ".join([*(f"{short(edge.src)}:{edge.line}" for edge in steps), *(short(e.dst) for e in steps[-1:])])


def cycles(graph: Graph, cache: Cache) -> list[list[str]]:
    """Groups of modules that import each other in a circle, the largest first; the cache holds those of earlier graphs."""
    pairs = sorted((src, dst) for src, edges in outgoing(graph, _MODULE_KINDS).items() for dst in edges)
    layer = cache.layer("structure")
    found: list[list[str]] = cached(layer, layer.key(repr(pairs)), lambda: _circles(pairs))
    return found


def _circles(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    # Here and not above: it takes half a second to load, and who imports whom seldom changes.
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph(list(pairs))
    groups = [sorted(short(n) for n in group) for group in nx.strongly_connected_components(graph) if len(group) > 1]
    return sorted(groups, key=lambda group: (-len(group), group))


def removed_importers(graph: Graph, folded: Mapping[str, FoldedModule], written: Written) -> dict[str, list[Importer]]:
    """By path of a removed module at most eight of the places that import it in upstream, kept files first, and what became of each."""
    targets = {name: path for path in graph.removed if (name := module_name(path)) is not None}
    found: dict[str, list[tuple[str, int, str]]] = defaultdict(list)
    for path, imports in written.items():
        for line, dotted in imports:
            if targets.get(dotted, path) != path:
                found[targets[dotted]].append((path, line, dotted))
    return _importers(found, graph, folded)


def dropped_importers(
    distributions: Distributions, graph: Graph, folded: Mapping[str, FoldedModule]
) -> dict[str, list[Importer]]:
    """The same by name of a dropped distribution."""
    return _importers({row.name: row.importers for row in distributions.rows if row.importers}, graph, folded)


def _importers(
    places: Mapping[str, Iterable[tuple[str, int, str]]], graph: Graph, folded: Mapping[str, FoldedModule]
) -> dict[str, list[Importer]]:
    found: dict[str, list[Importer]] = {}
    for gone, sites in sorted(places.items()):
        rows = sorted((path in graph.removed, path, line, dotted) for path, line, dotted in sites)[:_MOST]
        found[gone] = [(path, line, _fate(graph, folded, path, line, dotted)) for _, path, line, dotted in rows]
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
    return folded_away(module, line)
