"""Cargo.toml names targets that are built on request: benches, tests and examples. Those whose source went go, too."""

from __future__ import annotations

import posixpath
import tomllib
from collections.abc import Collection, Iterator
from itertools import pairwise

from shrinker.values.graph import Graph
from shrinker.values.native import Cut
from shrinker.values.upstream import UpstreamTree

_FOLDERS = {"bench": "benches", "test": "tests", "example": "examples"}
_FILE = "Cargo.toml"


def cargo_cuts(tree: UpstreamTree, graph: Graph) -> dict[str, tuple[Cut, ...]]:
    """Lines of kept Cargo.toml files that go: the tables of targets whose source upstream has and this tree has not."""
    paths = [path for path in graph.kept if path.rpartition("/")[2] == _FILE]
    found = {
        path: tuple(_tables(path, tree.read(path).decode("utf-8", "replace"), graph, tree.by_path)) for path in paths
    }
    return {path: cuts for path, cuts in found.items() if cuts}


def _tables(path: str, text: str, graph: Graph, upstream: Collection[str]) -> Iterator[Cut]:
    rows = text.split("\n")
    heads = [number for number, row in enumerate(rows) if row.lstrip().startswith("[")]
    for first, after in pairwise((*heads, len(rows))):
        kind = rows[first].partition("#")[0].strip().removeprefix("[[").removesuffix("]]")
        if kind not in _FOLDERS:
            continue
        # Blank lines and comments before the next table are its own.
        while not rows[after - 1].strip() or rows[after - 1].lstrip().startswith("#"):
            after -= 1
        try:
            # Each table says all of its target by itself.
            [target] = tomllib.loads("\n".join(rows[first:after]))[kind]
        except tomllib.TOMLDecodeError:
            continue
        name = target.get("name", "")
        named = target.get("path") or f"{_FOLDERS[kind]}/{name}.rs"
        source = posixpath.normpath(posixpath.join(path.rpartition("/")[0], named))
        if source in upstream and source not in graph.kept:
            yield Cut(first + 1, after, f"{kind} {name}")
