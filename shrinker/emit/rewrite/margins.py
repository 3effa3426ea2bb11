"""The margins of lines that move to the left when a block takes its statement's place."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from shrinker.emit.rewrite.draft import Draft
from shrinker.emit.rewrite.layout import clauses, first_line, lead_of, statement_foot
from shrinker.emit.rewrite.positions import indent_of, is_elif, sub_blocks


def shift(draft: Draft, body: Sequence[ast.stmt], first: int, last: int, old: str, new: str) -> None:
    """Give lines of a block another margin; what is not indented as the block is stays where it is."""
    for line in range(first, last + 1):
        move(draft, line, old, new)
    for index, node in enumerate(body):
        blocks = sub_blocks(node)
        ceiling = first_line(body[index + 1]) - 1 if index + 1 < len(body) else last
        end = draft.begin(blocks[0][0]) if blocks else draft.range(node)[1]
        _fix(draft, node, end)
        for part in clauses(draft, node, statement_foot(draft, node, ceiling)) if blocks else ():
            start = part.body[0]
            if is_elif(start, draft.source) and part.head == start.lineno:
                shift(draft, part.body, part.head, part.last, old, new)
            elif draft.begins_line(start):
                inner = indent_of(draft.line(first_line(start)))
                lead = lead_of(draft, first_line(start), part.head + 1)
                top = lead[0] if lead else first_line(start)
                shift(draft, part.body, top, part.last, inner, new + inner[len(old) :])


def move(draft: Draft, line: int, old: str, new: str) -> None:
    draft.margins.pop(line, None)
    if draft.line(line).startswith(old) and old != new:
        draft.margins[line] = (len(old), new)


def _fix(draft: Draft, node: ast.stmt, end: int) -> None:
    """Lines within strings, and those that a backslash continues, stay where they are."""
    start = draft.begin(node)
    if "\n" not in draft.text[start:end]:
        return
    at = start
    for token in draft.tokens(start, end).rows:
        between = draft.text[at : token.start]
        fixed = [at + n for n, c in enumerate(between) if c == "\n" and between[:n].rstrip("\r").endswith("\\")]
        fixed += [token.start + n for n, c in enumerate(token.text) if c == "\n"]
        for offset in fixed:
            draft.margins.pop(draft.text.count("\n", 0, offset) + 2, None)
        at = token.end
