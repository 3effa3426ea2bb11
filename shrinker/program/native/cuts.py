"""Lines that go with the operators and sources that nothing reaches (registrations, declarations, entries of build lists), with the macros
that no build defines, and with the sources of what Cargo.toml builds on request: benches, tests and examples."""

import posixpath
import tomllib
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise

from shrinker.program.native.library import SOURCES
from shrinker.program.native.reach import NativeReach
from shrinker.program.nodes import suffix
from shrinker.syntax.native.conditionals import Refuted, refuted_lines
from shrinker.values.edits import Cut
from shrinker.values.graph import Graph
from shrinker.values.relations import grouped
from shrinker.values.upstream import UpstreamTree


def refuted_cuts(tree: UpstreamTree, kept: Collection[str], undefined: Mapping[str, str]) -> dict[str, tuple[Cut, ...]]:
    """Branches of the preprocessor that no build reads, by path of each kept file; of macros that no build defines, each with the rule that
    says so."""
    paths = (path for path in kept if suffix(path) in SOURCES) if undefined else ()
    refuted = ((path, each) for path in paths for each in refuted_lines(tree.read(path), undefined))
    found = grouped((path, _refuted(each, undefined)) for path, each in refuted)
    return {path: tuple(cuts) for path, cuts in found.items()}


def _refuted(branch: Refuted, undefined: Mapping[str, str]) -> Cut:
    macros, lines = sorted(branch.macros), branch.lines
    return Cut(lines.first, lines.last, ", ".join(macros), tuple(sorted({undefined[name] for name in macros})))


def cuts(reach: NativeReach) -> dict[str, tuple[Cut, ...]]:
    """By path of a kept file, sorted, once all is reached."""
    found = grouped((*_registrations(reach), *_declarations(reach), *_entries(reach)))
    return {path: tuple(sorted(set(each))) for path, each in sorted(found.items())}


def _registrations(reach: NativeReach) -> Iterator[tuple[str, Cut]]:
    gone = ((name, places) for name, places in reach.registered.items() if name not in reach.operators)
    for name, path, registration in ((name, *place) for name, places in gone for place in places):
        if path in reach.kept:
            yield path, Cut(registration.lines.first, registration.lines.last, f"operator {name}")


def _declarations(reach: NativeReach) -> Iterator[tuple[str, Cut]]:
    """Of functions that only operators offered which are gone, where no kept source mentions them."""
    offers = [(name in reach.operators, each) for name, places in reach.registered.items() for _, each in places]
    sources = {path: reach.library.sources[path] for path in reach.kept}
    stay = {name for stays, each in offers for name in each.functions if stays}
    stay.update(word for source in sources.values() for word in source.words)
    gone = {name for stays, each in offers for name in each.functions if not stays} - stay
    for path, each in ((path, each) for path, source in sources.items() for each in source.declarations):
        if each.name in gone and each.lines.first:
            yield path, Cut(each.lines.first, each.lines.last, f"function {each.name}")


def _entries(reach: NativeReach) -> Iterator[tuple[str, Cut]]:
    for source in reach.library.entries.keys() - reach.kept:
        for entry in reach.library.entries[source]:
            if not entry.glob:
                yield entry.path, Cut(entry.line, entry.line, f"source {source}")


_CARGO = "Cargo.toml"
_FOLDERS = {"bench": "benches", "test": "tests", "example": "examples"}


def cargo_cuts(tree: UpstreamTree, graph: Graph) -> dict[str, tuple[Cut, ...]]:
    """Lines of kept Cargo.toml files that go: the tables of targets whose source upstream has and this tree has not."""
    paths = (path for path in graph.kept if path.rpartition("/")[2] == _CARGO)
    found = (
        (path, (*_tables(path, tree.read(path).decode("utf-8", "replace"), graph, tree.by_path),)) for path in paths
    )
    return {path: cuts for path, cuts in found if cuts}


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
