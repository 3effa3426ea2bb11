"""The edits of one file, looked up by where their nodes stand, and which of them were applied.

What can go wrong is always a fault of shrinker itself, never of the input.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable

from shrinker.emit.rewrite.patches import Patches
from shrinker.emit.rewrite.source import Source
from shrinker.syntax.ranges import Placed, meets, span
from shrinker.values import edits
from shrinker.values.edits import refusal_line


class RewriteError(RuntimeError):
    """An edit that cannot be written as Python; the message names line and column of the file."""


class Sites:
    """Where the edits of a file go."""

    def __init__(self, decided: Iterable[edits.Edit], source: Source) -> None:
        self.source = source
        self.patches = Patches(source)
        self._edits = frozenset(decided)
        added = {edit for edit in self._edits if isinstance(edit, edits.Refuse | edits.Guard)}
        for where, line in sorted((edit.span, refusal_line(edit)) for edit in added):
            start = source.starts[where.line]
            self.patches.replace(start, start, f"{source.indent(where.line)}{line}{source.newline}")
        self._pending = dict.fromkeys(sorted(self._edits - added, key=lambda edit: edit.span))
        self._at: defaultdict[tuple[int, int], list[edits.Edit]] = defaultdict(list)
        for edit in self._pending:
            self._at[edit.span.line, edit.span.col].append(edit)
        self._lines = sorted({line for line, _ in self._at})

    def touched(self, node: Placed) -> bool:
        """True when an edit begins on a line of the node."""
        return meets(self._lines, node)

    def at(self, node: ast.stmt | ast.expr) -> list[edits.Edit]:
        """Edits of what begins where `node` does."""
        return self._at.get((node.lineno, node.col_offset), [])

    def decisive(self, node: ast.stmt) -> edits.Edit | None:
        """The edit that settles a statement when several name it: the one that deletes most; the others are void."""
        kinds = (edits.Raise, edits.DropTail, edits.DropStatement, edits.TakeBlock)
        found = next((edit for kind in kinds for edit in self.at(node) if isinstance(edit, kind)), None)
        for edit in self.at(node) if found is not None else ():
            self.applied(edit)
        return found

    def expression(self, node: ast.expr) -> edits.Literal | edits.TakeOperand | None:
        """The edit that replaces the expression; a literal wins over an operand."""
        found: edits.Literal | edits.TakeOperand | None = None
        for edit in self.at(node):
            if isinstance(edit, edits.Literal | edits.TakeOperand) and edit.span == span(node):
                self.applied(edit)
                found = edit if found is None or isinstance(edit, edits.Literal) else found
        return found

    def drops(self, container: str, node: Placed) -> bool:
        """True when an element is to be dropped; marks it as applied."""
        edit = edits.DropElement(span(node), container)
        self.applied(edit)
        return edit in self._edits

    def applied(self, edit: edits.Edit) -> None:
        """Cross an edit off."""
        self._pending.pop(edit, None)

    def finish(self) -> None:
        """Raise RewriteError when an edit is left whose node the file does not have; one in what goes is void."""
        for edit in self._pending:
            where = edit.span
            if where.line > len(self.source.lines) or not self.patches.drops(self.source.point(where.line, where.col)):
                raise RewriteError(f"line {where.line}, column {where.col}: no node to apply {edit!r} to")

    def error(self, node: Placed, reason: str) -> RewriteError:
        """An error that names the node's place in the file."""
        return RewriteError(f"line {node.lineno}, column {node.col_offset}: {reason}")
