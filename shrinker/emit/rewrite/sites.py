"""The edits of one chunk, looked up by position, and which of them were applied or dropped with their surroundings.

What can go wrong is always a fault of shrinker itself, never of the input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import libcst as cst
from libcst.metadata import CodeRange

from shrinker.emit.rewrite.positions import Key, Point, Source
from shrinker.values.edits import (
    DropAlias,
    DropElement,
    DropStatement,
    DropTail,
    Edit,
    Literal,
    Raise,
    TakeBlock,
    TakeOperand,
)

_PARENTHESIZED_SPAN = (cst.Tuple, cst.GeneratorExp)
"""Nodes whose `ast` span includes their parentheses; LibCST's never does."""


class RewriteError(RuntimeError):
    """An edit that cannot be written as Python; the message names line and column of the file."""


class UnappliedEdit(RewriteError):
    """An edit whose node the file does not have, outside of every dropped region."""

    def __init__(self, edit: Edit) -> None:
        span = edit.span
        super().__init__(f"line {span.line}, column {span.col}: no node to apply {edit!r} to")
        self.edit = edit

    def __reduce__(self) -> tuple[type[UnappliedEdit], tuple[Edit]]:
        # It travels between processes.
        return type(self), (self.edit,)


class Sites:
    """Where the edits of a chunk go."""

    def __init__(
        self, edits: Iterable[Edit], source: Source, positions: Mapping[cst.CSTNode, CodeRange], offset: int
    ) -> None:
        """
        Args:
            positions: of every node of the chunk's module, from LibCST's PositionProvider.
            offset: line of the file minus line of the chunk's module.
        """
        self._positions = positions
        self._offset = offset
        self._source = source
        self._pending: dict[Edit, Point] = {}
        self._statements: dict[Point, list[Edit]] = {}
        self._expressions: dict[Key, list[Literal | TakeOperand]] = {}
        self._elements: dict[tuple[str, Key], DropElement] = {}
        self._aliases: dict[Key, DropAlias] = {}
        self._skipped: set[int] = set()
        self.inner: set[int] = set()
        """Left parts of chains (`a and b` in `a and b and c`), which are no nodes of `ast`."""
        self.free: set[int] = set()
        """Expressions whose parentheses only matter when they span lines: conditions, values, arguments."""
        for edit in edits:
            key = source.key(edit.span)
            self._pending[edit] = key[:2]
            match edit:
                case Literal() | TakeOperand():
                    self._expressions.setdefault(key, []).append(edit)
                case DropElement():
                    self._elements[edit.container, key] = edit
                case DropAlias():
                    self._aliases[key] = edit
                case _:
                    self._statements.setdefault(key[:2], []).append(edit)
        self.lines = sorted({point[0] for point in self._pending.values()})

    # Positions

    def range(self, node: cst.CSTNode) -> Key:
        """Start and end in the file, parentheses left out."""
        where = self._positions[node]
        return (where.start.line + self._offset, where.start.column, where.end.line + self._offset, where.end.column)

    def extent(self, node: cst.CSTNode) -> Key:
        """Start and end in the file, parentheses and decorators included."""
        found = self.range(node)
        if isinstance(node, cst.BaseExpression) and node.lpar:
            return self.range(node.lpar[0])[:2] + self.range(node.rpar[-1])[2:]
        if isinstance(node, cst.IndentedBlock):
            return self.extent(node.body[0])[:2] + found[2:]
        if isinstance(node, cst.FunctionDef | cst.ClassDef) and node.decorators:
            return self.range(node.decorators[0])[:2] + found[2:]
        return found

    def key(self, node: cst.CSTNode) -> Key:
        """The span that `ast` gives the node."""
        if isinstance(node, _PARENTHESIZED_SPAN) and node.lpar:
            return self.range(node.lpar[-1])[:2] + self.range(node.rpar[0])[2:]
        return self.range(node)

    def around(self, node: cst.BaseExpression) -> tuple[str, str]:
        """The characters before and after a node with its parentheses; empty at a line's end."""
        line, column, end_line, end_column = self.extent(node)
        before, after = self._source.lines[line - 1], self._source.lines[end_line - 1]
        return before[max(column - 1, 0) : column], after[end_column : end_column + 1]

    # Edits

    def statement(self, node: cst.CSTNode) -> list[Edit]:
        """Edits of the statement that begins where `node` does."""
        return self._statements.get(self.range(node)[:2], [])

    def decisive(self, node: cst.CSTNode) -> Edit | None:
        """The edit that settles a statement when several name it: the one that deletes most."""
        kinds = (Raise, DropTail, DropStatement, TakeBlock)
        return next((edit for kind in kinds for edit in self.statement(node) if isinstance(edit, kind)), None)

    def expression(self, node: cst.BaseExpression) -> Literal | TakeOperand | None:
        """The edit that replaces the expression; a literal wins over an operand."""
        found = self._expressions.get(self.key(node))
        if not found:
            return None
        for edit in found:
            self.applied(edit)
        return next((e for e in found if isinstance(e, Literal)), found[0])

    def element(self, container: str, *candidates: cst.CSTNode) -> bool:
        """True when one of the nodes that stand for an element is to be dropped; marks it as applied."""
        for node in candidates:
            edit = self._elements.get((container, self.key(node)))
            if edit is not None:
                self.applied(edit)
                self.skip(candidates[0])
                return True
        return False

    def is_named(self, container: str, node: cst.CSTNode) -> bool:
        """True when an edit replaces the expression, or drops it as an element."""
        key = self.key(node)
        return key in self._expressions or (container, key) in self._elements

    def void_element(self, container: str, node: cst.CSTNode) -> None:
        """The element is kept by an edit of its container: that it was to be dropped no longer matters."""
        edit = self._elements.pop((container, self.key(node)), None)
        if edit is not None:
            self.applied(edit)

    def alias(self, node: cst.ImportAlias) -> bool:
        """True when the alias is to be dropped; marks it as applied."""
        edit = self._aliases.get(self.key(node))
        if edit is None:
            return False
        self.applied(edit)
        return True

    # Bookkeeping

    def applied(self, edit: Edit) -> None:
        """Cross an edit off."""
        self._pending.pop(edit, None)

    def skip(self, node: cst.CSTNode) -> None:
        """The node is dropped: do not visit it; the edits in it are void."""
        self._skipped.add(id(node))
        line, column, end_line, end_column = self.extent(node)
        void = [e for e, point in self._pending.items() if (line, column) <= point < (end_line, end_column)]
        for edit in void:
            del self._pending[edit]

    def is_skipped(self, node: cst.CSTNode) -> bool:
        """True for a node that `skip` was called on."""
        return id(node) in self._skipped

    def finish(self) -> None:
        """Raise UnappliedEdit when an edit is left."""
        for edit in self._pending:
            raise UnappliedEdit(edit)

    def error(self, node: cst.CSTNode, reason: str) -> RewriteError:
        """An error that names the node's place in the file."""
        line, column = self.range(node)[:2]
        return RewriteError(f"line {line}, column {column}: {reason}")
