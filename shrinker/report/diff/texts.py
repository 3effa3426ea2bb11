"""The unified diff of the generated trees, a file at a time."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from shrinker.report.diff.difference import Pair
from shrinker.report.diff.values import TextChange
from shrinker.values.outcome import EmittedFile

_CONTEXT = 3
_MOST_LINES = 20_000
"""A data file with more lines is told by its size: no one reads it, and comparing it takes minutes."""


def text_changes(pair: Pair) -> tuple[TextChange, ...]:
    """Diffs of all files that differ, sorted by path; nothing when one of the trees is not there."""
    if pair.old.folder is None or pair.new.folder is None:
        return ()
    return tuple(TextChange(path, _of(pair, path, one, other)) for path, one, other in pair.differing())


def line_counts(changes: Sequence[TextChange]) -> dict[str, tuple[int, int]]:
    """Lines added and removed, by path."""
    out: dict[str, tuple[int, int]] = {}
    for change in changes:
        rows = change.text.split("\n")[2:]
        out[change.path] = (sum(row.startswith("+") for row in rows), sum(row.startswith("-") for row in rows))
    return out


def _of(pair: Pair, path: str, one: EmittedFile | None, other: EmittedFile | None) -> str:
    before, after = pair.old.read(path), pair.new.read(path)
    names = (f"a/{path}" if one is not None else "/dev/null", f"b/{path}" if other is not None else "/dev/null")
    head = f"--- {names[0]}\n+++ {names[1]}\n"
    if b"\0" in before[:8192] or b"\0" in after[:8192]:
        return f"{head}Binary files differ: {len(before):,} and {len(after):,} bytes\n"
    old, new = _lines(before), _lines(after)
    if max(len(old), len(new)) > _MOST_LINES:
        return f"{head}Too long to compare: {len(old):,} and {len(new):,} lines\n"
    return head + "".join(_hunks(old, new))


def _lines(data: bytes) -> list[str]:
    rows = data.decode("utf-8", "replace").split("\n")
    whole = [f"{row}\n" for row in rows[:-1]]
    return [*whole, f"{rows[-1]}\n\\ No newline at end of file\n"] if rows[-1] else whole


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    """Hunks of a unified diff. What both begin and end with is set aside first: `difflib` takes quadratic time."""
    start = 0
    most = min(len(old), len(new))
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[len(old) - 1 - end] == new[len(new) - 1 - end]:
        end += 1
    low = max(0, start - _CONTEXT)
    high = max(0, end - _CONTEXT)
    one, other = old[low : len(old) - high], new[low : len(new) - high]
    for group in difflib.SequenceMatcher(None, one, other).get_grouped_opcodes(_CONTEXT):
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2], low)} +{_range(first[3], last[4], low)} @@\n"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (f" {row}" for row in one[i1:i2])
            else:
                yield from (f"-{row}" for row in one[i1:i2])
                yield from (f"+{row}" for row in other[j1:j2])


def _range(start: int, stop: int, offset: int) -> str:
    length = stop - start
    first = start + offset + (1 if length else 0)
    return str(first) if length == 1 else f"{first},{length}"
