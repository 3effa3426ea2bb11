"""Edits inside statements: Literal and TakeOperand, by which an expression becomes a constant or one of its children, and DropElement.

And which parentheses what is left keeps: those that make it bind as it did, join its lines, hold a comment, or keep it
apart from a word.
"""

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from shrinker.emit.rewrite.elements import Elements, Gap, drop_items, has_comment, parts, places_of, read_gap
from shrinker.emit.rewrite.sites import Sites
from shrinker.emit.rewrite.source import Place
from shrinker.syntax.imports import Import
from shrinker.syntax.ranges import Placed
from shrinker.syntax.walk import Definition
from shrinker.values.edits import Literal, TakeOperand

_DISPLAYS = ast.List | ast.Set | ast.Dict | ast.ListComp | ast.SetComp | ast.DictComp
_TIGHT = ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.JoinedStr | _DISPLAYS
"""Expressions that bind tighter than any operator, besides texts and named constants."""

_PLACES: dict[str, tuple[type[ast.AST], ...]] = {
    "test": (ast.If, ast.While, ast.Assert),
    "value": (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.keyword),
    "elts": (ast.List, ast.Set, ast.Tuple),
    "values": (ast.Dict,),
    "args": (ast.Call,),
    "bases": (ast.ClassDef,),
    "defaults": (ast.arguments,),
    "kw_defaults": (ast.arguments,),
}
_FREE = {(kind, field) for field, kinds in _PLACES.items() for kind in kinds}
"""Where any expression may stand without parentheses, unless it spans lines."""


class Piece(NamedTuple):
    """An expression and what is left of it."""

    inner: Place
    """Without its parentheses."""
    inside: Place
    """What the innermost of them hold."""
    place: Place
    """With all of them; a tuple's own are among them."""
    tight: bool
    """What is left binds tighter than any operator."""
    wrapped: bool
    """What is left stands in parentheses."""


