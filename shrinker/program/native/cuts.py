"""Lines that go with the operators and sources that nothing reaches (registrations, declarations, entries of build lists), with the macros
that no build defines, and with the sources of what Cargo.toml builds on request: benches, tests and examples."""

import posixpath
import tomllib
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise

from shrinker.program.native.library import SOURCES
from shrinker.program.native.reach import NativeReach, pasted_names
from shrinker.program.nodes import suffix
from shrinker.syntax.native.conditionals import refuted_lines
from shrinker.values.graph import Graph
from shrinker.values.native import Cut
from shrinker.values.upstream import UpstreamTree


def refuted_cuts(tree: UpstreamTree, kept: Collection[str], undefined: Mapping[str, str]) -> dict[str, tuple[Cut, ...]]:
    """Branches of the preprocessor that no build reads, by path.

    Args:
        tree: upstream.
        kept: paths of all kept files.
        undefined: macros that no build defines, each with the rule that says so.
    """
    found: dict[str, tuple[Cut, ...]] = {}
    for path in kept:
        refuted = refuted_lines(tree.read(path), undefined) if undefined and suffix(path) in SOURCES else ()
        if refuted:
            found[path] = tuple(
                Cut(
                    each.lines.first,
                    each.lines.last,
                    ", ".join(sorted(each.macros)),
                    tuple(sorted({undefined[name] for name in each.macros})),
                )
                for each in refuted
            )
    return found


def cuts(reach: NativeReach, said: Collection[str]) -> dict[str, tuple[Cut, ...]]:
    """By path of a kept file, sorted.

    Args:
        reach: after it ran.
        said: words of all kept files that are no sources of the library.
    """
    found: dict[str, list[Cut]] = {}
    offered = [*_registrations(reach), *_declarations(reach)]
    definitions = _definitions(reach, said, {(path, cut.first) for path, cut in offered})
    for path, cut in (*offered, *definitions, *_entries(reach)):
        found.setdefault(path, []).append(cut)
    return {path: tuple(sorted(set(each))) for path, each in sorted(found.items())}


def _registrations(reach: NativeReach) -> Iterator[tuple[str, Cut]]:
    for name, places in reach.registered.items():
        if name not in reach.operators:
            for path, registration in places:
                if path in reach.kept:
                    lines = registration.lines
                    yield path, Cut(lines.first, lines.last, f"operator {name}")


def _declarations(reach: NativeReach) -> Iterator[tuple[str, Cut]]:
    """Of functions that only operators offered which are gone, where no kept source mentions them."""
    gone: set[str] = set()
    stay: set[str] = set()
    for name, places in reach.registered.items():
        for _, registration in places:
            (stay if name in reach.operators else gone).update(registration.functions)
    for path in reach.kept:
        stay |= reach.library.sources[path].words
    for path in reach.kept:
        for each in reach.library.sources[path].declarations:
            if each.name in gone - stay and each.lines.first:
                yield path, Cut(each.lines.first, each.lines.last, f"function {each.name}")


def _definitions(
    reach: NativeReach, said: Collection[str], gone: Collection[tuple[str, int]]
) -> Iterator[tuple[str, Cut]]:
    """Definitions that nothing names but such definitions: all that have one name, or none of them."""
    sources = {path: reach.library.sources[path] for path in sorted(reach.kept)}
    live = {*said}.union(*(source.outside for source in sources.values()))
    for path, source in sources.items():
        for offer in source.registrations:
            if (path, offer.lines.first) not in gone:
                live.update((offer.name, *offer.functions))
    left = [(path, each) for path, source in sources.items() for each in source.definitions]
    words = frozenset().union(*(source.words for source in sources.values()))
    patterns = {pair for source in sources.values() for pair in source.pasted}
    live |= pasted_names({each.name for _, each in left}, patterns, words)
    named = {each.name for _, each in left} & live
    while named:
        live |= {word for _, each in left if each.name in named for word in each.words}
        left = [(path, each) for path, each in left if each.name not in named]
        named = {each.name for _, each in left} & live
    for path, each in left:
        if (path, each.lines.first) not in gone:
            yield path, Cut(each.lines.first, each.lines.last, f"definition {each.name}")


def _entries(reach: NativeReach) -> Iterator[tuple[str, Cut]]:
    for source, entries in reach.library.entries.items():
        if source not in reach.kept:
            for entry in entries:
                if not entry.glob:
                    yield entry.path, Cut(entry.line, entry.line, f"source {source}")


_CARGO = "Cargo.toml"
_FOLDERS = {"bench": "benches", "test": "tests", "example": "examples"}


def cargo_cuts(tree: UpstreamTree, graph: Graph) -> dict[str, tuple[Cut, ...]]:
    """Lines of kept Cargo.toml files that go: the tables of targets whose source upstream has and this tree has not."""
    paths = [path for path in graph.kept if path.rpartition("/")[2] == _CARGO]
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
