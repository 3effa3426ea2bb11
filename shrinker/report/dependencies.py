"""What DEPENDENCIES.md shows: DeepSeek → layers → kernels → hardware, read from the graph."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from shrinker.program.edges.kernels import kernel_library
from shrinker.program.nodes import NATIVE_SUFFIXES, module_node, suffix
from shrinker.program.stdlib import is_standard
from shrinker.report.chains import chain, outgoing, reached_from, short, show
from shrinker.report.measure import Measured
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph

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
class External:
    """One distribution outside the tree, by its top-level import name."""

    name: str
    modules: int
    required: bool
    """True when some kept module imports it at import time, outside a `try`."""
    first: str
    """First place that imports it."""


@dataclass(frozen=True)
class Kernel:
    """One name imported from a kernel library."""

    name: str
    modules: int
    first: str


@dataclass
class Page:
    """Everything the template shows."""

    roots: list[tuple[str, int, str]] = field(default_factory=list)
    models: list[Group] = field(default_factory=list)
    layers: list[Group] = field(default_factory=list)
    attention: list[Group] = field(default_factory=list)
    quantization: list[Group] = field(default_factory=list)
    moe: list[Group] = field(default_factory=list)
    kernels: dict[str, list[Kernel]] = field(default_factory=dict)
    native: list[tuple[str, int, int]] = field(default_factory=list)
    """Folder, files, lines of native sources below the package."""
    hardware: list[tuple[str, str, list[str]]] = field(default_factory=list)
    externals: list[External] = field(default_factory=list)


def dependencies(graph: Graph, folded: Mapping[str, FoldedModule], files: Iterable[Measured]) -> Page:
    """Read the page's tables from the graph."""
    kept = [file for file in files if file.kept]
    lines = {module_node(folded[f.path].module): f.after for f in kept if f.path in folded}
    out = outgoing(graph)
    models = _models(folded)
    reach = {model: reached_from(out, [model]) for model in models}
    anywhere = reached_from(out, models)
    used = _kernel_use(graph)

    def group(name: str, members: list[str]) -> Group:
        by_distance = sorted((len(chain(anywhere, m)), m) for m in members if m in anywhere)
        libraries: Counter[str] = Counter()
        for kernel in {kernel for member in members for kernel in used.get(member, ())}:
            libraries[kernel_library(kernel) or kernel] += 1
        return Group(
            name=name,
            modules=len(members),
            lines=sum(lines[member] for member in members),
            models=", ".join(
                f"{short(model).rpartition('.')[2]} ({steps})"
                for model in models
                if (steps := min((len(chain(reach[model], x)) for x in members if x in reach[model]), default=None))
                is not None
            ),
            chain=show(chain(anywhere, by_distance[0][1])) if by_distance else "",
            kernels=", ".join(f"{library} {count}" for library, count in sorted(libraries.items())),
        )

    def below(package: str) -> list[Group]:
        members: dict[str, list[str]] = {}
        for node in sorted(lines):
            if node.startswith(f"module:{package}."):
                members.setdefault(node[len(f"module:{package}.") :].partition(".")[0], []).append(node)
        return [group(name, nodes) for name, nodes in sorted(members.items())]

    page = Page()
    page.roots = _roots(graph)
    page.models = [
        Group(short(m), sum(node.startswith("module:") for node in reach[m]), lines[m], kernels=group("", [m]).kernels)
        for m in models
    ]
    page.layers = below(LAYERS)
    page.attention = [row for row in below(f"{LAYERS}.attention") if row.name.endswith("backend") or row.kernels]
    page.quantization = below(f"{LAYERS}.quantization")
    page.moe = below(f"{LAYERS}.moe")
    page.kernels = _kernels(graph)
    page.native = _native(kept)
    page.hardware = _hardware(kept, page.kernels)
    page.externals = _externals(folded)
    return page


def _models(folded: Mapping[str, FoldedModule]) -> list[str]:
    """Modules of the model package that register an architecture (``EntryClass``), else all of them."""
    found = [module for module in folded.values() if module.module.startswith(MODELS + ".")]
    entries = [module for module in found if any(name == "EntryClass" for name, _ in module.defines)]
    return sorted(module_node(module.module) for module in entries or found)


def _kernel_use(graph: Graph) -> dict[str, set[str]]:
    used: dict[str, set[str]] = {}
    for edge in graph.edges:
        if edge.kind == "kernel":
            used.setdefault(edge.src, set()).add(edge.dst[len("kernel:") :])
    return used


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


def _kernels(graph: Graph) -> dict[str, list[Kernel]]:
    users: dict[str, set[str]] = {}
    first: dict[str, str] = {}
    for edge in graph.edges:
        if edge.kind == "kernel":
            name = edge.dst[len("kernel:") :]
            users.setdefault(name, set()).add(edge.src)
            first.setdefault(name, f"{edge.path}:{edge.line}")
    out: dict[str, list[Kernel]] = {}
    for name in sorted(users):
        out.setdefault(kernel_library(name) or name, []).append(Kernel(name, len(users[name]), first[name]))
    return out


def _native(kept: Iterable[Measured]) -> list[tuple[str, int, int]]:
    rows: dict[str, list[int]] = {}
    for file in kept:
        if suffix(file.path) in NATIVE_SUFFIXES:
            folder = "/".join(file.path.removeprefix("python/sglang/").split("/")[:-1][:3])
            row = rows.setdefault(folder, [0, 0])
            row[0] += 1
            row[1] += file.after
    return [(folder, count, total) for folder, (count, total) in sorted(rows.items())]


def _hardware(kept: Iterable[Measured], kernels: Mapping[str, list[Kernel]]) -> list[tuple[str, str, list[str]]]:
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


def _externals(folded: Mapping[str, FoldedModule]) -> list[External]:
    modules: dict[str, set[str]] = {}
    required: set[str] = set()
    first: dict[str, str] = {}
    for path, module in sorted(folded.items()):
        for site in module.imports:
            top = site.module.partition(".")[0]
            if not top or top == "sglang" or is_standard(top):
                continue
            modules.setdefault(top, set()).add(path)
            first.setdefault(top, f"{path}:{site.line}")
            if site.kind == "import" and not site.guarded:
                required.add(top)
    rows = [External(name, len(paths), name in required, first[name]) for name, paths in modules.items()]
    return sorted(rows, key=lambda row: (-row.modules, row.name))
