"""Refuse and Guard: lines that a file receives."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from shrinker.emit.rewrite.source import Source
from shrinker.values.edits import Edit, Guard, Refuse, Span, refusal_line


def insert_lines(source: Source, edits: Sequence[Edit]) -> tuple[Source, list[Edit]]:
    """Insert the lines that some edits ask for.

    Returns:
        The file with them, and the other edits, which name their nodes where they stand now.
    """
    asked = {
        (edit.span.line, refusal_line(edit)) for edit in edits if isinstance(edit, Refuse | Guard)
    }
    added = sorted((_above_comments(source, line), text) for line, text in asked)
    places = [line for line, _ in added]
    lines = [*source.lines]
    for line, text in reversed(added):
        lines.insert(line - 1, f"{source.indent(line)}{text}{source.newline}")
    others = [_moved(edit, places) for edit in edits if not isinstance(edit, Refuse | Guard)]
    return replace(source, text="".join(lines)), others


def _above_comments(source: Source, line: int) -> int:
    """Find the line of the first comment directly above a statement, which is the statement's; of a
    file's first one, which has the file's comments above it, the statement's own line.
    """
    top = line
    while top > 1 and source.is_remark(top - 1) and not source.is_blank(top - 1):
        top -= 1
    return line if all(source.is_remark(above) for above in range(1, top)) else top


def _moved(edit: Edit, places: Sequence[int]) -> Edit:
    """Count the lines of an edit with those that were inserted above."""
    where = edit.span
    line = where.line + bisect_right(places, where.line)
    end_line = where.end_line + bisect_right(places, where.end_line)
    return replace(edit, span=Span(line, where.col, end_line, where.end_col))
