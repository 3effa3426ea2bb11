"""Imports: ``import``, ``from … import`` of a submodule or a name, star imports, and the parents' ``__init__``; of distributions outside the
tree, one node a top-level name; and of names of the kernel libraries among them, one node a name: ``kernel:sgl_kernel.rmsnorm``. The standard
library has none.

Subtle: ``from package import name`` keeps the submodule `name` also when ``package/__init__`` defines that
name, since which of the two it is can depend on what was imported before.
"""

import sys
from collections.abc import Iterator

from shrinker.program.nodes import Found, ModuleIndex, module_node
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


def import_edges(module: FoldedModule, index: ModuleIndex) -> Iterator[Found]:
    """Edges of every import that folding left."""
    for site in module.imports:
        if site.module.partition(".")[0] != PACKAGE:
            continue
        # A missing module raises where it is imported, but what leads to it is imported first.
        found, rest = index.prefix(site.module)
        for dotted in (found,) if rest or site.name in (None, "*") else (found, f"{site.module}.{site.name}"):
            if dotted in index.paths:
                yield Found(module_node(dotted), site.kind, site.line)
            # A namespace package runs no code, its parents do.
            elif dotted in index.packages and (parent := next(index.parents(dotted), None)) is not None:
                yield Found(module_node(parent), "package", site.line)


def star_edges(module: FoldedModule, index: ModuleIndex) -> Iterator[Found]:
    """Submodules that ``__all__`` of a star-imported package may name: its strings that equal one."""
    for site in module.strings if module.is_package else ():
        dotted = f"{module.module}.{site.text}"
        if site.text.isidentifier() and dotted in index.paths:
            yield Found(module_node(dotted), "string", site.line, f"star import may load {site.text!r}")


def package_edges(dotted: str, index: ModuleIndex) -> Iterator[Found]:
    """Importing a module runs the ``__init__`` of each package above it."""
    return (Found(module_node(parent), "package", 1) for parent in index.parents(dotted))


def is_standard(name: str) -> bool:
    """True for the top-level name of a module that ships with CPython 3.11 or later."""
    return name in _STANDARD


def outside_edges(module: FoldedModule) -> Iterator[Found]:
    """Edges to ``external:<top-level name>``, also of `import_module` with a literal name, and to kernels: ``import library`` and a star give
    the library's own node."""
    calls = [(call.target or "*", call.line) for call in module.dynamic if call.mechanism == "import_module"]
    for dotted, line in (*((site.module, site.line) for site in module.imports), *calls):
        top = dotted.partition(".")[0]
        if top and top != PACKAGE and "*" not in dotted and not is_standard(top):
            yield Found(f"external:{top}", "external", line)
    for site in module.imports:
        if kernel_library(site.module) is not None:
            name = site.module if site.name in (None, "*") else f"{site.module}.{site.name}"
            yield Found(f"kernel:{name}", "kernel", site.line)


def kernel_library(module: str) -> str | None:
    """The kernel library that a dotted module belongs to, if any."""
    top = module.partition(".")[0]
    return next((name for name in LIBRARIES if top == name or top.startswith(name + "_")), None)
