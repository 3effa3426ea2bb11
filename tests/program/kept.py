"""One call from sources to what is kept, for the graph tests, and the programs of `graphs.txt`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shrinker.facts.build import build_environment
from shrinker.fold.engine import FoldEngine
from shrinker.program.build import build_graph
from shrinker.ruleset import Asset, Keep, Remove, Root, Ruleset
from shrinker.values.graph import Graph
from tests.program.small_tree import plain_fold, write_tree

WHY = "a rule of a test"
_RULES = {"Asset": Asset, "Keep": Keep, "Remove": Remove, "Root": Root, "WHY": WHY}
_RULES["NPU"] = {"id": "npu", "why": WHY, "feature": "NPU"}
_FILE = re.compile(r"^-- (.+?) -- ?(.*)\n", re.MULTILINE)


def graph_of(
    folder: Path,
    sources: Mapping[str, str],
    roots: tuple[str, ...] = ("sglang.main",),
    *,
    facts: bool = False,
    **rules: Any,
) -> Graph:
    """Build the graph of a small tree, folded by the facts or not at all; `rules` are fields of `Ruleset`."""
    tree = write_tree(folder, sources)
    own = rules.pop("more_roots", ())
    ruleset = Ruleset(roots=(Root(id="entry", why=WHY, modules=roots), *own), **rules)
    if not facts:
        return build_graph(tree, ruleset, plain_fold(tree))[0]
    with FoldEngine(tree, build_environment(tree, ruleset, jobs=1), jobs=1) as engine:
        return build_graph(tree, ruleset, engine.fold)[0]


def read_programs() -> dict[str, str]:
    """The programs of `graphs.txt` by their titles."""
    texts = (Path(__file__).parent / "graphs.txt").read_text("utf-8").split("\n== ")[1:]
    return {title: text for title, _, text in (text.partition("\n") for text in texts)}


def outcome(folder: Path, program: str) -> tuple[dict[str, str], dict[str, str]]:
    """Build the graph of a program; what becomes of each file, and what should."""
    head, *parts = _FILE.split(f"{program}\n")
    paths, wanted, texts = (parts[n::3] for n in range(3))
    settings = dict(line.split(": ", 1) for line in head.splitlines())
    rules = eval(f"dict({settings.get('rules', '')})", _RULES)
    roots = (settings.get("roots", "sglang.main"),)
    graph = graph_of(folder, dict(zip(paths, texts, strict=True)), roots, facts="folded" in settings, **rules)
    found, uncertain = {}, doubts(graph)
    for path, want in zip(paths, wanted, strict=True):
        place = path[1:] if path.startswith("/") else f"python/sglang/{path}"
        if gone := graph.removed.get(place):
            found[path] = "gone: " + (gone.reason if gone.rule == "unreachable" else gone.rule)
        elif path in uncertain:
            found[path] = f"uncertain: {uncertain[path]}"
        else:
            found[path] = f"because: {graph.kept[place]}" if want else ""
    return found, dict(zip(paths, wanted, strict=True))


def names(graph: Graph) -> set[str]:
    """Kept paths below the package, in short."""
    return {path.removeprefix("python/sglang/") for path in graph.kept}


def doubts(graph: Graph) -> dict[str, str]:
    """Uncertain paths below the package to their reasons."""
    return {item.path.removeprefix("python/sglang/"): item.reason for item in graph.uncertain}


def edge_kinds(graph: Graph, dst: str) -> set[str]:
    """Kinds of the edges into a node."""
    return {edge.kind for edge in graph.edges if edge.dst == dst}
