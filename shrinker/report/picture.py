"""The picture of the packages: Mermaid text for the page, and an SVG where Graphviz is installed."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping

from shrinker.program.edges.kernels import kernel_library
from shrinker.report.dependencies import LAYERS, MODELS
from shrinker.values.graph import Graph

_IMPORTS = frozenset({"import", "import-local"})


def package_edges(graph: Graph) -> Counter[tuple[str, str]]:
    """Imports between packages, models and kernel libraries, counted."""
    out: Counter[tuple[str, str]] = Counter()
    for edge in graph.edges:
        if edge.kind in _IMPORTS or edge.kind in ("kernel", "data"):
            src, dst = _package(edge.src), _package(edge.dst)
            if src and dst and src != dst:
                out[src, dst] += 1
    return out


def chart(edges: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    """The edges from the models over the layers to the kernels; all packages together make no picture."""
    return {pair: count for pair, count in sorted(edges.items()) if 0 <= _rank(pair[0]) < _rank(pair[1])}


def mermaid(edges: Mapping[tuple[str, str], int]) -> str:
    """The chart as Mermaid text, with the GPU at its end."""
    chosen = chart(edges)
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


def graphviz_svg(edges: Mapping[tuple[str, str], int], timeout: float = 10.0) -> bytes | None:
    """The chart as SVG; ``None`` where `dot` is not installed or fails.

    Args:
        timeout: in seconds.
    """
    program = shutil.which("dot")
    if program is None:
        return None
    rows = [f'  "{a}" -> "{b}" [penwidth={1 + count**0.5 / 4:.2f}];' for (a, b), count in chart(edges).items()]
    text = "\n".join(["digraph packages {", "  rankdir=LR; ranksep=3; node [shape=box, fontsize=10];", *rows, "}"])
    try:
        done = subprocess.run([program, "-Tsvg"], input=text.encode(), capture_output=True, timeout=timeout, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


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
