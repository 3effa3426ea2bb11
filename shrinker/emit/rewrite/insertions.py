"""Refuse and Guard: lines that a file receives before anything else is done to it, as if upstream had written them."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import replace

from shrinker.emit.rewrite.positions import Source
from shrinker.values.edits import Edit, Guard, Refuse
from shrinker.values.refusals import GUARD_LINE, refusal_line


def insert(source: Source, edits: Sequence[Edit]) -> tuple[Source, Sequence[Edit]]:
    """The file with its insertions, and the other edits moved to where their nodes then stand."""
    added = sorted({e for e in edits if isinstance(e, Refuse | Guard)}, key=lambda e: (e.span.line, _line(e)))
    if not added:
        return source, edits
    before = [e.span.line for e in added]
    lines: list[str] = []
    done = 0
    for edit in added:
        at = edit.span.line - 1
        lines.extend(source.lines[done:at])
        text = source.lines[at]
        indent = text[: len(text) - len(text.lstrip(" \t"))]
        lines.append(f"{indent}{_line(edit)}{source.newline}")
        done = at
    lines.extend(source.lines[done:])
    moved: list[Edit] = []
    for other in edits:
        if isinstance(other, Refuse | Guard):
            continue
        span = other.span
        first, last = (bisect.bisect_right(before, line) for line in (span.line, span.end_line))
        moved.append(replace(other, span=replace(span, line=span.line + first, end_line=span.end_line + last)))
    return replace(source, lines=tuple(lines)), moved


def _line(edit: Refuse | Guard) -> str:
    return GUARD_LINE if isinstance(edit, Guard) else refusal_line(edit.place, edit.argument)
