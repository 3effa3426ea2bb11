"""Lines that go with the operators and sources that nothing reaches (registrations, declarations,
entries of build lists), with the macros that no build defines, and with the sources of what
Cargo.toml builds on request: benches, tests and examples.
"""

import posixpath
import tomllib
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise

from shrinker.program.native.library import SOURCES, NativeReach, pasted_names
from shrinker.program.nodes import suffix
from shrinker.syntax.native.conditionals import refuted_lines
from shrinker.syntax.native.tokens import NativeSource
from shrinker.values.edits import Cut
from shrinker.values.graph import Graph
from shrinker.values.upstream import UpstreamTree

Placed = Iterator[tuple[str, Cut]]
"""Cuts, each with the path of its file."""


def refuted_cuts(tree: UpstreamTree, kept: Collection[str], undefined: Mapping[str, str]) -> Placed:
    """Branches of the preprocessor that no build reads, of kept files; of macros that no build
    defines, each with the rule that says so.
    """
    for path in (path for path in kept if suffix(path) in SOURCES and undefined):
        for branch in refuted_lines(tree.read(path), undefined):
            rules = {undefined[name] for name in branch.macros}
            yield path, Cut(*branch.lines, ", ".join(sorted(branch.macros)), tuple(sorted(rules)))


def library_cuts(reach: NativeReach, said: Collection[str]) -> Placed:
    """Yield what goes of kept files of a library; `said` are words of all kept files that are no
    sources of it.
    """
    sources = {path: reach.library.sources[path] for path in sorted(reach.kept)}
    offered = [*_offered(reach, sources)]
    yield from offered
    yield from _definitions(sources, said, {(path, cut.first) for path, cut in offered})
    for source in reach.library.entries.keys() - reach.kept:
        for entry in reach.library.entries[source]:
            if not entry.glob:
                yield entry.path, Cut(entry.line, entry.line, f"source {source}")


def _offered(reach: NativeReach, sources: Mapping[str, NativeSource]) -> Placed:
    """Registrations of operators that are gone, and declarations of functions that only those
    offered, where no kept source mentions them.
    """
    stay = {word for source in sources.values() for word in source.words}
    offered: set[str] = set()
    for name, places in reach.registered.items():
        functions = (function for _, each in places for function in each.functions)
        (stay if name in reach.operators else offered).update(functions)
        for path, each in places if name not in reach.operators else ():
            if path in sources:
                yield path, Cut(*each.lines, f"operator {name}")
    gone = offered - stay
    for path, declared in (
        (path, each) for path, source in sources.items() for each in source.declarations
    ):
        if declared.name in gone and declared.lines.first:
            yield path, Cut(*declared.lines, f"function {declared.name}")


def _definitions(
    sources: Mapping[str, NativeSource], said: Collection[str], gone: Collection[tuple[str, int]]
) -> Placed:
    """Yield definitions that nothing names but such definitions: all that have one name, or none
    of them.
    """
    live = {*said}.union(*(source.outside for source in sources.values()))
    for path, offer in (
        (path, offer) for path, source in sources.items() for offer in source.registrations
    ):
        if (path, offer.lines.first) not in gone:
            live.update((offer.name, *offer.functions))
    left = [(path, each) for path, source in sources.items() for each in source.definitions]
    words = frozenset().union(*(source.words for source in sources.values()))
    patterns = {pair for source in sources.values() for pair in source.pasted}
    live |= pasted_names({each.name for _, each in left}, patterns, words)
    while named := {each.name for _, each in left} & live:
        live |= {word for _, each in left if each.name in named for word in each.words}
        left = [(path, each) for path, each in left if each.name not in named]
    for path, each in left:
        if (path, each.lines.first) not in gone:
            yield path, Cut(*each.lines, f"definition {each.name}")


_FOLDERS = {"bench": "benches", "test": "tests", "example": "examples"}


def cargo_cuts(tree: UpstreamTree, graph: Graph) -> Placed:
    """Yield lines of kept Cargo.toml files that go: the tables of targets whose source upstream has
    and this tree has not.
    """
    for path in (path for path in graph.kept if path.rpartition("/")[2] == "Cargo.toml"):
        rows = tree.read(path).decode("utf-8", "replace").split("\n")
        for first, after, kind, target in _targets(rows):
            name = target.get("name", "")
            named = target.get("path") or f"{_FOLDERS[kind]}/{name}.rs"
            source = posixpath.normpath(posixpath.join(path.rpartition("/")[0], named))
            if source in tree.by_path and source not in graph.kept:
                yield path, Cut(first + 1, after, f"{kind} {name}")


def _targets(rows: list[str]) -> Iterator[tuple[int, int, str, dict[str, str]]]:
    """Yield first row, the one after the last, kind and content of each table of a target."""
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
        yield first, after, kind, target
