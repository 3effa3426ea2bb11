"""What kept code says that may name something of a kernel library: its wrappers, or its operators themselves."""

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from shrinker.syntax.names import dotted
from shrinker.syntax.parsing import parsed
from shrinker.syntax.walk import walk
from shrinker.values.folded import FoldedModule, Uncertain
from shrinker.values.graph import Graph
from shrinker.values.texts import without_comments, words_of
from shrinker.values.upstream import UpstreamTree

_OPERATORS = "torch.ops"


@dataclass(frozen=True, slots=True)
class Callers:
    """Kept code that names a library."""

    words: frozenset[str]
    """All that it says."""
    paths: tuple[str, ...]
    """Its files, sorted."""
    undecided: tuple[Uncertain, ...]
    """Places that look up a name which is computed: it may be any."""


def find_callers(
    tree: UpstreamTree, graph: Graph, folded: Mapping[str, FoldedModule], package: str, apart: str
) -> Callers:
    """Kept code outside of a library that names its package.

    Args:
        folded: modules of the served package by path, with nothing in them that goes.
        package: top-level name of the library's package.
        apart: folder of the library.
    """
    said = {path: said_by(module, package) for path, module in folded.items()}
    for path in graph.kept:
        if path.endswith((".py", ".pyi")) and path not in folded and not path.startswith(f"{apart}/"):
            said[path] = _written(tree, path)
    found: dict[str, frozenset[str]] = {}
    undecided: list[Uncertain] = []
    anywhere = False
    names = {package}
    while names:
        # A module that gets the package under another name need not say this one.
        fresh = {path: words for path, words in said.items() if path not in found and not names.isdisjoint(words)}
        found |= fresh
        names = set()
        nodes = [(path, node) for path in sorted(fresh) for node in _nodes(tree, path)]
        for path, node in nodes:
            match node:
                case ast.Import(names=aliases):
                    names.update(a.asname for a in aliases if a.asname and _top(a.name) == package)
                case ast.Call(func=ast.Name(id="getattr"), args=[target, name, *_]) if not isinstance(
                    name, ast.Constant
                ):
                    spoken = dotted(target)
                    if spoken.startswith(f"{_OPERATORS}.{package}") or _top(spoken) == package:
                        reason = f"looks up a computed name: `{ast.unparse(node)}`"
                        undecided.append(Uncertain(path, node.lineno, reason))
                    # Of a library that is computed itself, any text may name an operator.
                    anywhere = anywhere or spoken == _OPERATORS
    texts = (module.summary.texts for module in folded.values()) if anywhere else ()
    return Callers(frozenset().union(*found.values(), *texts), tuple(sorted(found)), tuple(undecided))


def said_by(module: FoldedModule, package: str) -> frozenset[str]:
    """All words of a module, and where it imports names of a package from."""
    sources = (site.module for site in module.imports if _top(site.module) == package)
    return frozenset(module.summary.words).union(*(source.split(".") for source in sources))


def _written(tree: UpstreamTree, path: str) -> frozenset[str]:
    """All words of a file as upstream wrote it, without its comments."""
    return words_of(path, without_comments(path, tree.read(path).decode("utf-8", "replace")))


def _nodes(tree: UpstreamTree, path: str) -> Iterator[ast.AST]:
    syntax = parsed(tree.read(path), path)
    return walk(syntax) if syntax is not None else iter(())


def _top(name: str) -> str:
    return name.partition(".")[0]


def calling_lines(tree: UpstreamTree, path: str, names: Collection[str]) -> dict[str, int]:
    """The first line of a Python file that names each of some operators as one; of those that it names."""
    found: dict[str, int] = {}
    for node in _nodes(tree, path):
        match node:
            case ast.Attribute(attr=name, lineno=line) if name in names and dotted(node).startswith(_OPERATORS):
                pass
            case ast.Constant(value=str() as text, lineno=line):
                name = text.rpartition("::")[2]
            case _:
                continue
        if name in names:
            found[name] = min(line, found.get(name, line))
    return found
