"""DropElement: an element of a display, a base, a decorator, an annotation, a comprehension's `if`, a name of an import."""

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from shrinker.emit.rewrite.lists import drop_items
from shrinker.emit.rewrite.sites import Sites
from shrinker.emit.rewrite.source import Place
from shrinker.syntax.imports import Import
from shrinker.syntax.ranges import Placed, first_line
from shrinker.syntax.scopes import Comprehension
from shrinker.syntax.walk import Definition


class Elements:
    """Drops parts of statements and expressions."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._source = sites.source
        self._patches = sites.patches

    def expression(self, node: ast.expr, region: Place, own: bool) -> None:
        """Drop what goes of a display or a comprehension."""
        if isinstance(node, Comprehension):
            self._filters(node)
        if not isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
            return
        nodes = node.values if isinstance(node, ast.Dict) else node.elts
        if not isinstance(node, ast.Tuple):
            region = (region[0] + 1, region[1] - 1)
        gone = self._gone(type(node).__name__, nodes)
        if not gone:
            return
        if isinstance(node, ast.Set) and len(gone) == len(nodes):
            raise self._sites.error(node, "an emptied set display would become a dict")
        left = drop_items(self._sites, region, self._placed(node), gone, comma=isinstance(node, ast.Tuple))
        if isinstance(node, ast.Tuple) and not left and not own:
            raise self._sites.error(node, "no element is left of a tuple without parentheses")

    def _placed(self, node: ast.AST) -> list[Place]:
        """Where the children of a node stand, from left to right."""
        return sorted(self._source.place(child) for child, _ in parts(node))

    def _gone(self, container: str, nodes: Sequence[Placed]) -> list[int]:
        """Where elements begin that go."""
        return [self._source.place(node)[0] for node in nodes if self._sites.drops(container, node)]

    def _filters(self, node: Comprehension) -> None:
        """Drop `if` parts of a comprehension."""
        for part in node.generators:
            for before, test in pairwise([part.iter, *part.ifs]):
                if self._sites.drops("comprehension", test):
                    place, start = self._source.place(test), self._source.place(before)[1]
                    for first, last in self._source.tokens(start, place[0]):
                        if self._source.text[first:last] == "if":
                            break
                        start = last
                    _, outer = self._source.parentheses(place, start, self._source.place(node)[1])
                    self._patches.drop(start, outer[1])

    def annotation(self, node: Placed) -> None:
        """Drop the annotation of a parameter."""
        if isinstance(node, ast.arg) and node.annotation and self._sites.drops("annotation", node.annotation):
            start, end = self._source.place(node)
            self._patches.drop(start + len(node.arg), end)

    def aliases(self, node: Import) -> None:
        """Drop imported names."""
        gone = self._gone("alias", node.names)
        if len(gone) == len(node.names):
            raise self._sites.error(node, "no name of an import is left: the statement should have been dropped")
        if gone:
            places = [self._source.place(alias) for alias in node.names]
            brackets = self._source.brackets(*self._source.place(node), places)
            region = (brackets[0] + 1, brackets[1]) if brackets else (places[0][0], places[-1][1])
            drop_items(self._sites, region, places, gone)

    def definition(self, node: Definition) -> None:
        """Drop decorators, bases and the annotation of what is returned."""
        # Comments above the first decorator are those of the definition.
        above = first_line(node) - 1
        for decorator in node.decorator_list:
            last = decorator.end_lineno or decorator.lineno
            if self._sites.drops("decorator", decorator):
                self._patches.drop_lines(range(above + 1, last + 1))
            above = last
        start, end = self._source.place(node)
        places = [place for place in self._placed(node) if place[0] > start]
        brackets = self._source.brackets(start, self._source.place(node.body[0])[0], places)
        if brackets is None:
            return
        opening, closing = brackets
        if not isinstance(node, ast.ClassDef):
            if node.returns is not None and self._sites.drops("returns", node.returns):
                _, outer = self._source.parentheses(self._source.place(node.returns), closing + 1, end)
                self._patches.drop(closing + 1, outer[1])
            return
        gone = self._gone("ClassDef", [*node.bases, *node.keywords])
        inside = [place for place in places if place[1] <= closing]
        if gone and not drop_items(self._sites, (opening + 1, closing), inside, gone):
            self._patches.drop(opening, closing + 1)


def parts(node: ast.AST) -> Iterator[tuple[Placed, tuple[type[ast.AST], str]]]:
    """What a node consists of, statements left out, and the kind and field of what holds it."""
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.expr | ast.keyword | ast.arg):
                yield child, (type(node), field)
            elif isinstance(child, ast.comprehension | ast.arguments | ast.withitem):
                yield from parts(child)
