"""DropStatement, DropTail, TakeBlock, DropElse and Raise: what becomes of the statements of a block, and what a block looks like afterwards.

Lines go and are dedented. Added are `pass`, the named error, and the `else` that a true `elif` becomes.
"""

import ast
import json
from collections.abc import Sequence
from typing import NamedTuple

from shrinker.emit.rewrite.expressions import Expressions
from shrinker.emit.rewrite.layout import Clause, Layout, Lines, Row
from shrinker.emit.rewrite.sites import Sites
from shrinker.syntax.ranges import first_line
from shrinker.values.edits import DropElse, DropStatement, DropTail, Raise, TakeBlock

_SETTLING = (Raise, DropTail, DropStatement, TakeBlock)
"""What deletes most comes first."""


class Left(NamedTuple):
    """What is left of a statement, of a line of small statements, or of a block: the comment and blank lines at its ends."""

    lead: Lines | None
    """Above; None when nothing else is left."""
    footer: Lines = ()
    """Below."""
    cut: bool = False
    """Everything after it in the block goes."""


class Statements:
    """Applies the edits of statements."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._source = sites.source
        self._patches = sites.patches
        self._layout = Layout(sites.patches)
        self._expressions = Expressions(sites)

    def module(self, tree: ast.Module) -> None:
        """Apply all edits to a file."""
        if tree.body:
            self._block(tree.body, self._source.preamble + 1, len(self._source.lines), is_module=True)

    def _block(self, body: list[ast.stmt], bottom: int, end: int, *, is_module: bool = False) -> Left:
        """Apply the edits to the statements of a block, whose lines lie between `bottom`, the first that may be one of them, and `end`, the last."""
        layout, rows = self._layout, self._layout.rows(body)
        indent = self._source.indent(rows[0].first)
        first: Lines | None = None  # Above the first statement that stays.
        waiting: Lines = ()
        seam = False  # A row went between `waiting` and what comes next.
        for index, row in enumerate(rows):
            lead = layout.above(row.first, bottom)
            bottom = row.last + 1
            left = self._row(row, lead, indent)
            above = left.lead
            if above is None:
                # Comments above the first statement of a file are the file's.
                kept = lead if is_module and index == 0 else layout.detached(lead, indent)
                above = () if left.cut else kept
            waiting = layout.join(waiting, above, opens=first is None) if seam else [*waiting, *above]
            seam = left.lead is None
            if left.lead is not None:
                first = waiting if first is None else first
                waiting = left.footer
            if left.cut:
                self._patches.drop_lines(range(bottom, rows[-1].last + 1))
                bottom = rows[-1].last + 1
                break
        footer = [*range(bottom, end + 1)]
        if first is None and not is_module:
            first, waiting = layout.without_trailing_blanks(waiting), ()
            start = first[-1] + 1 if first else rows[0].first
            self._patches.replace_lines(start, rows[-1].last, f"{indent}pass{self._source.newline}")
        return Left(first or (), [*layout.without_trailing_blanks(waiting), *footer])

    def _row(self, row: Row, lead: Lines, indent: str) -> Left:
        node = row.body[0]
        if not any(map(self._sites.touched, row.body)):
            return Left(lead)
        if not self._layout.clauses(node):
            return self._line(row, lead, indent)
        edit = self._sites.decisive(node, *_SETTLING)
        if isinstance(edit, TakeBlock):
            return self._take(node, edit, row, lead, indent)
        if edit is not None:
            return self._gone(row.first, row.last, edit, lead, indent)
        self._clauses(node)
        return Left(lead)

    def _gone(self, first: int, last: int, edit: object, lead: Lines, indent: str) -> Left:
        """Whole lines go, and a named error may take their place."""
        if isinstance(edit, Raise):
            self._patches.replace_lines(first, last, f"{indent}{_error(edit)}{self._source.newline}")
            return Left(self._layout.detached(lead, indent), cut=True)
        self._patches.drop_lines(range(first, last + 1))
        if isinstance(edit, DropTail):
            # With all that is above it.
            self._patches.drop_lines(lead)
        return Left(None, cut=isinstance(edit, DropTail))

    def _line(self, row: Row, lead: Lines, indent: str) -> Left:
        """What is left of small statements that fill their lines."""
        keep, edit = self._small(row.body)
        if not keep:
            return self._gone(row.first, row.last, edit, lead, indent)
        self._trim(row.body, keep, edit)
        return Left(lead, cut=isinstance(edit, DropTail | Raise))

    def _small(self, body: Sequence[ast.stmt]) -> tuple[list[ast.stmt], object]:
        """The small statements of one line that stay, and the edit that decides about the others."""
        keep: list[ast.stmt] = []
        last: object = None
        for node in body:
            edit = self._sites.decisive(node, *_SETTLING)
            if isinstance(edit, TakeBlock):
                raise self._sites.error(node, "TakeBlock on a statement that has no blocks")
            if edit is None:
                keep.append(node)
                if self._sites.touched(node):
                    self._expressions.statement(node)
                continue
            last = edit
            if not isinstance(edit, DropStatement):
                break
        return keep, last

    def _trim(self, body: Sequence[ast.stmt], keep: list[ast.stmt], edit: object) -> None:
        """Take small statements out of their line."""
        if len(keep) == len(body):
            return
        places = [self._source.place(node) for node in body]
        start, end = places[0][0], places[-1][1]
        # One more semicolon may follow, and nothing else.
        rest = self._source.tokens(end, self._source.starts[1 + (body[-1].end_lineno or 0)])
        end = max((last for _, last in rest), default=end)
        following = [*(first for first, _ in places[1:]), end]
        left = [
            (first, last if node is keep[-1] else then)
            for node, (first, last), then in zip(body, places, following, strict=True)
            if node in keep
        ]
        self._patches.drop(start, end, left)
        if isinstance(edit, Raise):
            self._patches.replace(end, end, f"; {_error(edit)}" if keep else _error(edit))
        elif not keep:
            self._patches.replace(end, end, "pass")

    def _inside(self, clause: Clause) -> Left:
        """Apply the edits to the block of a clause."""
        if clause.inline:
            keep, edit = self._small(clause.body)
            self._trim(clause.body, keep, edit)
            return Left(())
        return self._block(clause.body, clause.top, clause.last)

    def _clauses(self, node: ast.stmt) -> None:
        """Apply the edits to a statement that stays."""
        gone = self._sites.decisive(node, DropElse)
        self._expressions.statement(node)
        for clause in self._layout.clauses(node):
            if gone and clause.name == "orelse":
                self._patches.drop_lines([*clause.lead, *range(clause.first, clause.last + 1)])
            elif any(map(self._sites.touched, clause.body)):
                self._stays(clause)

    def _stays(self, found: Clause) -> None:
        """Apply the edits to a clause of a statement that stays."""
        _, clause, edit = self._follow(found)
        if clause is None:
            return
        if isinstance(edit, Raise):
            indent, newline = self._source.indent(clause.first), self._source.newline
            text = f"{indent}else:{newline}{indent}    {_error(edit)}{newline}"
            self._patches.replace_lines(clause.first, clause.last, text)
        elif clause.arm is not None:
            self._clauses(clause.arm)
        else:
            self._inside(clause)

    def _follow(self, clause: Clause) -> tuple[Lines, Clause | None, Raise | None]:
        """What is left of a clause when edits have settled the `elif` that it is: its lines above, the clause, an error in its place."""
        lead, indent = clause.lead, self._source.indent(clause.first)
        while clause.arm is not None and (edit := self._sites.decisive(clause.arm, *_SETTLING)) is not None:
            arm = clause.arm
            if isinstance(edit, TakeBlock) and edit.block not in ("body", "orelse"):
                raise self._sites.error(arm, f"an `elif` has no block {edit.block!r}")
            if isinstance(edit, Raise):
                return self._layout.detached(lead, indent), clause, edit
            body, *others = self._layout.clauses(arm)
            if isinstance(edit, TakeBlock) and edit.block == "body":
                self._patches.drop_lines(range(body.last + 1, clause.last + 1))
                start, end = self._source.place(arm)[0], self._source.place(body.body[0])[0]
                _, test = self._source.parentheses(self._source.place(arm.test), start, end)
                self._patches.replace(start, test[1], "else")
                return lead, body, None
            if not others or not isinstance(edit, TakeBlock):
                self._patches.drop_lines([*lead, *range(clause.first, clause.last + 1)])
                return (), None, None
            self._patches.drop_lines(range(clause.first, body.last + 1))
            clause = others[0]
            lead = self._layout.join(self._layout.detached(lead, indent), clause.lead)
        return lead, clause, None

    def _take(self, node: ast.stmt, edit: TakeBlock, row: Row, lead: Lines, indent: str) -> Left:
        """One block takes the place of its statement."""
        clause = next((c for c in self._layout.clauses(node) if c.name == edit.block), None)
        if clause is None and (edit.block != "orelse" or not hasattr(node, "orelse")):
            raise self._sites.error(node, f"{type(node).__name__} has no block {edit.block!r}")
        own, clause, error = self._follow(clause) if clause is not None else ((), None, None)
        if clause is None:
            return self._gone(row.first, row.last, None, lead, indent)
        own = self._layout.without_leading_blanks(own)
        self._patches.drop_lines({*range(row.first, clause.first)}.difference(clause.lead, own))
        if error is not None:
            self._gone(clause.first, row.last, error, (), indent)
            return Left([*lead, *own])
        if clause.arm is not None:
            start = self._source.place(clause.arm)[0]
            self._patches.replace(start, start + len("el"), "")
            self._clauses(clause.arm)
            return Left([*lead, *own])
        inside = self._inside(clause)
        self._patches.drop_lines(range(clause.last + 1, row.last + 1))
        if clause.inline:
            start = self._source.starts[clause.first] + len(indent)
            self._patches.drop(start, self._source.place(clause.body[0])[0])
            return Left([*lead, *own])
        self._patches.drop_lines(range(clause.first, clause.top))
        old = self._source.indent(first_line(clause.body[0]))
        self._patches.dedent(clause.body, range(clause.top, clause.last + 1), old, indent)
        above = [*lead, *own, *self._layout.without_leading_blanks(inside.lead or ())]
        return Left(above, self._layout.without_trailing_blanks(inside.footer))


def _error(edit: Raise) -> str:
    """``raise RuntimeError("<message>")``."""
    # JSON's escapes are Python's too, and the quotes are the ones upstream uses.
    literal = json.dumps(edit.message, ensure_ascii=False).replace("\x7f", "\\x7f")
    return f"raise {edit.error}({literal})"
