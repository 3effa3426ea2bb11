"""Literal and TakeOperand: an expression becomes a constant, or one of its children.

And the parentheses that what is left needs.
"""

import ast
from contextlib import suppress
from typing import Any

import libcst as cst

from shrinker.emit.rewrite.items import has_comment
from shrinker.emit.rewrite.named import Editing
from shrinker.values.edits import Literal, TakeOperand

_ANY: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.If: ("test",),
    cst.While: ("test",),
    cst.Assert: ("test",),
    cst.Assign: ("value",),
    cst.AnnAssign: ("value",),
    cst.AugAssign: ("value",),
    cst.Return: ("value",),
    cst.Arg: ("value",),
    cst.Element: ("value",),
    cst.DictElement: ("value",),
    cst.Param: ("default",),
}
"""Where any expression may stand without parentheses, unless it spans lines."""
_TIGHT: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.BooleanOperation: ("left", "right"),
    cst.UnaryOperation: ("expression",),
    cst.BinaryOperation: ("left", "right"),
    cst.Comparison: ("left",),
    cst.ComparisonTarget: ("comparator",),
    cst.IfExp: ("body", "test", "orelse"),
    cst.Attribute: ("value",),
    cst.Subscript: ("value",),
    cst.Call: ("func",),
}
"""Where an atom may."""
_ATOMS = (
    cst.Name,
    cst.Attribute,
    cst.Call,
    cst.Subscript,
    cst.BaseString,
    cst.List,
    cst.Set,
    cst.Dict,
)


class Expressions(Editing):
    """Replaces expressions."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._any: set[cst.CSTNode] = set()
        self._tight: set[cst.CSTNode] = set()

    def on_visit(self, node: cst.CSTNode) -> bool:
        self._any.update(getattr(node, field) for field in _ANY.get(type(node), ()))
        self._tight.update(getattr(node, field) for field in _TIGHT.get(type(node), ()))
        if (edit := self.edit_of(node, TakeOperand)) is not None:
            taken = getattr(node, edit.child, None)
            if not isinstance(taken, cst.BaseExpression):
                raise self.error(node, f"{type(node).__name__} has no child {edit.child!r}")
            self.skip(*(child for child in node.children if child is not taken))
        return super().on_visit(node)

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        edit = self.edit_of(original_node, Literal, TakeOperand)
        if isinstance(edit, Literal):
            return self.replace(original_node, updated_node, cst.parse_expression(edit.text))
        if isinstance(edit, TakeOperand):
            return self.replace(original_node, updated_node, getattr(updated_node, edit.child))
        return super().on_leave(original_node, updated_node)

    def replace(self, original: Any, outer: Any, left: Any) -> Any:
        """Put what is left of an expression in its place, within its parentheses where it needs
        them.

        Args:
            original: the expression as upstream has it, whose place is known.
            outer: the same with its parentheses as they are now.
            left: what takes its place.
        """
        if not outer.lpar or not self._needs_parentheses(original, outer, left):
            return left
        return left.with_changes(lpar=[*outer.lpar, *left.lpar], rpar=[*left.rpar, *outer.rpar])

    def _needs_parentheses(self, original: Any, outer: Any, left: Any) -> bool:
        spaces = [bracket.whitespace_after for bracket in outer.lpar]
        spaces += [bracket.whitespace_before for bracket in outer.rpar]
        if any(map(has_comment, spaces)):
            return True
        if left.lpar:
            return False
        bare = original in self._any or (original in self._tight and isinstance(left, _ATOMS))
        if not bare or self._touches_a_word(original):
            return True
        code = cst.Module([]).code_for_node(left)
        if "\n" not in code and "\r" not in code:
            return False
        # A string or brackets of its own may span lines.
        with suppress(SyntaxError):
            ast.parse(code, mode="eval")
            return False
        return True

    def _touches_a_word(self, node: Any) -> bool:
        """Say whether a letter stands directly before or behind the parentheses of an expression,
        as in `not(x)`.
        """
        start = self.position(node.lpar[0]).start
        end = self.position(node.rpar[-1]).end
        before = self.lines[start.line - 1][: start.column]
        after = self.lines[end.line - 1][end.column :]
        return before[-1:].isalnum() or after[:1].isalnum()
