"""DropElement: an element of a display, a base, a decorator, an annotation, a comprehension's `if`, a name of an import, an operand.

All that goes is cut out of the text; a comment goes with the item that it belongs to, and stays with the one that stays.
"""

import ast
from collections.abc import Iterator, Sequence
from itertools import accumulate, dropwhile, pairwise
from typing import NamedTuple

from shrinker.emit.rewrite.sites import Sites
from shrinker.emit.rewrite.source import LINE, Place, Source
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
        gone = self._gone(nodes)
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

    def _gone(self, nodes: Sequence[Placed]) -> list[int]:
        """Where elements begin that go."""
        return [self._source.place(node)[0] for node in nodes if self._sites.drops(node)]

    def _filters(self, node: Comprehension) -> None:
        """Drop `if` parts of a comprehension."""
        for part in node.generators:
            for before, test in pairwise([part.iter, *part.ifs]):
                if self._sites.drops(test):
                    place, start = self._source.place(test), self._source.place(before)[1]
                    for first, last in self._source.tokens(start, place[0]):
                        if self._source.text[first:last] == "if":
                            break
                        start = last
                    _, outer = self._source.parentheses(place, start, self._source.place(node)[1])
                    self._patches.drop(start, outer[1])

    def annotation(self, node: Placed) -> None:
        """Drop the annotation of a parameter."""
        if isinstance(node, ast.arg) and node.annotation and self._sites.drops(node.annotation):
            start, end = self._source.place(node)
            self._patches.drop(start + len(node.arg), end)

    def aliases(self, node: Import) -> None:
        """Drop imported names."""
        gone = self._gone(node.names)
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
            if self._sites.drops(decorator):
                self._patches.drop_lines(range(above + 1, last + 1))
            above = last
        start, end = self._source.place(node)
        places = [place for place in self._placed(node) if place[0] > start]
        brackets = self._source.brackets(start, self._source.place(node.body[0])[0], places)
        if brackets is None:
            return
        opening, closing = brackets
        if not isinstance(node, ast.ClassDef):
            if node.returns is not None and self._sites.drops(node.returns):
                _, outer = self._source.parentheses(self._source.place(node.returns), closing + 1, end)
                self._patches.drop(closing + 1, outer[1])
            return
        gone = self._gone([*node.bases, *node.keywords])
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


class Row(NamedTuple):
    """White space up to the end of a line, or to what follows."""

    place: Place
    comment: bool


Gap = Sequence[Row]
"""White space and comments between two tokens. Of several rows, the first ends with the comment of what precedes."""


def read_gap(source: Source, start: int, end: int) -> Gap:
    """The gap of a part of the file; one row where a backslash joins its lines."""
    rows = [match.span() for match in LINE.finditer(source.text, start, end)] or [(start, end)]
    ends = [source.text[slice(*row)].endswith(("\n", "\r")) for row in rows]
    if not ends[0] or source.text[slice(*rows[0])].strip().endswith("\\"):
        return [Row((start, end), False)]
    return [Row(row, "#" in source.text[slice(*row)]) for row in [*rows, *([(end, end)] if ends[-1] else [])]]


def places_of(gap: Gap) -> list[Place]:
    """All of it."""
    return [row.place for row in gap]


def has_comment(gap: Gap) -> bool:
    """Whether any comment stands in it."""
    return any(row.comment for row in gap)


def merge(before: Gap, after: Gap, *, begins: bool = False, ends: bool = False) -> Gap:
    """The gap left of two when what stands between them goes; nothing but the bracket precedes (`begins`) or follows (`ends`)."""
    match before, after:
        case [first, *above, _], [_, *others] if others:
            # Without the comments directly above the item, and the one behind it.
            return [first, *[*dropwhile(lambda row: row.comment, above[::-1])][::-1], *others]
        case [_, _, *_], _:
            return after if ends and not has_comment(before) else before
        case _, [_, _, *_]:
            # The line is shared with an item that stays, and so is the comment on it.
            return before if begins else after
    return after if ends else before


class Link(NamedTuple):
    """What stands between two items."""

    before: Gap
    sign: Place
    """The comma or operator; empty behind the last item without one."""
    after: Gap

    @property
    def main(self) -> Gap:
        """What is left of it at the end of a list, where the sign goes."""
        return self.after if len(self.after) > 1 else self.before


def _joined(links: Sequence[Link]) -> Link:
    """The one left of several when the items between them went."""
    left = links[0]
    for link in links[1:]:
        if len(left.after) > 1:
            left = left._replace(after=merge(left.after, link.after))
        else:
            left = link._replace(before=merge(left.before, link.before))
    return left


def _items(source: Source, region: Place, nodes: Sequence[Place], signs: str) -> tuple[list[Place], list[Link]]:
    """Items between signs, and what follows each."""
    tokens = [*source.tokens(*region, nodes)]
    texts = [source.text[slice(*token)] for token in tokens]
    depths = accumulate((text == "(") - (text == ")") for text in texts)
    between = [i for i, depth in enumerate(depths) if not depth and texts[i] in signs.split()]
    rows = [(i + 1, j) for i, j in pairwise([-1, *between, len(tokens)]) if i + 1 < j]
    items = [(tokens[i][0], tokens[j - 1][1]) for i, j in rows]
    found = [tokens[j] if j in between else (end, end) for (_, j), (_, end) in zip(rows, items, strict=True)]
    following = [*(start for start, _ in items[1:]), region[1]]
    return items, [
        Link(read_gap(source, end, sign[0]), sign, read_gap(source, sign[1], start))
        for (_, end), sign, start in zip(items, found, following, strict=True)
    ]


def drop_items(
    sites: Sites, region: Place, nodes: Sequence[Place], gone: Sequence[int], *, signs: str = ",", comma: bool = False
) -> tuple[Gap, ...]:
    """Drop some of the items between two brackets.

    Args:
        region: what the brackets hold, or all that stands there without them.
        nodes: what the items are made of, in order.
        gone: where those that go begin, or parts of them.
        signs: what stands between items, with spaces between its kinds.
        comma: one item alone keeps a comma, as in a tuple.

    Returns:
        What is left of the white space at both ends; nothing when no item is left.
    """
    patches = sites.patches
    items, links = _items(sites.source, region, nodes, signs)
    kept = [i for i, (start, end) in enumerate(items) if not any(start <= place < end for place in gone)]
    opening = read_gap(sites.source, region[0], items[0][0])
    for link in links[: kept[0] if kept else None]:
        opening = merge(opening, link.main, begins=True)
    if not kept:
        patches.drop(*region, places_of(opening) if has_comment(opening) else ())
        return ()
    patches.drop(region[0], items[kept[0]][0], places_of(opening))
    for first, last in pairwise(kept):
        link = _joined(links[first:last])
        middle = [*places_of(link.before), link.sign, *places_of(link.after)]
        patches.drop(items[first][1], items[last][0], middle)
    final, closing = kept[-1], links[-1].after
    if links[final:-1]:
        closing = merge(_joined(links[final:-1]).main, closing, ends=True)
    (_, end), (start, ends) = items[final], links[-1].sign
    if start < ends:
        # Behind the last item, one stays.
        end = links[final].sign[1]
    elif comma and len(kept) == 1:
        patches.replace(end, end, ",")
    patches.drop(end, region[1], places_of(closing))
    return opening, closing
