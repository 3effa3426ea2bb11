"""Which lines are whose: clauses of statements, and comments above and below."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from shrinker.emit.rewrite.draft import Draft
from shrinker.emit.rewrite.positions import indent_of, is_elif, sub_blocks

Lines = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Clause:
    """One block of a compound statement."""

    name: str
    """As an edit names it: ``body``, ``orelse``, ``finalbody``, ``handler:<n>`` or ``case:<n>``."""
    lead: Lines
    """Lines above its header."""
    head: int
    """First line of its header."""
    body: list[ast.stmt]
    last: int
    """Its last line, comments below its statements included."""


def first_line(node: ast.stmt) -> int:
    """First line of a statement, decorators included."""
    decorators = getattr(node, "decorator_list", None)
    return min(node.lineno, decorators[0].lineno) if decorators else node.lineno


def rows_of(body: Sequence[ast.stmt]) -> list[list[ast.stmt]]:
    """Statements grouped by the lines that they share."""
    rows: list[list[ast.stmt]] = []
    for node in body:
        if rows and first_line(node) <= (rows[-1][-1].end_lineno or 0):
            rows[-1].append(node)
        else:
            rows.append([node])
    return rows


def foot(draft: Draft, body: Sequence[ast.stmt], ceiling: int) -> int:
    """Last line of a block: comments below it that are indented as it is are its own.

    Args:
        ceiling: the last line that may belong to it.
    """
    last = body[-1].end_lineno or 0
    if not draft.begins_line(body[0]):
        return last
    indent = indent_of(draft.line(body[0].lineno))
    return max((n for n in range(last + 1, ceiling + 1) if draft.line(n).startswith(indent)), default=last)


def statement_foot(draft: Draft, node: ast.stmt, ceiling: int) -> int:
    """The same of a statement."""
    blocks = sub_blocks(node)
    if not blocks:
        return node.end_lineno or 0
    opening = blocks[-1][0]
    if isinstance(node, ast.If) and [opening] == node.orelse and is_elif(opening, draft.source):
        return statement_foot(draft, opening, ceiling)
    return foot(draft, blocks[-1], ceiling)


def lead_of(draft: Draft, line: int, floor: int) -> Lines:
    """Comment and blank lines above a line, from a first one on."""
    first = line
    while first > floor and draft.is_space(first - 1):
        first -= 1
    return tuple(range(first, line))


def clauses(draft: Draft, node: ast.stmt, last: int) -> list[Clause]:
    """The blocks of a compound statement in their order.

    Args:
        last: line of the statement.
    """
    parts: list[tuple[str, list[ast.stmt], int]] = []
    if body := getattr(node, "body", None):
        parts.append(("body", body, node.lineno))
    parts += [(f"handler:{n}", one.body, one.lineno) for n, one in enumerate(getattr(node, "handlers", ()))]
    for n, case in enumerate(getattr(node, "cases", ())):
        parts.append((f"case:{n}", case.body, _keyword_line(draft, case.pattern.lineno, node.lineno, "case")))
    for name in ("orelse", "finalbody"):
        if body := getattr(node, name, None):
            above = parts[-1][1][-1].end_lineno or 0
            line = body[0].lineno
            if not (isinstance(node, ast.If) and is_elif(body[0], draft.source)):
                line = _keyword_line(draft, first_line(body[0]), above, name.removesuffix("body").removeprefix("or"))
            parts.append((name, body, line))
    found: list[Clause] = []
    floor = node.lineno + 1
    for index, (name, body, head) in enumerate(parts):
        lead = lead_of(draft, head, floor) if name != "body" else ()
        ceiling = parts[index + 1][2] - 1 if index + 1 < len(parts) else last
        end = statement_foot(draft, body[-1], ceiling) if name == "orelse" and head == body[0].lineno else 0
        end = max(end, foot(draft, body, ceiling))
        found.append(Clause(name, lead, head, body, end))
        floor = end + 1
    return found


def _keyword_line(draft: Draft, line: int, above: int, word: str) -> int:
    while line > above and not draft.line(line).lstrip().startswith(word):
        line -= 1
    return line


def detached(draft: Draft, lines: Sequence[int], indent: str) -> Lines:
    """The lines above a dropped statement that stay: all but the comments directly above it."""
    end = len(lines)
    while end and not draft.is_blank(lines[end - 1]) and indent_of(draft.line(lines[end - 1])) == indent:
        end -= 1
    return tuple(lines[:end])


def without_leading_blanks(draft: Draft, lines: Sequence[int]) -> Lines:
    """The lines from the first comment on."""
    begin = 0
    while begin < len(lines) and draft.is_blank(lines[begin]):
        begin += 1
    return tuple(lines[begin:])


def without_trailing_blanks(draft: Draft, lines: Sequence[int]) -> Lines:
    """The lines up to the last comment."""
    end = len(lines)
    while end and draft.is_blank(lines[end - 1]):
        end -= 1
    return tuple(lines[:end])


def join(draft: Draft, before: Sequence[int], after: Sequence[int], *, opens: bool) -> Lines:
    """What is left of two runs of lines when the statement between them went.

    The blank lines that meet become the longer of the two runs, so that two blank lines between
    functions stay two. Right below a block's header (`opens`) the first run alone counts.
    """
    head, tail = without_trailing_blanks(draft, before), without_leading_blanks(draft, after)
    left, right = tuple(before[len(head) :]), tuple(after[: len(after) - len(tail)])
    if opens and not head:
        return (*left, *tail)
    return (*head, *(left if len(left) >= len(right) else right), *tail)
