"""The white space between the elements of a list, with the comments in it, when an element goes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from shrinker.emit.rewrite.draft import Draft
from shrinker.emit.rewrite.tokens import Tokens

_PLAIN = re.compile(r"(?:[ \t\f]|\\\r?\n)*")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True, slots=True)
class Gap:
    """White space and comments: what is left of a range of the file."""

    draft: Draft
    offsets: tuple[int, ...]

    @staticmethod
    def of(draft: Draft, start: int, end: int) -> Gap:
        """All of a range."""
        return Gap(draft, tuple(range(start, end)))

    @property
    def text(self) -> str:
        """What it says."""
        return "".join(self.draft.text[offset] for offset in self.offsets)

    @property
    def broken(self) -> bool:
        """True when it goes over lines that only brackets join."""
        text = self.text
        return len(_PLAIN.match(text)[0]) < len(text)  # type: ignore[index]

    @property
    def commented(self) -> bool:
        """True when a comment stands in it."""
        return "#" in self.text

    def part(self, start: int, end: int | None = None) -> Gap:
        """A part, by number of characters."""
        return Gap(self.draft, self.offsets[start:end])

    def __add__(self, other: Gap) -> Gap:
        return Gap(self.draft, self.offsets + other.offsets)

    def fill(self, start: int, end: int) -> None:
        """Cut everything of a range but what is left here."""
        at = start
        for offset in (*self.offsets, end):
            if offset > at:
                self.draft.cut(at, offset)
            at = offset + 1


def merge(before: Gap, after: Gap, *, begins: bool = False, ends: bool = False) -> Gap:
    """The gap left of two when the element between them goes.

    `before` ends its first line with the comment of what precedes the element and holds the comments
    above it; `after` ends its first line with the element's own comment, and holds the comments above what follows.

    Args:
        begins: nothing but the bracket precedes.
        ends: nothing but the bracket follows.
    """
    if before.broken and after.broken:
        rows = [found.end() for found in _LINE.finditer(before.text)]
        full = [row for row in rows if before.text[row - 1] in "\r\n"]
        while len(full) > 1 and before.text[full[-2] : full[-1]].strip():
            full.pop()
        return before.part(0, full[-1]) + after.part(_first_line(after))
    if before.broken:
        return after if ends and not before.commented else before
    if after.broken:
        if not begins:
            # The line is shared with an element that stays, and so is the comment on it.
            return after
        if "#" not in after.text[_first_line(after) :]:
            return before
        return after.part(len(after.text[: _first_line(after)].rstrip("\r\n")))
    # The line end stays, the comment before it goes.
    return after if ends else before


def _first_line(gap: Gap) -> int:
    found = _LINE.match(gap.text[len(_PLAIN.match(gap.text)[0]) :])  # type: ignore[index]
    return len(gap.text) if found is None else len(_PLAIN.match(gap.text)[0]) + found.end()  # type: ignore[index]


def drop_items(
    draft: Draft,
    tokens: Tokens,
    start: int,
    end: int,
    is_gone: Callable[[int, int], bool],
    *,
    open_ended: bool = False,
    comma: bool = False,
) -> list[str]:
    """Drop elements of a comma-separated list.

    Args:
        start: offset behind the opening bracket.
        end: offset of the closing bracket.
        is_gone: says of the range of an element whether it goes.
        open_ended: there are no brackets.
        comma: one element that is left has a comma behind it.

    Returns:
        The elements that stay.
    """
    items = list(_items(tokens, start, end))
    trailing = items[-1][2] > items[-1][1]
    gone = [is_gone(item[0], item[1]) for item in items]
    kept = [item for item, goes in zip(items, gone, strict=True) if not goes]
    gap = Gap.of(draft, start, items[0][0])
    begin = start
    any_kept = False
    for index, (item, goes) in enumerate(zip(items, gone, strict=True)):
        behind = items[index + 1][0] if index + 1 < len(items) else end
        after = Gap.of(draft, item[2], behind)
        if goes:
            gap = merge(gap, after, begins=not any_kept, ends=index == len(items) - 1)
            continue
        gap.fill(begin, item[0])
        any_kept, gap, begin = True, after, item[2]
    if not kept:
        (gap if gap.commented and not open_ended else gap.part(0, 0)).fill(start, end)
        return []
    last = kept[-1]
    if (last is not items[-1] and not trailing) or (comma and len(kept) == 1 and not trailing):
        draft.cut(last[1], last[2], "," if comma and len(kept) == 1 else "")
    if gone[-1]:
        (gap.part(0, 0) if open_ended else gap).fill(begin, end)
    return [draft.text[item[0] : item[1]] for item in kept]


def _items(tokens: Tokens, start: int, end: int) -> Iterable[tuple[int, int, int]]:
    """Begin and end of each element, and the end of its comma."""
    depth = 0
    lambdas: list[int] = []
    first: int | None = None
    last = start
    for token in tokens.rows[tokens.at(start) : tokens.at(end)]:
        if token.text == "," and depth == 0 and not lambdas:
            if first is not None:
                yield first, last, token.end
            first = None
            continue
        if token.text == "lambda":
            lambdas.append(depth)
        elif token.text == ":" and lambdas and lambdas[-1] == depth:
            lambdas.pop()
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        first = token.start if first is None else first
        last = token.end
    if first is not None:
        yield first, last, last
