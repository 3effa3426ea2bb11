"""Packages that travel beside the served one, with the kernels that they offer: what kept code
reaches of both stays.
"""

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from shrinker.cache import Cache
from shrinker.program.native.cuts import library_cuts
from shrinker.program.native.library import Library, NativeReach
from shrinker.program.nodes import file_node, path_node
from shrinker.program.reasons import first_reasons
from shrinker.program.symbols.dead import dead_spans, loading_spans, search_modules
from shrinker.program.symbols.liveness import Outside
from shrinker.program.symbols.search import Search
from shrinker.ruleset import Companion, Ruleset
from shrinker.syntax.names import dotted, is_special
from shrinker.syntax.parsing import parsed
from shrinker.syntax.walk import walk
from shrinker.values.edits import Cut, Span
from shrinker.values.folded import EMPTY_SYMBOLS, Folded, FoldedModule, Uncertain
from shrinker.values.graph import UNREACHABLE, Edge, Graph, Removal
from shrinker.values.texts import without_comments, words_of
from shrinker.values.upstream import UpstreamTree

Spans = Mapping[str, frozenset[Span]]
Fold = Callable[[Collection[str], Spans | None, Spans | None], dict[str, FoldedModule]]
"""Folds the companions among some paths; without what nothing names where that is given, and with
the imports that then load their modules alone; else with their units.
"""
_OPERATORS = "torch.ops"
_NO_OPERATOR = "no operator that kept code names needs it"
_NO_IMPORT = "no kept code imports or names it"


def prune_companions(
    tree: UpstreamTree, rules: Ruleset, graph: Graph, folded: Folded, fold: Fold, cache: Cache
) -> tuple[Graph, dict[str, FoldedModule], list[tuple[str, Cut]]]:
    """Decide what stays of the packages beside the served one, whose `folded` modules, by path,
    hold nothing any more that goes: the graph, which had all that rules keep of the companions,
    without what goes; the companions that are left, by path; and lines that go of files that are no
    Python, each with the path.
    """
    with_sources = [rule for rule in rules.companions if rule.sources]
    dead: dict[str, frozenset[Span]] = {}
    loads: dict[str, frozenset[Span]] = {}
    found: list[tuple[Companion, _Callers, Search]] = []
    named = frozenset(
        edge.dst for edge in graph.edges if edge.kind == "keep" and edge.src.startswith("root:")
    )
    whole = fold(graph.kept, None, None) if with_sources else {}
    gone: dict[str, str] = {}
    for rule in with_sources:
        own = {path: module for path, module in whole.items() if path.startswith(f"{rule.folder}/")}
        if not own:
            continue
        callers = _Callers(tree, graph, folded, _package(rule), rule.sources)
        graph = replace(graph, uncertain=tuple(sorted({*graph.uncertain, *callers.undecided})))
        if callers.undecided:
            continue
        # Tools ask any package for these, such as its version.
        special = {
            name for module in own.values() for name, _ in module.defines if is_special(name)
        }
        words = callers.words | special
        search = search_modules(own, Outside(rules, words=((words, words),)))
        dead |= dead_spans(search, {module.module for module in own.values()})
        loads |= loading_spans(search)
        unloaded = (path for path, module in own.items() if module.module not in search.loaded)
        gone |= {path: _NO_IMPORT for path in unloaded if file_node(path) not in named}
        found.append((rule, callers, search))
    companions = fold([path for path in graph.kept if path not in gone], dead, loads)
    companions = {path: replace(module, units=EMPTY_SYMBOLS) for path, module in companions.items()}
    cuts: list[tuple[str, Cut]] = []
    edges: list[Edge] = []
    for rule, callers, search in found:
        library = Library(tree, rule, graph.kept, rules.undefined, cache)
        wrappers = {p: m for p, m in companions.items() if p.startswith(f"{rule.folder}/")}
        modules = {**folded, **companions}
        said = (_said_in(tree, path, modules, _package(rule)) for path in wrappers)
        by_hand = frozenset(path for path in library.sources if file_node(path) in named)
        reach = NativeReach(library, callers.words.union(*said), by_hand)
        gone |= dict.fromkeys(library.sources.keys() - reach.kept, _NO_OPERATOR)
        outside = modules.keys() | graph.kept.keys() - gone.keys() - library.sources.keys()
        words = frozenset().union(
            *(_said_in(tree, path, modules, _package(rule)) for path in outside)
        )
        cuts += library_cuts(reach, words)
        new = [*_wrapper_edges(tree, graph, search, callers, wrappers, reach.operators)]
        asked = named | {edge.dst for edge in new}
        # What the import of a module was for went: nobody imports it any more, and it has nothing.
        empty = (
            path
            for path, module in wrappers.items()
            if not module.defines and not module.is_package
        )
        gone |= {path: _NO_IMPORT for path in empty if file_node(path) not in asked}
        edges += [*new, *reach.edges]
    companions = {path: module for path, module in companions.items() if path not in gone}
    return _without(graph, gone, edges), companions, cuts


def _package(rule: Companion) -> str:
    return rule.folder.rpartition("/")[2]


