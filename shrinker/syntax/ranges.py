"""Where code stands in its file, as `ast` counts: lines from 1, columns from 0 in UTF-8 bytes."""

import ast
from bisect import bisect_left
from collections.abc import Sequence

from shrinker.values.edits import Span

Placed = ast.expr | ast.stmt | ast.ExceptHandler | ast.alias | ast.keyword | ast.arg | ast.pattern


def span(node: Placed) -> Span:
    """Position of a node in the original file."""
    return Span(node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)


def first_line(node: Placed) -> int:
    """The line on which a statement starts, its decorators included."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.decorator_list:
        return node.decorator_list[0].lineno
    return node.lineno


def meets(lines: Sequence[int], node: Placed) -> bool:
    """True when a node stands on one of some lines, which are sorted; of a definition its decorators count, too."""
    first = first_line(node)
    index = bisect_left(lines, first)
    return index < len(lines) and lines[index] <= (node.end_lineno or first)


def last_line(body: Sequence[ast.stmt]) -> int:
    """The line on which a block ends."""
    return body[-1].end_lineno or body[-1].lineno


def extent(body: Sequence[ast.stmt]) -> int:
    """Lines that a block covers in the original file."""
    return last_line(body) - body[0].lineno + 1 if body else 0
