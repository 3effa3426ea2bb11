"""Take statements out of a source text, or put others in their place, by the lines of its syntax tree."""

import ast
from collections.abc import Iterator, Sequence

from shrinker.syntax.ranges import first_line

_BLOCKS = ("body", "orelse", "finalbody")


def blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Every list of statements below a node, outermost first."""
    for node in ast.walk(tree):
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def stands_alone(text: str, node: ast.stmt) -> bool:
    """True when a statement shares none of its lines with another one."""
    lines = text.split("\n")
    before = lines[first_line(node) - 1][: node.col_offset]
    after = lines[(node.end_lineno or node.lineno) - 1].encode()[node.end_col_offset or 0 :].decode()
    return not before.strip() and (not after.strip() or after.lstrip().startswith("#"))


def without(text: str, nodes: Sequence[ast.stmt], block: Sequence[ast.stmt], instead: Sequence[str] = ()) -> str:
    """The text without statements that follow each other in a block: `pass` stands in for them when no other is left, or lines `instead`,
    with their indentation."""
    lines = text.split("\n")
    start, end = first_line(nodes[0]) - 1, nodes[-1].end_lineno or nodes[-1].lineno
    lines[start:end] = [*instead] or ([" " * nodes[0].col_offset + "pass"] if len(nodes) == len(block) else [])
    return "\n".join(lines)


def indented(text: str, nodes: Sequence[ast.stmt], column: int) -> list[str] | None:
    """Lines of statements that follow each other, moved to a column; None where a line cannot be moved."""
    lines = text.split("\n")[first_line(nodes[0]) - 1 : nodes[-1].end_lineno]
    by = column - nodes[0].col_offset
    moved: list[str] = []
    for line in lines:
        if by < 0 and line.strip() and line[:-by].strip():
            return None
        moved.append(" " * by + line if by > 0 and line.strip() else line[max(0, -by) :])
    return moved
