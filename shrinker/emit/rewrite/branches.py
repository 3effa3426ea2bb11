"""TakeBlock and DropElse: what is left of a compound statement whose way is decided."""

from collections.abc import Sequence
from typing import Any

import libcst as cst

from shrinker.emit.rewrite.blocks import Blocks, without_blanks
from shrinker.values.edits import DropElse, TakeBlock

Compound = cst.If | cst.While | cst.For | cst.Try | cst.Match
Left = Any
"""What becomes of a statement: one, those of a block, nothing; of an `elif` also the `else`."""


class Branches(Blocks):
    """Puts a block in the place of the statement that holds it."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._arms: set[cst.CSTNode] = set()
        """Every `if` that is an `elif`."""

    def visit_If(self, node: cst.If) -> None:
        if isinstance(node.orelse, cst.If):
            self._arms.add(node.orelse)
        self._skip_others(node)

    def visit_While(self, node: cst.While) -> None:
        self._skip_others(node)

    def visit_For(self, node: cst.For) -> None:
        self._skip_others(node)

    def visit_Try(self, node: cst.Try) -> None:
        self._skip_others(node)

    def visit_Match(self, node: cst.Match) -> None:
        self._skip_others(node)

    def _skip_others(self, node: Compound) -> None:
        """Take no edits of the parts of a statement that go."""
        if (edit := self.edit_of(node, TakeBlock)) is not None:
            taken = self._part(node, edit)
            self.skip(*(child for child in node.children if child is not taken))
        elif not isinstance(node, cst.Match) and self.edit_of(node, DropElse) is not None:
            self.skip(node.orelse)

    def _part(self, node: Compound, edit: TakeBlock) -> cst.CSTNode | None:
        """Find the child of a statement that has the block of an edit."""
        name, _, number = edit.block.partition(":")
        if number and isinstance(node, cst.Try):
            return node.handlers[int(number)]
        if number and isinstance(node, cst.Match):
            return node.cases[int(number)]
        if not hasattr(node, name):
            raise self.error(node, f"{type(node).__name__} has no block {edit.block!r}")
        part: cst.CSTNode | None = getattr(node, name)
        return part

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        """Let the named error that takes the place of an `elif` stand in the `else`."""
        left = super().on_leave(original_node, updated_node)
        if original_node not in self._arms or not isinstance(left, cst.SimpleStatementLine):
            return left
        block = (
            original_node.body
            if isinstance(original_node.body, cst.IndentedBlock)
            else cst.IndentedBlock(())
        )
        error = left.with_changes(leading_lines=())
        return cst.Else(block.with_changes(body=[error], footer=()), left.leading_lines)

    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> Left:
        if original_node in self._arms:
            return self._leave_arm(original_node, updated_node)
        return self._leave(original_node, updated_node)

    def leave_While(self, original_node: cst.While, updated_node: cst.While) -> Left:
        return self._leave(original_node, updated_node)

    def leave_For(self, original_node: cst.For, updated_node: cst.For) -> Left:
        return self._leave(original_node, updated_node)

    def leave_Try(self, original_node: cst.Try, updated_node: cst.Try) -> Left:
        return self._leave(original_node, updated_node)

    def leave_Match(self, original_node: cst.Match, updated_node: cst.Match) -> Left:
        return self._leave(original_node, updated_node)

    def _leave(self, original_node: Compound, updated_node: Any) -> Left:
        edit = self.edit_of(original_node, TakeBlock)
        if edit is None:
            return self._without_else(original_node, updated_node)
        part = self._part(updated_node, edit)
        if part is None:
            return cst.RemoveFromParent()
        if isinstance(part, cst.If):
            # An `elif` that takes the place of its `if`.
            above = [*updated_node.leading_lines, *without_blanks(part.leading_lines)]
            return part.with_changes(leading_lines=above)
        return cst.FlattenSentinel(self._unwrap(part, updated_node.leading_lines))

    def _leave_arm(self, original_node: cst.If, updated_node: cst.If) -> Left:
        """An `elif` stays, becomes the `else`, or leaves what follows it."""
        edit = self.edit_of(original_node, TakeBlock)
        if edit is None:
            return self._without_else(original_node, updated_node)
        if edit.block == "body":
            return cst.Else(updated_node.body, updated_node.leading_lines)
        return updated_node.orelse or cst.RemoveFromParent()

    def _without_else(self, original_node: Compound, updated_node: Any) -> Left:
        if self.edit_of(original_node, DropElse) is None:
            return updated_node
        return updated_node.with_changes(orelse=None)

    def _unwrap(self, part: Any, above: Sequence[cst.EmptyLine]) -> list[Any]:
        """Give the statements of a block, the first one with the comments above what they
        replace.
        """
        above = [*above, *without_blanks(getattr(part, "leading_lines", ()))]
        block: Any = part if isinstance(part, cst.BaseSuite) else part.body
        if isinstance(block, cst.SimpleStatementSuite):
            return [cst.SimpleStatementLine(block.body, above, block.trailing_whitespace)]
        body = [*block.body] or [cst.SimpleStatementLine([cst.Pass()])]
        body[0] = body[0].with_changes(
            leading_lines=[*above, *without_blanks(body[0].leading_lines)]
        )
        self.footers[body[-1]] = block.footer
        return body
