"""Imports of distributions outside the tree, one node a top-level name, and of names of the kernel libraries among them, one node a name:
``kernel:sgl_kernel.rmsnorm``. The standard library has none."""

import sys
from collections.abc import Iterator

from shrinker.program.nodes import Found
from shrinker.values.folded import FoldedModule
from shrinker.values.upstream import PACKAGE

# Gone since 3.11 or come since: without them the list of external distributions would depend on the interpreter.
_NAMES = """
aifc annotationlib asynchat asyncore audioop cgi cgitb chunk compression crypt distutils imghdr imp lib2to3 mailcap
msilib nis nntplib ossaudiodev pipes sndhdr smtpd spwd sunau telnetlib tomllib uu xdrlib
"""
_STANDARD = sys.stdlib_module_names | frozenset(_NAMES.split())
LIBRARIES = ("sgl_kernel", "flashinfer", "deep_gemm", "deep_ep")
"""Top-level names; ``flashinfer`` also stands for ``flashinfer_*``."""


def is_standard(name: str) -> bool:
    """True for the top-level name of a module that ships with CPython 3.11 or later."""
    return name in _STANDARD


def external_edges(module: FoldedModule) -> Iterator[Found]:
    """Edges to ``external:<top-level name>``, also of `import_module` with a literal name."""
    calls = [(call.target or "*", call.line) for call in module.dynamic if call.mechanism == "import_module"]
    for dotted, line in (*((site.module, site.line) for site in module.imports), *calls):
        top = dotted.partition(".")[0]
        if top and top != PACKAGE and "*" not in dotted and not is_standard(top):
            yield Found(f"external:{top}", "external", line)


def kernel_library(module: str) -> str | None:
    """The kernel library that a dotted module belongs to, if any."""
    top = module.partition(".")[0]
    return next((name for name in LIBRARIES if top == name or top.startswith(name + "_")), None)


def kernel_edges(module: FoldedModule) -> Iterator[Found]:
    """Edges to kernel nodes; ``import library`` and a star give the library's own node."""
    for site in module.imports:
        if kernel_library(site.module) is not None:
            name = site.module if site.name in (None, "*") else f"{site.module}.{site.name}"
            yield Found(f"kernel:{name}", "kernel", site.line)
