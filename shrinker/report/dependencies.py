"""Who imports what.

DEPENDENCIES.md: DeepSeek → layers → kernels → hardware, read from the graph, with the shortest
chains between the kept modules, from any of them and not only from a root; circles; the picture of
the packages; and distributions. For `why-not`: where upstream imports what was removed, and what
became of each place. It serves explanations alone, no decision rests on it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import networkx

from shrinker.program.decided import folded_away
from shrinker.program.edges.modules import STANDARD, kernel_library
from shrinker.program.nodes import NATIVE_SUFFIXES, module_node, suffix
from shrinker.program.saved import Importer
from shrinker.program.ways import Ways
from shrinker.program.written import Written
from shrinker.report.summary import Measured, tally
from shrinker.values.distributions import Distributions
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Edge, Graph
from shrinker.values.relations import grouped
from shrinker.values.upstream import PACKAGE, PACKAGE_PREFIX, module_name

MODELS = f"{PACKAGE}.srt.models"
LAYERS = f"{PACKAGE}.srt.layers"
_HARDWARE = {
    "sm_80": ("Ampere (A100)", r"sm_?80"),
    "sm_89": ("Ada (L40S, RTX 4090)", r"sm_?89"),
    "sm_90": ("Hopper (H100, H200)", r"sm_?90a?|hopper"),
    "sm_100": ("Blackwell (B200, GB200)", r"sm_?100a?|blackwell"),
    "sm_103": ("Blackwell Ultra (B300, GB300)", r"sm_?103a?"),
    "sm_120": ("Blackwell (RTX 50, RTX PRO 6000)", r"sm_?120a?"),
}
_PICTURED = frozenset({"import", "import-local", "kernel", "data"})
"""Kinds of edges in the picture."""
_RUN = frozenset({"import", "import-local", "string", "walk"})
"""Kinds by which code of one module runs code of another; a parent's ``__init__`` and annotations
are left out.
"""
_TOLD = ("kept", "state", "reason", "rule", "imports", "needed_by", "declared")
"""What ``dependencies.json`` tells of each distribution as it is."""
_MOST = 8


def dependencies(
    graph: Graph, folded: Mapping[str, FoldedModule], files: Iterable[Measured]
) -> dict[str, Any]:
    """Read the page's tables from the graph: everything that the template shows."""
    kept = [file for file in files if file.kept]
    lines = {module_node(folded[f.path].module): f.after for f in kept if f.path in folded}
    out = grouped((edge.src, edge) for edge in _between(graph, _RUN))

    def reached_from(starts: Iterable[str]) -> Ways[str, Edge]:
        return Ways(
            dict.fromkeys(starts, 0),
            lambda node: ((edge.dst, 1, edge) for edge in out.get(node, ())),
        )

    # Modules that register an architecture, else all of them.
    found = [module for module in folded.values() if module.module.startswith(f"{MODELS}.")]
    entries = [
        module for module in found if any(name == "EntryClass" for name, _ in module.defines)
    ]
    models = sorted(module_node(module.module) for module in entries or found)
    reach = {model: reached_from([model]) for model in models}
    anywhere = reached_from(models)
    used = grouped(
        (edge.dst.removeprefix("kernel:"), edge) for edge in graph.edges if edge.kind == "kernel"
    )
    rooted = (edge for edge in graph.edges if edge.src.startswith("root:"))
    roots = grouped((edge.src.removeprefix("root:"), edge.dst) for edge in rooted)

    def group(name: str, members: list[str]) -> dict[str, Any]:
        """Return one row: some modules that belong together; which models reach them by how many
        steps, and the shortest chain from one.
        """
        nearest = min(
            ((anywhere.costs[m], m) for m in members if m in anywhere.costs), default=None
        )
        inside = frozenset(members)
        libraries = Counter(
            _library(kernel)
            for kernel, edges in used.items()
            if any(e.src in inside for e in edges)
        )
        steps = {
            model: [ways.costs[m] for m in members if m in ways.costs]
            for model, ways in reach.items()
        }
        return {
            "name": name,
            "modules": len(members),
            "lines": sum(lines[member] for member in members),
            "models": ", ".join(
                f"{_short(m).rpartition('.')[2]} ({min(some)})" for m, some in steps.items() if some
            ),
            "chain": _show(anywhere.to(nearest[1])) if nearest else "",
            "kernels": ", ".join(
                f"{library} {count}" for library, count in sorted(libraries.items())
            ),
        }

    def below(package: str) -> list[dict[str, Any]]:
        start = f"module:{package}."
        inside = (node for node in sorted(lines) if node.startswith(start))
        members = grouped((node.removeprefix(start).partition(".")[0], node) for node in inside)
        return [group(name, nodes) for name, nodes in sorted(members.items())]

    native = [file for file in kept if suffix(file.path) in NATIVE_SUFFIXES]
    folders = tally(
        native, lambda file: "/".join(file.path.removeprefix(PACKAGE_PREFIX).split("/")[:-1][:3])
    )
    return {
        "roots": [
            (rule, len(nodes), [_short(node) for node in nodes if node.startswith("module:")])
            for rule, nodes in sorted(roots.items())
        ],
        "models": [group(_short(m), [m]) | {"modules": len(reach[m].costs)} for m in models],
        "layers": below(LAYERS),
        "attention": [
            r for r in below(f"{LAYERS}.attention") if r["name"].endswith("backend") or r["kernels"]
        ],
        "quantization": below(f"{LAYERS}.quantization"),
        "moe": below(f"{LAYERS}.moe"),
        # By library: name, how many modules import it, and the first place.
        "kernels": grouped(
            (
                _library(name),
                (name, len({edge.src for edge in edges}), f"{edges[0].path}:{edges[0].line}"),
            )
            for name, edges in sorted(used.items())
        ),
        "native": sorted((row.name, row.files_after, row.lines_after) for row in folders),
        "hardware": [*_hardware(kept, used)],
        "externals": _externals(folded),
    }


