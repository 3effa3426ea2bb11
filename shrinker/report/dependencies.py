"""What DEPENDENCIES.md shows: DeepSeek → layers → kernels → hardware, read from the graph; and the picture of the packages as Mermaid text."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from shrinker.program.edges.modules import is_standard, kernel_library
from shrinker.program.nodes import NATIVE_SUFFIXES, module_node, suffix
from shrinker.report.chains import outgoing, reached_from, short, show
from shrinker.report.summary import Measured, tally
from shrinker.values.distributions import Distributions
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Edge, Graph
from shrinker.values.upstream import PACKAGE, PACKAGE_PREFIX

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


def dependencies(graph: Graph, folded: Mapping[str, FoldedModule], files: Iterable[Measured]) -> dict[str, Any]:
    """Read the page's tables from the graph: everything that the template shows."""
    kept = [file for file in files if file.kept]
    lines = {module_node(folded[f.path].module): f.after for f in kept if f.path in folded}
    out = outgoing(graph)
    # Modules that register an architecture, else all of them.
    found = [module for module in folded.values() if module.module.startswith(f"{MODELS}.")]
    entries = [module for module in found if any(name == "EntryClass" for name, _ in module.defines)]
    models = sorted(module_node(module.module) for module in entries or found)
    reach = {model: reached_from(out, [model]) for model in models}
    anywhere = reached_from(out, models)
    used: dict[str, list[Edge]] = defaultdict(list)
    roots: dict[str, list[str]] = defaultdict(list)
    for edge in graph.edges:
        if edge.kind == "kernel":
            used[edge.dst.removeprefix("kernel:")].append(edge)
        if edge.src.startswith("root:"):
            roots[edge.src.removeprefix("root:")].append(edge.dst)

    def group(name: str, members: list[str]) -> Group:
        nearest = min(((anywhere.costs[m], m) for m in members if m in anywhere.costs), default=None)
        inside = frozenset(members)
        named = (kernel for kernel, edges in used.items() if any(edge.src in inside for edge in edges))
        libraries = Counter(kernel_library(kernel) or kernel for kernel in named)
        steps = {model: [ways.costs[m] for m in members if m in ways.costs] for model, ways in reach.items()}
        return Group(
            name,
            len(members),
            sum(lines[member] for member in members),
            ", ".join(f"{short(model).rpartition('.')[2]} ({min(some)})" for model, some in steps.items() if some),
            show(anywhere.to(nearest[1])) if nearest else "",
            ", ".join(f"{library} {count}" for library, count in sorted(libraries.items())),
        )

    def below(package: str) -> list[Group]:
        members: dict[str, list[str]] = defaultdict(list)
        for node in sorted(lines):
            if node.startswith(f"module:{package}."):
                members[node.removeprefix(f"module:{package}.").partition(".")[0]].append(node)
        return [group(name, nodes) for name, nodes in sorted(members.items())]

    # By library: name, how many modules import it, and the first place.
    kernels: dict[str, list[tuple[str, int, str]]] = defaultdict(list)
    for name, edges in sorted(used.items()):
        row = (name, len({edge.src for edge in edges}), f"{edges[0].path}:{edges[0].line}")
        kernels[kernel_library(name) or name].append(row)
    native = [file for file in kept if suffix(file.path) in NATIVE_SUFFIXES]
    folders = tally(native, lambda file: "/".join(file.path.removeprefix(PACKAGE_PREFIX).split("/")[:-1][:3]))
    return {
        "roots": [
            (rule, len(nodes), [short(node) for node in nodes if node.startswith("module:")])
            for rule, nodes in sorted(roots.items())
        ],
        "models": [replace(group(short(m), [m]), modules=len(reach[m].costs)) for m in models],
        "layers": below(LAYERS),
        "attention": [row for row in below(f"{LAYERS}.attention") if row.name.endswith("backend") or row.kernels],
        "quantization": below(f"{LAYERS}.quantization"),
        "moe": below(f"{LAYERS}.moe"),
        "kernels": kernels,
        "native": sorted((row.name, row.files_after, row.lines_after) for row in folders),
        "hardware": [*_hardware(kept, used)],
        "externals": _externals(folded),
    }


def _hardware(kept: Iterable[Measured], kernels: Iterable[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Architectures that a kept file or a kernel names; most kernels choose theirs at build or run time."""
    names = [file.path.removeprefix(PACKAGE_PREFIX) for file in kept if not file.path.endswith(".json")]
    names += sorted(kernels, key=lambda name: (kernel_library(name) or name, name))
    for architecture, (product, pattern) in _HARDWARE.items():
        stated = re.compile(rf"(?<![a-z0-9])(?:{pattern})(?![0-9])", re.IGNORECASE)
        if found := [name for name in names if stated.search(name)]:
            yield architecture, product, found


def _externals(folded: Mapping[str, FoldedModule]) -> list[tuple[str, int, bool, str]]:
    """Top-level name of each distribution, how many modules import it, whether one does when it is itself imported, and the first place."""
    found: dict[str, list[tuple[str, int, bool]]] = defaultdict(list)
    for path, module in sorted(folded.items()):
        for site in module.imports:
            required = site.kind == "import" and not site.guarded
            found[site.module.partition(".")[0]].append((path, site.line, required))
    rows = [
        (top, len({path for path, _, _ in sites}), any(required for *_, required in sites), "{}:{}".format(*sites[0]))
        for top, sites in found.items()
        if top and top != PACKAGE and not is_standard(top)
    ]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def mermaid(graph: Graph) -> str:
    """The imports from the models over the layers to the kernels, counted, as Mermaid text, with the GPU at its end."""
    pairs = Counter((_package(edge.src), _package(edge.dst)) for edge in graph.edges if edge.kind in _PICTURED)
    chosen = {pair: count for pair, count in sorted(pairs.items()) if 0 <= _rank(pair[0]) < _rank(pair[1])}
    shown = sorted({name for pair in chosen for name in pair}, key=lambda name: (_rank(name), name))
    ids = {name: f"n{number}" for number, name in enumerate(shown)}
    rows = ["flowchart LR"]
    for rank, title in enumerate(("DeepSeek", "layers", "kernels")):
        if members := [name for name in shown if _rank(name) == rank]:
            rows += [f"  subgraph {title}", *(f'    {ids[name]}["{name}"]' for name in members), "  end"]
    rows.append('  gpu(["NVIDIA GPU (CUDA)"])')
    rows += [f"  {ids[a]} -->|{count}| {ids[b]}" for (a, b), count in chosen.items()]
    rows += [f"  {ids[name]} --> gpu" for name in shown if _rank(name) == 2]
    return "\n".join(rows)


def _package(node: str) -> str:
    """Of a model, a layer or a kernel: what stands for it in the picture; else nothing."""
    kind, _, name = node.partition(":")
    match kind:
        case "kernel":
            return kernel_library(name) or name
        case "native" if "/jit_kernel/" in name:
            return "jit_kernel sources"
        case "module" if name.startswith((f"{MODELS}.", f"{LAYERS}.")):
            return ".".join(name.split(".")[2:4])
        case "module" if name.startswith(f"{PACKAGE}.jit_kernel"):
            return name.split(".")[1]
    return ""


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
