"""What DEPENDENCIES.md shows: DeepSeek → layers → kernels → hardware, read from the graph; and the picture of the packages as Mermaid text."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from shrinker.program.edges.external import is_standard, kernel_library
from shrinker.program.nodes import NATIVE_SUFFIXES, module_node, suffix
from shrinker.report.chains import outgoing, reached_from, short, show
from shrinker.report.summary import Measured, tally
from shrinker.values.distributions import Distribution, Distributions
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Edge, Graph

MODELS = "sglang.srt.models"
LAYERS = "sglang.srt.layers"

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
_TOLD = ("kept", "state", "reason", "rule", "imports", "needed_by", "declared")
"""What ``dependencies.json`` tells of each distribution as it is."""


@dataclass(frozen=True)
class Group:
    """One row: some modules that belong together."""

    name: str
    modules: int
    lines: int
    """In the generated tree."""
    models: str = ""
    """Models whose imports reach it, each with the fewest steps."""
    chain: str = ""
    """Shortest chain from a model."""
    kernels: str = ""
    """Kernel libraries that its modules import, with the number of names."""


@dataclass(frozen=True)
class Imported:
    """One name imported from a kernel library, or one distribution outside the tree, by its top-level import name."""

    name: str
    modules: int
    first: str
    """First place that imports it."""
    required: bool = True
    """Some kept module imports it at import time, outside a `try`."""


def dependencies(graph: Graph, folded: Mapping[str, FoldedModule], files: Iterable[Measured]) -> dict[str, Any]:
    """Read the page's tables from the graph: everything that the template shows."""
    kept = [file for file in files if file.kept]
    lines = {module_node(folded[f.path].module): f.after for f in kept if f.path in folded}
    out = outgoing(graph)
    models = _models(folded)
    reach = {model: reached_from(out, [model]) for model in models}
    anywhere = reached_from(out, models)
    used: dict[str, list[Edge]] = {}
    for edge in graph.edges:
        if edge.kind == "kernel":
            used.setdefault(edge.dst[len("kernel:") :], []).append(edge)

    def group(name: str, members: list[str]) -> Group:
        by_distance = sorted((anywhere.costs[m], m) for m in members if m in anywhere.costs)
        inside = set(members)
        named = [kernel for kernel, edges in used.items() if any(edge.src in inside for edge in edges)]
        libraries = Counter(kernel_library(kernel) or kernel for kernel in named)
        return Group(
            name=name,
            modules=len(members),
            lines=sum(lines[member] for member in members),
            models=", ".join(
                f"{short(model).rpartition('.')[2]} ({steps})"
                for model in models
                if (steps := min((reach[model].costs[x] for x in members if x in reach[model].costs), default=None))
                is not None
            ),
            chain=show(anywhere.to(by_distance[0][1])) if by_distance else "",
            kernels=", ".join(f"{library} {count}" for library, count in sorted(libraries.items())),
        )

    def below(package: str) -> list[Group]:
        members: dict[str, list[str]] = {}
        for node in sorted(lines):
            if node.startswith(f"module:{package}."):
                members.setdefault(node[len(f"module:{package}.") :].partition(".")[0], []).append(node)
        return [group(name, nodes) for name, nodes in sorted(members.items())]

    kernels: dict[str, list[Imported]] = {}
    for name, edges in sorted(used.items()):
        imported = Imported(name, len({edge.src for edge in edges}), f"{edges[0].path}:{edges[0].line}")
        kernels.setdefault(kernel_library(name) or name, []).append(imported)
    native = [file for file in kept if suffix(file.path) in NATIVE_SUFFIXES]
    folders = tally(native, lambda file: "/".join(file.path.removeprefix("python/sglang/").split("/")[:-1][:3]))
    return {
        "roots": _roots(graph),
        "models": [
            Group(
                short(m), sum(n.startswith("module:") for n in reach[m].costs), lines[m], kernels=group("", [m]).kernels
            )
            for m in models
        ],
        "layers": below(LAYERS),
        "attention": [row for row in below(f"{LAYERS}.attention") if row.name.endswith("backend") or row.kernels],
        "quantization": below(f"{LAYERS}.quantization"),
        "moe": below(f"{LAYERS}.moe"),
        "kernels": kernels,
        "native": sorted((row.name, row.files_after, row.lines_after) for row in folders),
        "hardware": _hardware(kept, kernels),
        "externals": _externals(folded),
    }


def _models(folded: Mapping[str, FoldedModule]) -> list[str]:
    """Modules of the model package that register an architecture (``EntryClass``), else all of them."""
    found = [module for module in folded.values() if module.module.startswith(MODELS + ".")]
    entries = [module for module in found if any(name == "EntryClass" for name, _ in module.defines)]
    return sorted(module_node(module.module) for module in entries or found)


