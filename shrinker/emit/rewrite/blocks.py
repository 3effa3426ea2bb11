"""Statements that go, or make place for the named error or for an import of a module alone."""

import json
from collections.abc import Sequence
from itertools import dropwhile
from typing import Any, TypeVar

import libcst as cst

from shrinker.emit.rewrite.named import Editing
from shrinker.values.edits import DropStatement, DropTail, LoadModule, Raise

Block = TypeVar("Block", cst.Module, cst.IndentedBlock)
Line = TypeVar("Line", cst.SimpleStatementLine, cst.SimpleStatementSuite)


class Blocks(Editing):
    """Removes statements. LibCST writes `pass` into a block that is left without any."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._unreached: set[cst.CSTNode] = set()
        """Statements behind one that ends their block."""
        self._gone: set[cst.CSTNode] = set()
        """Statements that were removed, and lines of which all were."""
        self.footers: dict[cst.CSTNode, Sequence[cst.EmptyLine]] = {}
        """The comments below a block that took the place of its statement, by the block's last
        statement.
        """

    def visit_Module(self, node: cst.Module) -> None:
        self._end(node.body)

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> None:
        self._end(node.body)

    def visit_SimpleStatementSuite(self, node: cst.SimpleStatementSuite) -> None:
        self._end(node.body)

    def _end(self, body: Sequence[cst.CSTNode]) -> None:
        """Mark what follows an edit that ends a block, in its line and below."""
        unreached: list[cst.CSTNode] = []
        ends = False
        for node in body:
            if ends:
                unreached.append(node)
                continue
            for part in node.body if isinstance(node, cst.SimpleStatementLine) else [node]:
                if ends:
                    unreached.append(part)
                ends = ends or self.edit_of(part, Raise, DropTail) is not None
        self._unreached.update(unreached)
        self.skip(*unreached)

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        """Remove a statement, or put another one in its place, with the comment above it."""
        edit = self.edit_of(original_node, Raise, DropTail, DropStatement, LoadModule)
        if original_node in self._unreached or isinstance(edit, DropTail | DropStatement):
            self._gone.add(original_node)
            return cst.RemoveFromParent()
        if isinstance(edit, LoadModule):
            load = cst.ensure_type(
                cst.parse_statement(f"import {edit.module}"), cst.SimpleStatementLine
            )
            return load.body[0].with_changes(semicolon=updated_node.semicolon)
        if not isinstance(edit, Raise):
            return super().on_leave(original_node, updated_node)
        line = cst.ensure_type(cst.parse_statement(_error(edit)), cst.SimpleStatementLine)
        if isinstance(updated_node, cst.BaseSmallStatement):
            return line.body[0]
        return line.with_changes(leading_lines=updated_node.leading_lines)

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        return self._settled(original_node, updated_node)

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        return self._settled(original_node, updated_node)

    def _settled(self, original_node: Block, updated_node: Block) -> Block:
        """Let the first statement begin the block; put comments below a taken block above what
        follows.
        """
        body: list[Any] = []
        node: Any
        below: Sequence[cst.EmptyLine] = ()
        for node in updated_node.body:
            lines = [*below, *node.leading_lines]
            begins = not body and original_node.body[0] in self._gone
            if begins:
                lines = without_blanks(lines)
            body.append(node.with_changes(leading_lines=lines) if begins or below else node)
            below = self.footers.get(node, ())
        return updated_node.with_changes(body=body, footer=[*below, *updated_node.footer])

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.RemovalSentinel:
        if not updated_node.body:
            self._gone.add(original_node)
            return cst.RemoveFromParent()
        return _closed(original_node, updated_node)

    def leave_SimpleStatementSuite(
        self, original_node: cst.SimpleStatementSuite, updated_node: cst.SimpleStatementSuite
    ) -> cst.SimpleStatementSuite:
        return _closed(original_node, updated_node)


def without_blanks(lines: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    """Give comment lines without the blank lines above the first of them."""
    return [*dropwhile(lambda line: line.comment is None, lines)]


def _closed(original: Line, updated: Line) -> Line:
    """Let the last small statement of a line end as upstream's did: with or without a semicolon."""
    if len(updated.body) == len(original.body) or not updated.body:
        return updated
    *others, last = updated.body
    return updated.with_changes(
        body=[*others, last.with_changes(semicolon=original.body[-1].semicolon)]
    )


def _error(edit: Raise) -> str:
    """``raise RuntimeError("<message>")``."""
    # JSON's escapes are Python's too, and the quotes are the ones upstream uses.
    literal = json.dumps(edit.message, ensure_ascii=False).replace("\x7f", "\\x7f")
    return f"raise {edit.error}({literal})"
