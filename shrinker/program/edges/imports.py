"""``import``, ``from … import`` of a submodule or a name, star imports, and the parents' ``__init__``.

Subtle: ``from package import name`` keeps the submodule `name` also when ``package/__init__`` defines that
name, since which of the two it is can depend on what was imported before.
"""

from collections.abc import Iterator

from shrinker.program.modules import ModuleIndex
from shrinker.program.nodes import Found, module_node
from shrinker.values.folded import FoldedModule
from shrinker.values.upstream import PACKAGE


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