class _Callers:
    """Kept code outside of a library that names its package."""

    def __init__(
        self, tree: UpstreamTree, graph: Graph, folded: Folded, package: str, apart: str
    ) -> None:
        """Of a library in the folder `apart` with a package of this top-level name; `folded` are
        modules of the served package with nothing in them that goes.
        """
        beside = (
            path
            for path in graph.kept
            if path.endswith((".py", ".pyi")) and not path.startswith(f"{apart}/")
        )
        said = {path: _said_in(tree, path, folded, package) for path in {*folded, *beside}}
        found: dict[str, frozenset[str]] = {}
        self.undecided: list[Uncertain] = []
        """Places that look up a name which is computed: it may be any."""
        anywhere = False
        names = {package}
        while names:
            # A module that gets the package under another name need not say this one.
            fresh = {
                path: words
                for path, words in said.items()
                if path not in found and not names.isdisjoint(words)
            }
            found |= fresh
            names = set()
            nodes = [(path, node) for path in sorted(fresh) for node in _nodes(tree, path)]
            for path, node in nodes:
                match node:
                    case ast.Import(names=aliases):
                        names.update(
                            a.asname for a in aliases if a.asname and _top(a.name) == package
                        )
                    case ast.Call(func=ast.Name(id="getattr"), args=[target, name, *_]) if (
                        not isinstance(name, ast.Constant)
                    ):
                        spoken = dotted(target)
                        if spoken.startswith(f"{_OPERATORS}.{package}") or _top(spoken) == package:
                            reason = f"looks up a computed name: `{ast.unparse(node)}`"
                            self.undecided.append(Uncertain(path, node.lineno, reason))
                        # Of a library that is computed itself, any text may name an operator.
                        anywhere = anywhere or spoken == _OPERATORS
        texts = (module.summary.texts for module in folded.values()) if anywhere else ()
        self.words = frozenset().union(*found.values(), *texts)
        """All that it says."""
        self.paths = sorted(found)
        """Its files."""


def _said_in(tree: UpstreamTree, path: str, folded: Folded, package: str) -> frozenset[str]:
    """Return all words of a kept file: of a folded module those that are left, and where it imports
    names of a package from; of any other file those that upstream wrote, but for comments.
    """
    if (module := folded.get(path)) is None:
        return words_of(path, without_comments(path, tree.read(path).decode("utf-8", "replace")))
    sources = (site.module.split(".") for site in module.imports if _top(site.module) == package)
    return frozenset(module.summary.words).union(*sources)


def _nodes(tree: UpstreamTree, path: str) -> Iterator[ast.AST]:
    syntax = parsed(tree.read(path), path)
    return walk(syntax) if syntax is not None else iter(())


def _top(name: str) -> str:
    return name.partition(".")[0]


def _calling_lines(tree: UpstreamTree, path: str, names: Collection[str]) -> dict[str, int]:
    """Return the first line of a Python file that names each of some operators as one; of those
    that it names.
    """
    found: dict[str, int] = {}
    for node in _nodes(tree, path):
        match node:
            case ast.Attribute(attr=name, lineno=line) if name in names and dotted(node).startswith(
                _OPERATORS
            ):
                pass
            case ast.Constant(value=str() as text, lineno=line):
                name = text.rpartition("::")[2]
            case _:
                continue
        if name in names:
            found[name] = min(line, found.get(name, line))
    return found


def _without(graph: Graph, gone: Mapping[str, str], edges: Collection[Edge]) -> Graph:
    """Return the graph without some files; the edges take the place of the rule that named whole
    folders.
    """
    if not gone and not edges:
        return graph
    nodes = {file_node(path) for path in gone}
    stay, new = (
        [e for e in some if e.dst not in nodes and e.src not in nodes]
        for some in (graph.edges, edges)
    )
    explained = {edge.dst for edge in new}
    by_rule = {edge for edge in stay if edge.dst in explained and edge.kind == "root"}
    first, _ = first_reasons(dict.fromkeys([*(e for e in stay if e not in by_rule), *new], ""))
    # What only the rule keeps, or a circle that it starts.
    merged = sorted({*(e for e in stay if e not in by_rule or e.dst not in first), *new})
    first, _ = first_reasons(dict.fromkeys(merged, ""))
    kept = {
        path: first[node].reason
        if (node := file_node(path)) in explained and node in first
        else reason
        for path, reason in graph.kept.items()
        if path not in gone
    }
    removed = {
        **graph.removed,
        **{path: Removal(UNREACHABLE, reason) for path, reason in gone.items()},
    }
    return replace(graph, edges=tuple(merged), kept=kept, removed=dict(sorted(removed.items())))


def _wrapper_edges(
    tree: UpstreamTree,
    graph: Graph,
    search: Search,
    callers: _Callers,
    wrappers: Folded,
    operators: Collection[str],
) -> Iterator[Edge]:
    """From names that kept code imports to the files of the library's package, and from all of
    these to operators that are reached.
    """
    paths = {module.module: path for path, module in wrappers.items()}
    for kernel in sorted({edge.dst for edge in graph.edges if edge.dst.startswith("kernel:")}):
        module, _, name = kernel.removeprefix("kernel:").rpartition(".")
        for holder in dict.fromkeys((module, f"{module}.{name}".strip("."))):
            if holder in paths:
                yield Edge(kernel, file_node(paths[holder]), "import", paths[holder], 1)
        for touch in search.types.imported(module, name).touches if module in paths else ():
            if touch.kind == "unit" and touch.module in paths:
                line = search.program.unit(touch.key).span.line
                yield Edge(
                    kernel, file_node(paths[touch.module]), "import", paths[touch.module], line
                )
    for path, wrapper in wrappers.items():
        for site in wrapper.imports:
            target = paths.get(site.module)
            if target is not None and target != path:
                yield Edge(file_node(path), file_node(target), "import", path, site.line)
    for path in (*callers.paths, *wrappers):
        for name, line in sorted(_calling_lines(tree, path, operators).items()):
            yield Edge(path_node(path), f"operator:{name}", "operator", path, line)
