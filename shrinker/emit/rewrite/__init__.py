"""Apply edits to one Python file, token for token as upstream wrote it but for what the edits say.

Refuse and Guard are lines that a file receives before anything else is done to it, as if upstream had written them.
"""

from __future__ import annotations

import ast
import bisect
from collections.abc import Sequence
from dataclasses import replace

from shrinker.emit.rewrite.chunks import plan
from shrinker.emit.rewrite.positions import Source, decode, preamble, start
from shrinker.emit.rewrite.sites import RewriteError, UnappliedEdit
from shrinker.emit.rewrite.transform import transform
from shrinker.values.edits import Edit, Guard, Refuse
from shrinker.values.refusals import GUARD_LINE, refusal_line

__all__ = ["RewriteError", "UnappliedEdit", "rewrite_file"]


def rewrite_file(source: bytes, edits: Sequence[Edit], *, header: str | None = None) -> bytes:
    """Apply the edits of `values/edits.py` to a file.

    Args:
        source: the original file, in any encoding that it declares, with any line ends.
        edits: in any order. Edits inside a region that another edit drops are void.
        header: a comment line, without its line end, put before everything but a byte-order mark, a
            shebang and a coding line.

    Returns:
        The new file, in the encoding and with the line ends of the original. Lines of statements
        without edits are copied byte for byte.

    Raises:
        UnappliedEdit: an edit names a place where no node of its kind is.
        RewriteError: an edit that leaves no valid Python, such as the last name of an import.
        SyntaxError: the file does not parse.
    """
    file, edits = insert(decode(source), edits)
    lines: list[str] = []
    done = 0
    if edits:
        tree = ast.parse(file.text)
        chunks, outside = plan(tree, file, sorted(dict.fromkeys(edits), key=start))
        for edit in outside:
            raise UnappliedEdit(edit)
        for chunk in chunks:
            lines.extend(file.lines[done : chunk.first - 1])
            lines.append(transform(chunk, file))
            done = chunk.last
    lines.extend(file.lines[done:])
    text = "".join(lines)
    if header is not None:
        first = "".join(file.lines[: preamble(file.lines)])
        rest = text.removeprefix(first)
        if first and not first.endswith(("\n", "\r")):
            first += file.newline
        text = first + header + file.newline + rest
    return file.encode(text)


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
