"""DropStatement, DropTail and Raise: whole statements go, and what a block looks like afterwards."""

from __future__ import annotations

import ast
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from shrinker.emit.rewrite.draft import Draft
from shrinker.emit.rewrite.layout import (
    Lines,
    detached,
    first_line,
    join,
    lead_of,
    rows_of,
    statement_foot,
    without_trailing_blanks,
)
from shrinker.emit.rewrite.positions import indent_of, sub_blocks
from shrinker.values.edits import DropStatement, DropTail, Edit, Raise, TakeBlock


@dataclass(frozen=True, slots=True)
class Settled:
    """What is left of a block beside its statements."""

    lead: Lines
    """Lines above the first one that stays."""
    footer: Lines
    """Lines below the last one."""


class Blocks(ABC):
    """The statements of blocks; what becomes of compound ones is told below."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft

    @abstractmethod
    def inside(self, node: ast.stmt, last: int) -> None:
        """Apply the edits in a compound statement that stays, up to its last line."""

    @abstractmethod
    def own(self, node: ast.stmt, end: int) -> None:
        """Apply the edits of a statement's own expressions, up to an offset."""

    @abstractmethod
    def take(self, node: ast.stmt, block: str, last: int, lead: Lines) -> tuple[Lines, Lines] | None:
        """Put a block in the place of its statement: the lines above and below it; None when there is no such block."""

    def block(self, body: list[ast.stmt], floor: int, last: int, *, is_module: bool = False) -> Settled:
        """Apply the edits of a block that begins on a line of its own.

        Args:
            floor: first line that may belong to it.
            last: its last line.
        """
        draft = self.draft
        rows = rows_of(body)
        lead = lead_of(draft, first_line(body[0]), floor)
        if not self.has_edits(body):
            end = body[-1].end_lineno or 0
            return Settled(
                lead, tuple(range(statement_foot(draft, body[-1], last) + 1, last + 1)) if end < last else ()
            )
        indent = indent_of(draft.line(first_line(body[0])))
        waiting: Lines = ()
        first_lead: Lines | None = None
        seen: list[int] = []
        held: list[int] = []
        seam = False
        cut = False
        end = 0
        for index, row in enumerate(rows):
            first = first_line(row[0])
            ceiling = first_line(rows[index + 1][0]) - 1 if index + 1 < len(rows) else last
            if index:
                lead = tuple(range(end + 1, first))
            end = statement_foot(draft, row[-1], ceiling)
            seen += lead
            if cut:
                draft.lose(range(first, end + 1))
                continue
            opens = first_lead is None
            new, above, after, cut = self._row(row, first, end, lead, indent)
            if new:
                above = join(draft, waiting, above, opens=opens) if seam else (*waiting, *above)
                first_lead = above if first_lead is None else first_lead
                held += above
                waiting, seam = after, False
            elif not cut:
                above = lead if is_module and not index else detached(draft, lead, indent)
                waiting = join(draft, waiting, above, opens=opens) if seam else (*waiting, *above)
                seam = True
        if first_lead is None and not is_module:
            first_lead = waiting = without_trailing_blanks(draft, waiting)
            self.put(first_line(rows[-1][0]), "pass")
            held += waiting
            waiting, seam = (), False
        below = tuple(range(end + 1, last + 1))
        if is_module and seam:
            waiting = without_trailing_blanks(draft, (*waiting, *without_trailing_blanks(draft, below)))
            below = below[len(without_trailing_blanks(draft, below)) :]
        elif seam:
            waiting = without_trailing_blanks(draft, waiting)
        held += (*waiting, *below)
        draft.lose({*seen, *below}.difference(held))
        return Settled(first_lead or (), (*waiting, *below))

    def has_edits(self, body: Sequence[ast.stmt]) -> bool:
        """True when an edit begins in one of some statements."""
        return self.draft.within(self.draft.begin(body[0]), self.draft.range(body[-1])[1])

    def put(self, line: int, text: str, last: int = 0) -> None:
        """Put a statement in the place of a line's, and let the lines up to a last one go."""
        content = self.draft.line(line).rstrip("\r\n")
        start = self.draft.offsets[line - 1]
        self.draft.lost.discard(line)
        self.draft.lose(range(line + 1, last + 1))
        self.draft.cut(start + len(indent_of(content)), start + len(content), text)

    def _row(
        self, row: list[ast.stmt], first: int, end: int, lead: Lines, indent: str
    ) -> tuple[bool, Lines, Lines, bool]:
        """What becomes of the statements of a line: whether something is left, the lines above and below it, and whether
        the rest of the block goes."""
        draft, node = self.draft, row[0]
        if len(row) > 1 or not sub_blocks(node):
            left, edit = self.small(row, [])
            if left:
                return True, lead, (), edit is not None
            if isinstance(edit, Raise):
                self.put(first, error_text(edit), end)
                return True, detached(draft, lead, indent), (), True
            draft.lose(range(first, end + 1))
            return False, (), (), edit is not None
        edit = decisive(draft, node)
        match edit:
            case None:
                self.inside(node, end)
                return True, lead, (), False
            case TakeBlock():
                draft.applied(edit)
                taken = self.take(node, edit.block, end, lead)
                return (False, (), (), False) if taken is None else (True, *taken, False)
            case Raise():
                draft.applied(edit)
                self.put(first, error_text(edit), end)
                return True, detached(draft, lead, indent), (), True
        draft.applied(edit)
        draft.lose(range(first, end + 1))
        return False, (), (), isinstance(edit, DropTail)

    def small(self, row: Sequence[ast.stmt], empty: list[str]) -> tuple[bool, Edit | None]:
        """Apply the edits of the small statements of a line: whether one is left, and what ends the block.

        Args:
            empty: what stands there when none is left; nothing where the line goes.
        """
        draft = self.draft
        kept: list[int] = []
        ending: Edit | None = None
        for index, node in enumerate(row):
            edit = decisive(draft, node)
            if isinstance(edit, TakeBlock):
                raise draft.error(node, "TakeBlock on a statement that has no blocks")
            if edit is None:
                kept.append(index)
                self.own(node, draft.range(node)[1])
                continue
            draft.applied(edit)
            if not isinstance(edit, DropStatement):
                ending = edit
                break
        if len(kept) == len(row):
            return True, None
        begin, behind = draft.range(row[0])[0], draft.range(row[-1])[1]
        rest = draft.text[behind:]
        behind += len(rest) - len(rest.lstrip(" \t")) + 1 if rest.lstrip(" \t").startswith(";") else 0
        words = [error_text(ending)] if isinstance(ending, Raise) and (kept or empty) else []
        if not kept and not words and not empty:
            return False, ending
        at = begin
        for index in kept:
            start, end = draft.range(row[index])
            if at == begin or draft.text[at:start].strip() != ";":
                draft.cut(at, start, "" if at == begin else "; ")
            at = end
        draft.cut(at, behind, ("; " if kept and words else "") + "".join(words or ([] if kept else empty)))
        return True, ending


def decisive(draft: Draft, node: ast.stmt) -> Edit | None:
    """The edit that settles a statement when several name it: the one that deletes most."""
    found = draft.statement(node)
    return next((e for kind in (Raise, DropTail, DropStatement, TakeBlock) for e in found if isinstance(e, kind)), None)


def error_text(edit: Raise) -> str:
    """``raise RuntimeError("<message>")``."""
    # JSON's escapes are Python's too, and the quotes are the ones upstream uses.
    literal = json.dumps(edit.message, ensure_ascii=False).replace("\x7f", "\\x7f")
    return f"raise {edit.error}({literal})"
