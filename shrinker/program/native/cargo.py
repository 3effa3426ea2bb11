"""Cargo.toml names targets that are built on request: benches, tests and examples. Those whose source went go, too."""

from __future__ import annotations

import posixpath
import tomllib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from shrinker.values.graph import Graph
from shrinker.values.native import Cut
from shrinker.values.upstream import UpstreamTree

_FOLDERS = {"bench": "benches", "test": "tests", "example": "examples"}
_FILE = "Cargo.toml"


def cargo_cuts(tree: UpstreamTree, graph: Graph) -> dict[str, tuple[Cut, ...]]:
    """Lines of kept Cargo.toml files that go: whole tables, where what is left says all the rest of what upstream's says."""
    found: dict[str, tuple[Cut, ...]] = {}
    for path in graph.kept:
        if path.rpartition("/")[2] != _FILE:
            continue
        text = tree.read(path).decode("utf-8", "replace")
        cuts = _tables(path, text, graph, tree.by_path)
        if cuts and _says_the_rest(text, cuts):
            found[path] = cuts
    return found


def _tables(path: str, text: str, graph: Graph, upstream: Collection[str]) -> tuple[Cut, ...]:
    """Tables of targets whose source upstream has and this tree has not."""
    try:
        declared = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return ()
    rows = text.split("\n")
    heads = [number for number, row in enumerate(rows) if row.lstrip().startswith("[")]
    cuts: list[Cut] = []
    for kind, folder in _FOLDERS.items():
        places = [number for number in heads if rows[number].split("#")[0].strip() == f"[[{kind}]]"]
        targets = declared.get(kind, ())
        if len(places) != len(targets):
            continue
        for first, target in zip(places, targets, strict=True):
            source = _source(path, folder, target)
            if source in upstream and source not in graph.kept:
                after = next((number for number in heads if number > first), len(rows))
                # Blank lines and comments before the next table are its own.
                while after > first + 1 and (not rows[after - 1].strip() or rows[after - 1].lstrip().startswith("#")):
                    after -= 1
                cuts.append(Cut(first + 1, after, f"{kind} {target.get('name', '')}"))
    return tuple(sorted(cuts))


def _source(path: str, folder: str, target: Mapping[str, Any]) -> str:
    named = target.get("path") or f"{folder}/{target.get('name', '')}.rs"
    return posixpath.normpath(posixpath.join(path.rpartition("/")[0], named))


def _says_the_rest(text: str, cuts: Collection[Cut]) -> bool:
    """True when the text without these lines is upstream's without these targets."""
    gone = {line for cut in cuts for line in range(cut.first, cut.last + 1)}
    rows = (row for number, row in enumerate(text.split("\n"), 1) if number not in gone)
    names = {cut.what for cut in cuts}
    try:
        left = tomllib.loads("\n".join(rows))
    except tomllib.TOMLDecodeError:
        return False
    return left == dict(_without(tomllib.loads(text), names))


def _without(declared: Mapping[str, Any], gone: Collection[str]) -> Iterator[tuple[str, Any]]:
    for key, value in declared.items():
        stays = [t for t in value if f"{key} {t.get('name', '')}" not in gone] if key in _FOLDERS else value
        if stays or key not in _FOLDERS:
            yield key, stays