def _roots(graph: Graph) -> list[tuple[str, int, str]]:
    named: dict[str, list[str]] = {}
    for edge in graph.edges:
        if edge.src.startswith("root:"):
            named.setdefault(edge.src[len("root:") :], []).append(edge.dst)
    rows: list[tuple[str, int, str]] = []
    for rule, nodes in sorted(named.items()):
        modules = [short(node) for node in nodes if node.startswith("module:")]
        rows.append((rule, len(nodes), ", ".join(modules[:12]) + (" …" if len(modules) > 12 else "")))
    return rows


def _hardware(kept: Iterable[Measured], kernels: Mapping[str, list[Imported]]) -> list[tuple[str, str, list[str]]]:
    """Architectures that a kept file or a kernel names; most kernels choose theirs at build or run time."""
    names = [file.path.removeprefix("python/sglang/") for file in kept if not file.path.endswith(".json")]
    names += [kernel.name for rows in kernels.values() for kernel in rows]
    out: list[tuple[str, str, list[str]]] = []
    for architecture, (product, pattern) in _HARDWARE.items():
        regex = re.compile(rf"(?<![a-z0-9])(?:{pattern})(?![0-9])", re.IGNORECASE)
        found = [name for name in names if regex.search(name)]
        if found:
            out.append((architecture, product, found))
    return out


def _externals(folded: Mapping[str, FoldedModule]) -> list[Imported]:
    found: dict[str, list[tuple[str, int, bool]]] = {}
    for path, module in sorted(folded.items()):
        for site in module.imports:
            row = (path, site.line, site.kind == "import" and not site.guarded)
            found.setdefault(site.module.partition(".")[0], []).append(row)
    rows = [
        Imported(top, len({path for path, _, _ in sites}), "{}:{}".format(*sites[0]), any(row[2] for row in sites))
        for top, sites in found.items()
        if top and top != "sglang" and not is_standard(top)
    ]
    return sorted(rows, key=lambda row: (-row.modules, row.name))


def package_edges(graph: Graph) -> Counter[tuple[str, str]]:
    """Imports between packages, models and kernel libraries, counted."""
    out: Counter[tuple[str, str]] = Counter()
    for edge in graph.edges:
        if edge.kind in _PICTURED:
            src, dst = _package(edge.src), _package(edge.dst)
            if src and dst and src != dst:
                out[src, dst] += 1
    return out


def mermaid(edges: Mapping[tuple[str, str], int]) -> str:
    """The edges from the models over the layers to the kernels as Mermaid text, with the GPU at its end; all packages together make no picture."""
    chosen = {pair: count for pair, count in sorted(edges.items()) if 0 <= _rank(pair[0]) < _rank(pair[1])}
    shown = sorted({name for pair in chosen for name in pair}, key=lambda name: (_rank(name), name))
    ids = {name: f"n{number}" for number, name in enumerate(shown)}
    rows = ["flowchart LR"]
    for rank, title in enumerate(("DeepSeek", "layers", "kernels")):
        members = [name for name in shown if _rank(name) == rank]
        if members:
            rows.append(f"  subgraph {title}")
            rows += [f'    {ids[name]}["{name}"]' for name in members]
            rows.append("  end")
    rows.append('  gpu(["NVIDIA GPU (CUDA)"])')
    rows += [f"  {ids[a]} -->|{count}| {ids[b]}" for (a, b), count in chosen.items()]
    rows += [f"  {ids[name]} --> gpu" for name in shown if _rank(name) == 2]
    return "\n".join(rows)


def _package(node: str) -> str:
    kind, _, name = node.partition(":")
    if kind == "kernel":
        return kernel_library(name) or name
    if kind == "native":
        return "jit_kernel sources" if "/jit_kernel/" in name else ""
    if kind != "module":
        return ""
    parts = name.split(".")
    if name.startswith(MODELS + "."):
        return "models." + parts[3]
    if name.startswith(LAYERS + "."):
        return "layers." + parts[3]
    if parts[:2] == ["sglang", "srt"]:
        return "srt." + parts[2] if len(parts) > 2 else "srt"
    return parts[1] if len(parts) > 1 else "sglang"


def _rank(name: str) -> int:
    if name.startswith("models."):
        return 0
    if name.startswith("layers."):
        return 1
    return 2 if kernel_library(name) or name.startswith("jit_kernel") else -1


def distributions_data(found: Distributions) -> dict[str, Any]:
    """``dependencies.json``: every declared distribution, and what is left of the extras."""
    return {
        "format": 1,
        "distributions": {
            row.name: {name: getattr(row, name) for name in _TOLD}
            | {"first": row.users[0] if row.users else None, "places_in_upstream": len(row.importers)}
            for row in found.rows
        },
        "dependencies": found.dependencies,
        "extras": found.extras,
        "dropped_extras": dict(found.dropped_extras),
    }


def extras_text(row: Distribution) -> str:
    """Where a distribution is declared: its extras, ``-`` for a plain dependency."""
    return ", ".join(dict.fromkeys(extra or "-" for extra, _ in row.declared))