class Expressions:
    """Applies the edits inside of statements."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._source = sites.source
        self._patches = sites.patches
        self._elements = Elements(sites)

    def statement(self, node: ast.stmt) -> None:
        """Apply the edits to a simple statement, or to the header of a compound one."""
        start, end = self._source.place(node)
        if isinstance(node, Import):
            self._elements.aliases(node)
        elif isinstance(node, Definition):
            self._elements.definition(node)
        self._inside(node, start, end)
        for handler in getattr(node, "handlers", ()):
            self._inside(handler, *self._source.place(handler))
        for case in getattr(node, "cases", ()):
            if case.guard is not None:
                self._expression(case.guard, self._source.place(case.pattern)[1], end, free=False)

    def _inside(self, node: ast.AST, start: int, end: int) -> None:
        """Apply the edits to the children of a node that goes from `start` to `end`."""
        for child, *bounds, free in self._children(node, start, end):
            if self._sites.touched(child) and not self._patches.drops(self._source.place(child)[0]):
                if isinstance(child, ast.expr):
                    self._expression(child, *bounds, free=free)
                else:
                    self._elements.annotation(child)
                    self._inside(child, *self._source.place(child))

    def _children(self, node: ast.AST, start: int, end: int) -> Iterator[tuple[Placed, int, int, bool]]:
        """Children from left to right: where parentheses around one may open and close, and whether it needs none."""
        found = sorted(
            ((self._source.place(child), child, held) for child, held in parts(node)), key=lambda row: row[0]
        )
        places = [place for place, _, _ in found]
        own = self._source.brackets(start, end, places) if isinstance(node, ast.Call | ast.ClassDef) else None
        lefts, rights = [start, *(last for _, last in places)], [*(first for first, _ in places[1:]), end]
        for (place, child, held), left, right in zip(found, lefts, rights, strict=False):
            if own is not None:
                # The brackets of a call are not around its only argument.
                inside = place[0] > own[0]
                left, right = (max(left, own[0] + 1), min(right, own[1])) if inside else (left, min(right, own[0]))
            yield child, left, right, held in _FREE

    def _has_own(self, node: ast.expr, place: Place) -> bool:
        """Whether parentheses are part of what a node is, as those of a tuple may be."""
        if isinstance(node, ast.GeneratorExp) or (isinstance(node, ast.Tuple) and not node.elts):
            return True
        if not isinstance(node, ast.Tuple) or self._source.text[place[0]] != "(":
            return False
        around = self._source.brackets(*place, [self._source.place(element) for element in node.elts])
        return around == (place[0], place[1] - 1)

    def _expression(self, node: ast.expr, left: int, right: int, *, free: bool) -> Piece:
        """Apply the edits to an expression.

        Args:
            left: parentheses around it do not open before this place.
            right: they do not close after this one.
            free: it needs no parentheses unless it spans lines.
        """
        start, end = self._source.place(node)
        inside, outer = self._source.parentheses((start, end), left, right)
        own = self._has_own(node, (start, end))
        inner = (start + own, end - own)
        tight = isinstance(node, _TIGHT) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str | bytes | bool | None)
        )
        piece = Piece(inner, inner if own else inside, outer, tight, outer != inner)
        if not self._sites.touched(node):
            return piece
        edit = self._sites.decisive(node, Literal, TakeOperand)
        if isinstance(edit, Literal):
            self._patches.replace(*inner, edit.text)
            return self._settle(piece, Piece(inner, inner, inner, True, False), free, self._gaps(piece))
        if isinstance(edit, TakeOperand):
            return self._settle(piece, self._operand(node, edit, start, end), free, self._gaps(piece))
        if isinstance(node, ast.BoolOp):
            return self._chain(node, piece, start, end, free)
        self._elements.expression(node, inner, own)
        self._inside(node, start, end)
        return piece

    def _operand(self, node: ast.expr, edit: TakeOperand, start: int, end: int) -> Piece:
        """The child that replaces an expression."""
        for child, *bounds, free in self._children(node, start, end):
            if child is getattr(node, edit.child, None) and isinstance(child, ast.expr):
                return self._expression(child, *bounds, free=free)
        raise self._sites.error(node, f"{type(node).__name__} has no child {edit.child!r}")

    def _gaps(self, piece: Piece) -> tuple[Gap, Gap]:
        """The white space within the innermost parentheses, which is none without them."""
        before, after = (piece.inside[0], piece.inner[0]), (piece.inner[1], piece.inside[1])
        return read_gap(self._source, *before), read_gap(self._source, *after)

    def _settle(self, piece: Piece, left: Piece, free: bool, gaps: Sequence[Gap]) -> Piece:
        """What is left of an expression takes its place, with the parentheses that it needs there, and what is left of the white space
        within the innermost of them."""
        wrapped = piece.wrapped and self._needs_parentheses(piece, left, free, gaps)
        if wrapped:
            self._patches.drop(*piece.inside, [*places_of(gaps[0]), left.place, *places_of(gaps[1])])
        else:
            self._patches.drop(*piece.place, [left.place])
        return piece._replace(tight=left.tight, wrapped=wrapped or left.wrapped)

    def _needs_parentheses(self, piece: Piece, left: Piece, free: bool, gaps: Sequence[Gap]) -> bool:
        text, (start, end) = self._source.text, piece.place
        outer = text[start : piece.inside[0]] + text[piece.inside[1] : end]
        if "#" in outer or any(map(has_comment, gaps)):
            return True
        if left.wrapped:
            return False
        before, after = text[max(start - 1, 0) : start], text[end : end + 1]
        if before.isidentifier() or before.isdigit() or after.isidentifier() or not (left.tight or free):
            return True
        code = self._patches.render(*left.place)
        if "\n" not in code and "\r" not in code:
            return False
        with suppress(SyntaxError):
            ast.parse(code.strip(), mode="eval")
            return False
        return True

    def _chain(self, node: ast.BoolOp, piece: Piece, start: int, end: int, free: bool) -> Piece:
        """Apply the edits to the operands of `and` and `or`."""
        kept = {
            index: self._expression(operand, *bounds, free=False)
            for index, (operand, *bounds, _) in enumerate(self._children(node, start, end))
            if isinstance(operand, ast.expr) and not self._sites.drops(operand)
        }
        if not kept:
            raise self._sites.error(node, "no operand of a BoolOp is left")
        if len(kept) == len(node.values):
            return piece
        places = [self._source.place(operand) for operand in node.values]
        gone = [place[0] for index, place in enumerate(places) if index not in kept]
        gaps = drop_items(self._sites, piece.inside, places, gone, signs="and or")
        [left, *others] = kept.values()
        return piece if others else self._settle(piece, left, free, gaps)
