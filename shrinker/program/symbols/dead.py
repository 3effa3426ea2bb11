"""From the kept modules and their file graph to what may go: the one entry to this package."""

import re
import sys
from collections.abc import Collection, Iterable, Mapping

from shrinker.program.reach import IMPORT_KINDS
from shrinker.program.symbols.program import Program
from shrinker.program.symbols.reasons import Outside, Protocols
from shrinker.program.symbols.search import Search
from shrinker.program.symbols.side_effect_imports import run
from shrinker.program.symbols.types import Types
from shrinker.ruleset import Ruleset
from shrinker.values.edits import Span
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph
from shrinker.values.texts import looked_up, without_comments, words_of
from shrinker.values.upstream import UpstreamTree, module_name

_IMPORTED = re.compile(r"(?:from|import)\s+([A-Za-z_]\w*)")
Place = tuple[str, int]
"""Path and line."""
_DEEP = 20_000
"""Paths are followed recursively, through re-exports and classes."""


def search_symbols(
    tree: UpstreamTree,
    rules: Ruleset,
    graph: Graph,
    folded: Mapping[str, FoldedModule],
    named: "NamedPlaces",
    more: Iterable[str] = (),
) -> Search:
    """Everything that the roots can reach.

    Args:
        tree: upstream.
        rules: of the profile.
        graph: of files.
        folded: every kept module, by path, with its units.
        named: of this tree.
        more: modules that stay whatever the search finds.
    """
    return _searched(rules, folded, _outside(tree, rules, graph, folded, named, more))


def search_package(rules: Ruleset, folded: Mapping[str, FoldedModule], words: frozenset[str]) -> Search:
    """Everything that some words can name in a package that travels beside the served one.

    Args:
        rules: of the profile.
        folded: its modules, by path, with their units.
        words: all that kept code outside of it says.
    """
    return _searched(rules, folded, Outside(words=((words, words),), labels=rules.labels))


def _searched(rules: Ruleset, folded: Mapping[str, FoldedModule], outside: Outside) -> Search:
    inert = {*sys.stdlib_module_names, *(name for rule in rules.outsides for name in rule.inert)}
    program = Program(folded.values(), inert)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEP))
    try:
        search = Search(program, Types(program), outside, Protocols(rules))
        run(search)
    finally:
        sys.setrecursionlimit(before)
    return search


def dead_spans(search: Search, modules: Collection[str]) -> dict[str, frozenset[Span]]:
    """What nothing live can name, by path of its loaded module: statements and imported names, of a dead class or block only itself, and
    entries of ``__all__``.

    Args:
        search: after it ran.
        modules: all modules of upstream, by dotted name.
    """
    out: dict[str, frozenset[Span]] = {}
    for name, module in search.program.modules.items():
        if name not in search.loaded:
            continue
        found = {
            unit.span
            for number, unit in enumerate(module.units)
            if (name, number) not in search.live
            and (unit.parent < 0 or (name, unit.parent) in search.live)
            and (unit.names or unit.kind in ("if", "main"))
        }
        if name not in search.outside.stay and "__getattr__" not in module.symbols:
            # A star import would look for a submodule that nothing loads.
            submodules = ((f"{name}.{entry}", entry, span) for entry, span in module.entries)
            found |= {
                span
                for whole, entry, span in submodules
                if whole in modules and whole not in search.loaded and not search.program.bound(name, entry)
            }
        if found:
            out[module.path] = frozenset(found)
    return out


def live_again(search: Search, dead: Mapping[str, frozenset[Span]]) -> frozenset[str]:
    """Modules in which something is live although an earlier search found it dead: it stays for what its import loads.

    Args:
        search: after it ran.
        dead: what the earlier search found, by path.
    """
    live = ((search.program.modules[key[0]], search.program.unit(key).span) for key in search.live)
    return frozenset(module.name for module, span in live if span in dead.get(module.path, ()))


def _outside(
    tree: UpstreamTree,
    rules: Ruleset,
    graph: Graph,
    folded: Mapping[str, FoldedModule],
    named: "NamedPlaces",
    more: Iterable[str],
) -> Outside:
    roots: dict[str, str] = {}
    for edge in graph.edges:
        if edge.kind in ("root", "keep") and edge.dst.startswith("module:"):
            roots.setdefault(edge.dst.partition(":")[2], edge.src)
    edges: dict[str, list[tuple[int, str, str]]] = {}
    for edge in graph.edges:
        if edge.dst.startswith("module:") and edge.src.startswith("module:") and edge.kind not in IMPORT_KINDS:
            edges.setdefault(edge.src[len("module:") :], []).append((edge.line, edge.kind, edge.dst[len("module:") :]))
    modules = {module.module for module in folded.values()}
    top = {module.partition(".")[0] for module in modules}
    texts = (
        (path, tree.read(path).decode("utf-8", "replace"))
        for path in graph.kept
        if path.endswith((".py", ".pyi")) and path not in folded
    )
    asking = (
        (path, without_comments(path, text))
        for path, text in texts
        if any(name in top for name in _IMPORTED.findall(text))
    )
    words = tuple((words_of(path, text), looked_up(text)) for path, text in asking)
    targets = (target.partition(":") for target in tree.declared.scripts.values())
    scripts = frozenset((module, path) for module, _, path in targets if module in modules and path)
    return Outside(
        roots,
        words,
        scripts,
        {name: tuple(found) for name, found in edges.items()},
        frozenset(more),
        named,
        rules.labels,
        rules.apis,
    )


class NamedPlaces:
    """Where the modules of upstream look names up or spell them; each name is looked for once."""

    def __init__(self, tree: UpstreamTree) -> None:
        self._tree = tree
        self._known: dict[str, Place | None] = {}

    def __call__(self, names: Iterable[str]) -> dict[str, Place]:
        """Those of some names that a module does, with the first place."""
        asked = frozenset(names)
        left = asked - self._known.keys()
        # Made once, since it is as long as all of them.
        spelled = re.compile(rb"[.'\"](" + "|".join(sorted(left)).encode() + rb")\b")
        self._known.update(dict.fromkeys(left))
        for file in self._tree.files:
            if not left:
                break
            if module_name(file.path) is not None:
                found = _named_in(self._tree, file.path, spelled)
                self._known.update((name, found[name]) for name in left & found.keys())
                left -= found.keys()
        return {name: place for name in asked if (place := self._known[name]) is not None}


def _named_in(tree: UpstreamTree, path: str, spelled: re.Pattern[bytes]) -> dict[str, Place]:
    """The first place of each name in one file."""
    data = tree.read(path)
    places: dict[str, Place] = {}
    for found in spelled.finditer(data):
        name = found[1].decode()
        if name not in places:
            places[name] = path, data.count(b"\n", 0, found.start()) + 1
    return places
