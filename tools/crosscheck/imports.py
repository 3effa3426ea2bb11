"""Modules, imports and import cycles of a tree, as pydeps sees them in the compiled code."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx

from tools.crosscheck.finding import ImportGraph
from tools.crosscheck.tools import PACKAGE, run_module


def import_graph(root: Path) -> ImportGraph:
    """Read the imports of the package below a tree.

    Args:
        root: of the tree.

    Raises:
        InputError: pydeps is missing or failed.
    """
    package = PACKAGE.rpartition("/")[2]
    output = run_module(
        root / "python", "pydeps", package, "--show-deps", "--no-output", "--no-config", "--max-bacon=0"
    )
    found = json.loads(output)
    graph = nx.DiGraph()
    for name, row in found.items():
        if name.partition(".")[0] == package:
            graph.add_node(name)
            graph.add_edges_from((name, other) for other in row.get("imports", ()) if other.startswith(f"{package}."))
    cycles = [group for group in nx.strongly_connected_components(graph) if len(group) > 1]
    largest = max(map(len, cycles), default=0)
    return ImportGraph(graph.number_of_nodes(), graph.number_of_edges(), len(cycles), largest)
