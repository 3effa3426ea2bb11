"""The edits of one file, looked up by where their nodes stand, and which of them were applied.

What can go wrong is always a fault of shrinker itself, never of the input.
"""

import ast
from collections.abc import Iterable

from shrinker.emit.rewrite.patches import Patches
from shrinker.emit.rewrite.source import Source
from shrinker.syntax.ranges import Placed, meets, span
from shrinker.values.edits import (
    DropElement,
    DropStatement,
    DropTail,
    Edit,
    Guard,
    Literal,
    Raise,
    Refuse,
    Span,
    TakeBlock,
    TakeOperand,
    refusal_line,
)


class RewriteError(RuntimeError):
    """An edit that cannot be written as Python; the message names line and column of the file."""


class Sites:
    """Where the edits of a file go."""

    def __init__(self, edits: Iterable[Edit], source: Source) -> None:
        self.source = source
        self.patches = Patches(source)
        found = set(edits)
        added = {edit for edit in found if isinstance(edit, Refuse | Guard)}
        for where, line in sorted((edit.span, refusal_line(edit)) for edit in added):
            start = source.starts[where.line]
            self.patches.replace(start, start, f"{source.indent(where.line)}{line}{source.newline}")
        self._pending = dict.fromkeys(sorted(found - added, key=lambda edit: edit.span))
        self._statements: dict[tuple[int, int], list[Edit]] = {}
        self._expressions: dict[Span, list[Literal | TakeOperand]] = {}
        self._elements: set[DropElement] = set()
        for edit in self._pending:
            match edit:
                case Literal() | TakeOperand():
                    self._expressions.setdefault(edit.span, []).append(edit)
                case DropElement():
                    self._elements.add(edit)
                case _:
                    self._statements.setdefault((edit.span.line, edit.span.col), []).append(edit)
        self._lines = sorted({edit.span.line for edit in self._pending})

    def touched(self, node: Placed) -> bool:
        """True when an edit begins on a line of the node."""
        return meets(self._lines, node)

    def statement(self, node: ast.stmt) -> list[Edit]:
        """Edits of the statement that begins where `node` does."""
        return self._statements.get((node.lineno, node.col_offset), [])

    def decisive(self, node: ast.stmt) -> Edit | None:
        """The edit that settles a statement when several name it: the one that deletes most; the others are void."""
        edits = self.statement(node)
        kinds = (Raise, DropTail, DropStatement, TakeBlock)
        found = next((edit for kind in kinds for edit in edits if isinstance(edit, kind)), None)
        for edit in edits if found is not None else ():
            self.applied(edit)
        return found

    def expression(self, node: ast.expr) -> Literal | TakeOperand | None:
        """The edit that replaces the expression; a literal wins over an operand."""
        found = self._expressions.get(span(node), [])
        for edit in found:
            self.applied(edit)
        return next((e for e in found if isinstance(e, Literal)), found[0] if found else None)

    def drops(self, container: str, where: Span) -> bool:
        """True when an element is to be dropped; marks it as applied."""
        edit = DropElement(where, container)
        self.applied(edit)
        return edit in self._elements

    def applied(self, edit: Edit) -> None:
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
