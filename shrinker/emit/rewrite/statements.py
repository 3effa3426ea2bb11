"""TakeBlock and DropBlock: one block takes its statement's place, or one clause goes."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from shrinker.emit.rewrite.blocks import Blocks, Settled, decisive, error_text
from shrinker.emit.rewrite.expressions import Expressions
from shrinker.emit.rewrite.layout import (
    Clause,
    Lines,
    clauses,
    detached,
    first_line,
    join,
    lead_of,
    without_leading_blanks,
    without_trailing_blanks,
)
from shrinker.emit.rewrite.margins import move, shift
from shrinker.emit.rewrite.positions import indent_of, is_elif
from shrinker.values.edits import DropBlock, Raise, TakeBlock


class Statements(Blocks):
    """The statements of a file, compound ones too."""

    def inside(self, node: ast.stmt, last: int) -> None:
        """Apply the edits in a statement that stays."""
        draft = self.draft
        if not self.has_edits([node]) and not draft.statement(node):
            return
        parts = clauses(draft, node, last)
        gone = self._dropped(node, parts)
        if isinstance(node, ast.If) and parts[-1].name == "orelse" and "orelse" not in gone:
            arm = self._arm(parts.pop(), stays=True)
            parts += [arm] if arm is not None else []
        self.own(node, draft.begin(parts[0].body[0]))
        for part in parts:
            if part.name in gone:
                draft.lose((*part.lead, *range(part.head, part.last + 1)))
                continue
            if part.name.startswith(("handler", "case")):
                self._header(node, part)
            self._body(part)

    def _header(self, node: ast.stmt, part: Clause) -> None:
        """Apply the edits of a clause's own header."""
        kind, _, number = part.name.partition(":")
        clause: ast.AST = getattr(node, {"handler": "handlers", "case": "cases"}[kind])[int(number)]
        start = self.draft.offsets[part.head - 1] + len(indent_of(self.draft.line(part.head)))
        end = self.draft.begin(part.body[0])
        if self.draft.within(start, end):
            Expressions(self.draft, self.draft.tokens(start, end)).visit(clause)

    def own(self, node: ast.stmt, end: int) -> None:
        """Apply the edits of a statement's own expressions."""
        start = self.draft.begin(node)
        if self.draft.within(start, end):
            Expressions(self.draft, self.draft.tokens(start, end)).visit(node)

    def _body(self, part: Clause) -> Settled | None:
        """Apply the edits of a clause's block; None for one on its header's line."""
        if self.draft.begins_line(part.body[0]):
            return self.block(part.body, part.head + 1, part.last)
        if is_elif(part.body[0], self.draft.source):
            self.inside(part.body[0], part.last)
        else:
            self.small(part.body, ["pass"])
        return None

    def _dropped(self, node: ast.stmt, parts: Sequence[Clause]) -> set[str]:
        """Clauses that DropBlock drops."""
        names: set[str] = set()
        known = {part.name for part in parts}
        for edit in self.draft.statement(node):
            if not isinstance(edit, DropBlock):
                continue
            self.draft.applied(edit)
            if edit.block == "body":
                raise self.draft.error(node, "DropBlock cannot drop the body")
            if edit.block not in known and (":" in edit.block or not hasattr(node, edit.block)):
                raise self.draft.error(node, f"{type(node).__name__} has no block {edit.block!r}")
            names.add(edit.block)
        left = known - names
        if names and isinstance(node, ast.Match) and not left:
            raise self.draft.error(node, "DropBlock leaves a `match` without cases")
        handled = not isinstance(node, ast.Try | ast.TryStar) or any(name.startswith("handler") for name in left)
        if names and not handled and ("orelse" in left or "finalbody" not in left):
            raise self.draft.error(node, "DropBlock leaves a `try` without handlers")
        return names

    def _arm(self, part: Clause, *, stays: bool) -> Clause | None:
        """What an `elif` with edits becomes: an `else`, what follows it, or nothing.

        Args:
            stays: its header does.
        """
        draft = self.draft
        arm = part.body[0]
        if not is_elif(arm, draft.source):
            return part
        assert isinstance(arm, ast.If)
        edit = decisive(draft, arm)
        if edit is None:
            return part
        draft.applied(edit)
        indent = indent_of(draft.line(part.head))
        body, *rest = clauses(draft, arm, part.last)
        if isinstance(edit, Raise):
            draft.lose({*part.lead}.difference(detached(draft, part.lead, indent)))
            inner = indent_of(draft.line(first_line(arm.body[0])))[len(indent) :] or "    "
            self.put(
                part.head, f"else:{draft.source.newline}{draft.indent(part.head)}{inner}{error_text(edit)}", part.last
            )
            return None
        if not isinstance(edit, TakeBlock):
            draft.lose((*part.lead, *range(part.head, part.last + 1)))
            return None
        if edit.block not in ("body", "orelse"):
            raise draft.error(arm, f"an `elif` has no block {edit.block!r}")
        following = self._arm(rest[0], stays=stays) if rest and edit.block == "orelse" else None
        if edit.block == "body":
            for other in rest:
                draft.lose((*other.lead, *range(other.head, other.last + 1)))
            if stays:
                start = draft.range(arm)[0]
                draft.cut(start, draft.tokens(start, draft.begin(arm.body[0])).rows[-2].end, "else")
            return replace(body, name="orelse", lead=part.lead, head=part.head)
        draft.lose((*range(part.head, body.last + 1), *(rest[0].lead if rest else ())))
        if following is None:
            draft.lose(part.lead)
            return None
        above = join(draft, detached(draft, part.lead, indent), following.lead, opens=False)
        draft.lose(part.lead)
        draft.lost.difference_update(above)
        return replace(following, lead=above)

    # Blocks that take their statement's place

    def take(self, node: ast.stmt, block: str, last: int, lead: Lines) -> tuple[Lines, Lines] | None:
        """Put a block in the place of its statement: the lines above and below it; None when there is no such block."""
        draft = self.draft
        for edit in draft.statement(node):
            if isinstance(edit, DropBlock):
                draft.applied(edit)
        first = node.lineno
        indent = draft.indent(first)
        if block == "subject" and isinstance(node, ast.Match):
            return self._take_subject(node, last, lead)
        parts = clauses(draft, node, last)
        part = next((one for one in parts if one.name == block), None)
        if part is None:
            if block not in ("orelse", "finalbody") or not hasattr(node, block):
                raise draft.error(node, f"{type(node).__name__} has no block {block!r}")
            draft.lose(range(first, last + 1))
            return None
        if isinstance(node, ast.If) and block == "orelse":
            arm = self._arm(part, stays=False)
            if arm is None:
                raised = next((e for e in draft.statement(part.body[0]) if isinstance(e, Raise)), None)
                if raised is None:
                    draft.lose(range(first, last + 1))
                    return None
                kept = detached(draft, part.lead, indent_of(draft.line(part.head)))
                self.put(first, error_text(raised), last)
                return (*lead, *without_leading_blanks(draft, kept)), ()
            part = arm
        start = part.body[0]
        if block == "orelse" and is_elif(start, draft.source) and part.head == start.lineno:
            draft.lose(set(range(first, part.head)).difference(part.lead))
            at = draft.range(start)[0]
            draft.cut(at, at + 4, "if")
            self.inside(start, part.last)
            above = without_leading_blanks(draft, part.lead)
            draft.lose({*part.lead}.difference(above))
            return (*lead, *above), ()
        above = without_leading_blanks(draft, part.lead) if block != "body" else ()
        if not draft.begins_line(start):
            draft.lose((*range(first, start.lineno), *range((part.body[-1].end_lineno or 0) + 1, last + 1)))
            draft.lost.difference_update(above)
            draft.margins.pop(start.lineno, None)
            draft.cut(draft.offsets[start.lineno - 1], draft.range(start)[0], indent)
            self.small(part.body, ["pass"])
            return (*lead, *above), ()
        top = lead_of(draft, first_line(start), part.head + 1)
        begin = top[0] if top else first_line(start)
        shift(draft, part.body, begin, part.last, indent_of(draft.line(first_line(start))), indent)
        for line in (*lead, *above):
            move(draft, line, indent_of(draft.line(first)), indent)
        settled = self.block(part.body, part.head + 1, part.last)
        draft.lose((*range(first, begin), *range(part.last + 1, last + 1)))
        draft.lost.difference_update(above)
        inner = without_leading_blanks(draft, settled.lead)
        after = without_trailing_blanks(draft, settled.footer)
        draft.lose({*settled.lead, *settled.footer}.difference(inner, after))
        return (*lead, *above, *inner), after

    def _take_subject(self, node: ast.Match, last: int, lead: Lines) -> tuple[Lines, Lines]:
        draft = self.draft
        start = draft.range(node)[0]
        tokens = draft.tokens(start, draft.begin(node.cases[0].body[0]))
        end = draft.range(node.subject)[1]
        colon = tokens.at(end)
        while tokens.rows[colon].text != ":":
            colon += 1
        Expressions(draft, tokens).visit(node.subject)
        first, line = tokens.rows[1], node.lineno
        begin = first.start
        draft.cut(start, begin)
        bottom = line + draft.text.count("\n", start, tokens.rows[colon].end)
        draft.cut(tokens.rows[colon - 1].end, draft.offsets[bottom - 1] + len(draft.line(bottom).rstrip("\r\n")))
        draft.lose(range(bottom + 1, last + 1))
        return lead, ()