def _between(graph: Graph, kinds: frozenset[str]) -> Iterator[Edge]:
    """Return edges of some kinds between modules."""
    edges = (edge for edge in graph.edges if edge.kind in kinds and edge.src.startswith("module:"))
    return (edge for edge in edges if edge.dst.startswith("module:"))


def _library(kernel: str) -> str:
    return kernel_library(kernel) or kernel


def _short(node: str) -> str:
    """Name of a node as the pages write it."""
    name = node.partition(":")[2]
    return (
        name.removeprefix("sglang.srt.").removeprefix("sglang.")
        if node.startswith("module:")
        else name
    )


def _show(steps: list[Edge]) -> str:
    """``a:12 → b:30 → c``, each with the line of the import."""
    return " → ".join(
        [
            *(f"{_short(edge.src)}:{edge.line}" for edge in steps),
            *(_short(e.dst) for e in steps[-1:]),
        ]
    )


def _hardware(
    kept: Iterable[Measured], kernels: Iterable[str]
) -> Iterator[tuple[str, str, list[str]]]:
    """Architectures that a kept file or a kernel names; most kernels choose theirs at build or run
    time.
    """
    names = [
        file.path.removeprefix(PACKAGE_PREFIX) for file in kept if not file.path.endswith(".json")
    ]
    names += sorted(kernels, key=lambda name: (_library(name), name))
    for architecture, (product, pattern) in _HARDWARE.items():
        stated = re.compile(rf"(?<![a-z0-9])(?:{pattern})(?![0-9])", re.IGNORECASE)
        if found := [name for name in names if stated.search(name)]:
            yield architecture, product, found


def _externals(folded: Mapping[str, FoldedModule]) -> list[tuple[str, int, bool, str]]:
    """Return top-level name of each distribution, how many modules import it, whether one does when
    it is itself imported, and the first place.
    """
    imports = ((path, site) for path, module in sorted(folded.items()) for site in module.imports)
    found = grouped((site.module.partition(".")[0], (path, site)) for path, site in imports)
    rows = [
        (
            top,
            len({path for path, _ in sites}),
            any(site.kind == "import" and not site.guarded for _, site in sites),
            f"{sites[0][0]}:{sites[0][1].line}",
        )
        for top, sites in found.items()
        if top and top != PACKAGE and top not in STANDARD
    ]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def cycles(graph: Graph) -> list[int]:
    """Sizes of the groups of modules that import each other in a circle, the largest first."""
    pairs = {(edge.src, edge.dst) for edge in _between(graph, _RUN | {"import-type", "package"})}
    groups = networkx.strongly_connected_components(networkx.DiGraph(list(pairs)))
    return sorted((len(group) for group in groups if len(group) > 1), reverse=True)


