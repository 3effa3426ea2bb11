"""DropElement on what stands between commas: elements, bases, imported names.

All that goes is cut out of the text; a comment goes with the item that it belongs to, and stays with the one that stays.
"""

from collections.abc import Sequence
from itertools import dropwhile
from typing import NamedTuple

from shrinker.emit.rewrite.sites import Sites
from shrinker.emit.rewrite.source import LINE, Place, Source


class Gap(NamedTuple):
    """White space and comments between two tokens, as places in the file."""

    first: Place
    """Up to the first line end: there stands the comment of what precedes."""
    lines: tuple[tuple[Place, bool], ...] = ()
    """Lines of their own, and whether each is a comment."""
    last: Place | None = None
    """Before the token that follows; None for a gap within one line."""
    comment: bool = False
    """Whether any comment stands in it."""

    @property
    def places(self) -> list[Place]:
        """All of it, in order."""
        return [self.first, *(place for place, _ in self.lines), *([self.last] if self.last else [])]


def read_gap(source: Source, start: int, end: int) -> Gap:
    """The gap of a part of the file."""
    rows = [match.span() for match in LINE.finditer(source.text, start, end)]
    texts = [source.text[first:last].strip() for first, last in rows]
    if not rows or not source.text[start : rows[0][1]].endswith(("\n", "\r")) or texts[0].endswith("\\"):
        return Gap((start, end))
    if source.text[: rows[-1][1]].endswith(("\n", "\r")):
        rows.append((end, end))
    lines = tuple((row, bool(text)) for row, text in zip(rows[1:-1], texts[1:], strict=False))
    return Gap(rows[0], lines, rows[-1], any(texts))


def merge(before: Gap, after: Gap, *, begins: bool = False, ends: bool = False) -> Gap:
    """The gap left of two when what stands between them goes.

    `before` ends its first line with the comment of what precedes the item and holds the comments
    above it; `after` ends its first line with the item's own comment, and holds the comments above what follows.

    Args:
        begins: nothing but the bracket precedes.
        ends: nothing but the bracket follows.
    """
    if before.last and after.last:
        # Without the comments directly above the item.
        below = [*dropwhile(lambda line: line[1], before.lines[::-1])]
        lines = (*below[::-1], *after.lines)
        return Gap(before.first, lines, after.last, before.comment or any(comment for _, comment in lines))
    if before.last:
        return after if ends and not before.comment else before
    if after.last:
        # The line is shared with an item that stays, and so is the comment on it.
        return before if begins else after
    return after if ends else before


class Item(NamedTuple):
    """What stands between two commas, and where the comma after it ends, if there is one."""

    start: int
    end: int
    comma: int | None


def _items(source: Source, start: int, end: int, nodes: Sequence[Place]) -> list[Item]:
    found: list[Item] = []
    tokens: list[Place] = []
    depth = 0
    for token in source.tokens(start, end, nodes):
        text = source.text[slice(*token)]
        depth += (text == "(") - (text == ")")
        if text == "," and not depth:
            found.append(Item(tokens[0][0], tokens[-1][1], token[1]))
            tokens = []
        else:
            tokens.append(token)
    return [*found, Item(tokens[0][0], tokens[-1][1], None)] if tokens else found


def drop_items(
    sites: Sites, region: Place, nodes: Sequence[Place], gone: Sequence[int], *, comma: bool = False
) -> bool:
    """Drop some of the items between two brackets.

    Args:
        region: what the brackets hold, or all that stands there without them.
        nodes: what the items are made of, in order.
        gone: where those that go begin, or parts of them.
        comma: one item alone keeps a comma, as in a tuple.

    Returns:
        False when no item is left.
    """
    source, patches = sites.source, sites.patches
    start, end = region
    items = _items(source, start, end, nodes)
    kept = [item for item in items if not any(item.start <= place < item.end for place in gone)]
    starts = [*(item.start for item in items), end]
    after = [item.comma or item.end for item in items]
    gap, done, left = read_gap(source, start, starts[0]), start, False
    for index, item in enumerate(items):
        following = read_gap(source, after[index], starts[index + 1])
        if item in kept:
            patches.drop(done, item.start, gap.places)
            gap, done, left = following, after[index], True
        else:
            gap = merge(gap, following, begins=not left, ends=index == len(items) - 1)
    if not kept:
        patches.drop(start, end, gap.places if gap.comment else ())
        return False
    final = kept[-1]
    if items[-1].comma is None and final.comma:
        patches.drop(final.end, final.comma)
    patches.drop(done, end, gap.places)
    if comma and len(kept) == 1 and (final.comma is None or items[-1].comma is None):
        patches.replace(final.end, final.end, ",")
    return True
