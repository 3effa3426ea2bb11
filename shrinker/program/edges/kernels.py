"""Names imported from the kernel libraries, one node a name: ``kernel:sgl_kernel.rmsnorm``."""

from __future__ import annotations

from collections.abc import Iterator

from shrinker.program.nodes import Found
from shrinker.values.folded import FoldedModule

LIBRARIES = ("sgl_kernel", "flashinfer", "deep_gemm", "deep_ep")
"""Top-level names; ``flashinfer`` also stands for ``flashinfer_*``."""


def kernel_library(module: str) -> str | None:
    """The kernel library that a dotted module belongs to, if any."""
    top = module.partition(".")[0]
    return next((name for name in LIBRARIES if top == name or top.startswith(name + "_")), None)


def kernel_edges(module: FoldedModule) -> Iterator[Found]:
    """Edges to kernel nodes; ``import library`` and a star give the library's own node."""
    for site in module.imports:
        if kernel_library(site.module) is None:
            continue
        name = site.module if site.name in (None, "*") else f"{site.module}.{site.name}"
        yield Found(f"kernel:{name}", "kernel", site.line)
