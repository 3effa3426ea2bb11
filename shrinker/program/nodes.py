"""Node ids, the value by which an edge mechanism says what it found, and the modules and files of a
tree by what code calls them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from shrinker.syntax.imports import package_of, with_packages
from shrinker.values.relations import grouped
from shrinker.values.upstream import compiled_modules, enclosing, module_name, modules_of

_NATIVE = "c cc cpp cxx cu cuh h hh hpp hxx inl inc ipp s ptx cubin fatbin so pyd dylib mm metal"
NATIVE_SUFFIXES = frozenset(_NATIVE.split())
"""Suffixes, without the dot, of sources and binaries that a compiler or loader reads."""

DOCUMENT_SUFFIXES = frozenset({"md", "rst", "clang-format", "sample", "gitignore"})
"""Suffixes of files that no program reads; only their own name in a string keeps them."""


@dataclass(frozen=True, slots=True)
class Found:
    """One edge out of a module, before it is known whether its target may stay."""

    dst: str
    """Node id."""
    kind: str
    """Edge kind, see `values.graph.Edge`."""
    line: int
    weak: str = ""
    """Why the edge is only a guess; empty when it is sure."""


def suffix(path: str) -> str:
    """Return text after the last dot of the base name, lower case, ``""`` where there is none."""
    base = path.rpartition("/")[2]
    return base.rpartition(".")[2].lower() if "." in base else ""


def module_node(dotted: str) -> str:
    """Node id of a module of the package."""
    return f"module:{dotted}"


def distribution_name(name: str) -> str:
    """Return the name of a distribution in the form that the index compares (PEP 503); nothing is
    loaded for it.
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def file_node(path: str) -> str:
    """Node id of a file that is not a module of the package."""
    return f"{'native' if suffix(path) in NATIVE_SUFFIXES else 'data'}:{path}"


def path_node(path: str) -> str:
    """Node id of any file of the tree."""
    name = module_name(path)
    return module_node(name) if name is not None else file_node(path)


def symbol_name(node: str) -> str:
    """Name of a symbol's node; any other node as it is."""
    return node.removeprefix("symbol:")


class ModuleIndex:
    """Dotted names of one upstream tree."""

    def __init__(self, paths: Iterable[str], compiled: Mapping[str, str] | None = None) -> None:
        """Of every path of the tree; files outside the package are ignored.

        Args:
            compiled: see `source.crates.modules_by_file`; by default the compiled modules among the
                paths.
        """
        paths = [*paths]
        self.paths = modules_of(paths)
        """Dotted name of every Python module to its path."""
        self.compiled = compiled_modules(paths) if compiled is None else compiled
        """Dotted name of every compiled module to its path, or to that of the crate that it is
        built of.
        """
        around = (
            package_of(name, path.endswith("/__init__.py")) for name, path in self.paths.items()
        )
        self.packages = with_packages(around) - {""}
        """Every dotted folder that holds a module at any depth; a namespace package has no entry in
        `paths`.
        """

    def __contains__(self, dotted: object) -> bool:
        """True for a module, written in Python or compiled."""
        return dotted in self.paths or dotted in self.compiled

    def prefix(self, dotted: str) -> tuple[str, str]:
        """Split into the longest leading part that is a module or package, and what remains (``""``
        when all is).
        """
        known = (
            name for name in (dotted, *enclosing(dotted)) if name in self or name in self.packages
        )
        name = next(known, "")
        return name, dotted[len(name) :].removeprefix(".")

    def nodes(self, dotted: str) -> Iterator[tuple[str, str]]:
        """Yield what is loaded when exactly this name is: node ids, each with the kind of its edge
        where that is none of the caller's.

        Of a module its own node, since the search adds the packages above it; of a compiled one its
        file and the nearest package; of a namespace package, which runs no code, the nearest
        package.
        """
        if dotted in self.paths:
            yield module_node(dotted), ""
            return
        if dotted in self.compiled:
            yield file_node(self.compiled[dotted]), ""
        if dotted in self.compiled or dotted in self.packages:
            yield from ((module_node(parent), "package") for parent in [*self.parents(dotted)][:1])

    def parents(self, dotted: str) -> Iterator[str]:
        """Return packages above that have an ``__init__``, nearest first."""
        return (name for name in enclosing(dotted) if name in self.paths)


def by_base(paths: Iterable[str]) -> dict[str, list[str]]:
    """Base names to paths, sorted."""
    return grouped((path.rpartition("/")[2], path) for path in sorted(paths))


def nearest(candidates: Iterable[str], folder: str) -> tuple[str, list[str]]:
    """Return the candidates below `folder`, else below its parent, and so on upwards: the folder at
    which some were found (empty when none is) and those found, in their order.
    """
    pool = list(candidates)
    for level in enclosing(f"{folder}/", "/") if pool else ():
        if found := [path for path in pool if path.startswith(f"{level}/")]:
            return level, found
    return "", pool


def glob_pattern(text: str) -> re.Pattern[str]:
    """Compile text in which ``*`` stands for any characters but ``/``."""
    return re.compile("[^/]*".join(map(re.escape, text.split("*"))))
