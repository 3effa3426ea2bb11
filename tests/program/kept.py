"""One call from sources to what is kept, for the graph tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shrinker.program.build import build_graph
from shrinker.ruleset import Root, Ruleset
from shrinker.values.graph import Graph
from tests.program.small_tree import plain_fold, write_tree

WHY = "a rule of a test"


def graph_of(
    folder: Path, sources: Mapping[str, str], roots: tuple[str, ...] = ("sglang.main",), **rules: Any
) -> Graph:
    """Build the graph of a small tree; `rules` are fields of `Ruleset`."""
    tree = write_tree(folder, sources)
    own = rules.pop("more_roots", ())
    ruleset = Ruleset(roots=(Root(id="entry", why=WHY, modules=roots), *own), **rules)
    return build_graph(tree, ruleset, plain_fold(tree))[0]


def names(graph: Graph) -> set[str]:
    """Kept paths below the package, in short."""
    return {path.removeprefix("python/sglang/") for path in graph.kept}


def doubts(graph: Graph) -> dict[str, str]:
    """Uncertain paths below the package to their reasons."""
    return {item.path.removeprefix("python/sglang/"): item.reason for item in graph.uncertain}


def edge_kinds(graph: Graph, dst: str) -> set[str]:
    """Kinds of the edges into a node."""
    return {edge.kind for edge in graph.edges if edge.dst == dst}