def picture(graph: Graph) -> dict[str, Any]:
    """Return the imports from the models over the layers to the kernels: rank and name of each
    node, and number, count and number of each arrow.
    """
    pairs = Counter(
        (_pictured(edge.src), _pictured(edge.dst)) for edge in graph.edges if edge.kind in _PICTURED
    )
    chosen = {(a, b): count for (a, b), count in pairs.items() if 0 <= a[0] < b[0]}
    nodes = sorted({each for pair in chosen for each in pair})
    by_name = sorted(chosen.items(), key=lambda item: [name for _, name in item[0]])
    return {
        "nodes": nodes,
        "arrows": [(nodes.index(a), count, nodes.index(b)) for (a, b), count in by_name],
    }


def _pictured(node: str) -> tuple[int, str]:
    """Return what stands for a model (0), a layer (1) or a kernel (2) in the picture; -1 of
    anything else.
    """
    kind, _, name = node.partition(":")
    match kind:
        case "kernel":
            return 2, _library(name)
        case "native" if "/jit_kernel/" in name:
            return 2, "jit_kernel sources"
        case "module" if name.startswith(f"{PACKAGE}.jit_kernel"):
            return 2, name.split(".")[1]
        case "module" if name.startswith((f"{MODELS}.", f"{LAYERS}.")):
            return int(name.startswith(LAYERS)), ".".join(name.split(".")[2:4])
    return -1, ""


def distributions_data(found: Distributions) -> dict[str, Any]:
    """``dependencies.json``: every declared distribution, and what is left of the extras."""
    return {
        "format": 1,
        "distributions": {
            row.name: {name: getattr(row, name) for name in _TOLD}
            | {
                "first": row.users[0] if row.users else None,
                "places_in_upstream": len(row.importers),
            }
            for row in found.rows
        },
        "dependencies": found.dependencies,
        "extras": found.extras,
        "dropped_extras": dict(found.dropped_extras),
    }


def removed_importers(
    graph: Graph, folded: Mapping[str, FoldedModule], written: Written
) -> dict[str, list[Importer]]:
    """Return the places that import each removed module, by its path, as of `importers`."""
    targets = {name: path for path in graph.removed if (name := module_name(path)) is not None}
    sites = ((path, line, dotted) for path, rows in written.items() for line, dotted in rows)
    gone = ((targets.get(site[2], site[0]), site) for site in sites)
    return importers(grouped((path, site) for path, site in gone if path != site[0]), graph, folded)


def importers(
    places: Mapping[str, Iterable[tuple[str, int, str]]],
    graph: Graph,
    folded: Mapping[str, FoldedModule],
) -> dict[str, list[Importer]]:
    """At most eight of the places in upstream that import each thing, kept files first, and what
    became of each.
    """
    found: dict[str, list[Importer]] = {}
    for gone, sites in sorted(places.items()):
        rows = sorted((path in graph.removed, path, line, dotted) for path, line, dotted in sites)[
            :_MOST
        ]
        found[gone] = [
            (path, line, _fate(graph, folded, path, line, dotted)) for _, path, line, dotted in rows
        ]
    return found


def _fate(
    graph: Graph, folded: Mapping[str, FoldedModule], path: str, line: int, dotted: str
) -> str:
    if (gone := graph.removed.get(path)) is not None:
        return f"itself removed ({gone.rule})"
    module = folded.get(path)
    if module is None:
        return "kept"
    for site in module.imports:
        if site.line == line and dotted in (site.module, f"{site.module}.{site.name}"):
            return f"still imported ({site.kind})"
    return folded_away(module, line)
