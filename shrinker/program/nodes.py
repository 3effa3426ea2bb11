"""Node ids, and the value by which an edge mechanism says what it found."""

import re
from dataclasses import dataclass

from shrinker.values.upstream import module_name

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
    """Text after the last dot of the base name, lower case, ``""`` where there is none."""
    base = path.rpartition("/")[2]
    return base.rpartition(".")[2].lower() if "." in base else ""


def module_node(dotted: str) -> str:
    """Node id of a module of the package."""
    return f"module:{dotted}"


def operator_node(name: str) -> str:
    """Node id of an operator that native code registers."""
    return f"operator:{name}"


def distribution_name(name: str) -> str:
    """The name of a distribution in the form that the index compares (PEP 503); nothing is loaded for it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def file_node(path: str) -> str:
    """Node id of a file that is not a module of the package."""
    return f"{'native' if suffix(path) in NATIVE_SUFFIXES else 'data'}:{path}"


def path_node(path: str) -> str:
    """Node id of any file of the tree."""
    name = module_name(path)
    return module_node(name) if name is not None else file_node(path)


def node_path(node: str) -> str | None:
    """Path of a file node; ``None`` for any other node."""
    kind, _, rest = node.partition(":")
    return rest if kind in ("native", "data") else None
