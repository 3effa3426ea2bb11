"""Small programs for the graph tests: a tree in a folder, what is kept of it, and the programs of
`graphs.txt`.
"""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shrinker.facts.environment import build_environment
from shrinker.fold.engine import FoldEngine
from shrinker.program.reach import FileGraph
from shrinker.ruleset import Keep, Remove, Root, Ruleset
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph
from shrinker.values.upstream import (
    PACKAGE_PREFIX,
    DeclaredPackage,
    Identity,
    SourceFile,
    UpstreamTree,
)
from tests.small import content, write


def tree_of(root: Path) -> UpstreamTree:
    """What `source` would give for the files below a folder."""
    found = {path: data for path, data in content(root).items() if "__pycache__" not in path}
    files = [
        SourceFile(path, hashlib.sha256(data).hexdigest(), len(data))
        for path, data in sorted(found.items())
    ]
    return UpstreamTree(
        identity=Identity("path", "path:small", None, None, False),
        root=root,
        files=tuple(files),
        declared=DeclaredPackage("sglang", ">=3.10", (), {}, {}),
    )


def write_below(root: Path, files: Mapping[str, str]) -> Path:
    """The folder, with files below its package; those whose names begin with slashes lie below the
    folder itself.
    """
    return write(
        root,
        {p.lstrip("/") if p.startswith("/") else PACKAGE_PREFIX + p: t for p, t in files.items()},
    )


def write_tree(root: Path, files: Mapping[str, str]) -> UpstreamTree:
    """The tree of some files, named as `write_below` has them."""
    return tree_of(write_below(root, files))


WHY = "a rule of a test"
_RULES = {"Keep": Keep, "Remove": Remove, "Root": Root, "WHY": WHY}
_RULES["NPU"] = {"id": "npu", "why": WHY, "feature": "NPU"}
_FILE = re.compile(r"^-- (.+?) -- ?(.*)\n", re.MULTILINE)


def rules_of(*modules: str, roots: tuple[Root, ...] = (), **fields: Any) -> Ruleset:
    """The rules of a small tree, `sglang.main` a root where no other is said; `fields` are those of
    `Ruleset`.
    """
    entry = Root(id="entry", why=WHY, modules=modules or ("sglang.main",))
    return Ruleset(roots=(entry, *roots), **fields)


def build(tree: UpstreamTree, rules: Ruleset) -> tuple[Graph, dict[str, FoldedModule]]:
    """The graph of a small tree and its folded modules, once every removed module that is run is
    rescued.
    """
    with FoldEngine(tree, build_environment(tree, rules, jobs=1), jobs=1) as engine:
        while True:
            graph, folded = FileGraph(tree, rules).build(engine.fold, engine.rescued)
            if not engine.rescue(graph.kept):
                return graph, folded


def graph_of(folder: Path, sources: Mapping[str, str], *roots: str, **rules: Any) -> Graph:
    """Build the graph of files; `rules` are fields of `Ruleset`."""
    return build(write_tree(folder, sources), rules_of(*roots, **rules))[0]


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
    roots = settings.get("roots", "sglang.main").split()
    graph = graph_of(folder, dict(zip(paths, texts, strict=True)), *roots, **rules)
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
