"""Finds the nodes that edits name: what every transformer of this package stands on."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, TypeVar

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider

from shrinker.values import edits
from shrinker.values.edits import Edit
from shrinker.values.relations import grouped

Kind = TypeVar("Kind", bound=Edit)
Statement = cst.BaseSmallStatement | cst.BaseCompoundStatement

OF_STATEMENTS = (
    edits.Raise,
    edits.DropTail,
    edits.DropStatement,
    edits.LoadModule,
    edits.TakeBlock,
    edits.DropElse,
)
"""The edits that name a statement; of several, the one that deletes most comes first."""
_WHOLE = (
    edits.Raise,
    edits.DropTail,
    edits.DropStatement,
    edits.LoadModule,
    edits.DropElement,
    edits.Literal,
)
"""The edits after which nothing inside the node counts."""


class RewriteError(RuntimeError):
    """An edit that cannot be written as Python; the message names line and column of the file."""


class Editing(cst.CSTTransformer):
    """Looks up the edits of each node that is visited, and skips what goes."""

    METADATA_DEPENDENCIES: ClassVar = (PositionProvider,)

    def __init__(self, decided: Iterable[Edit], lines: Sequence[str], shift: int = 0) -> None:
        """Take edits whose spans count as LibCST does, columns in characters.

        Args:
            decided: the edits.
            lines: those of the module that is visited.
            shift: how many more lines it has above something than the file that it is a part of.
        """
        super().__init__()
        self.lines = lines
        self._shift = shift
        self.pending = set(decided)
        """Edits that were not applied yet, and are not void."""
        self._alive = set(self.pending)
        """Those that are not void."""
        self._at = grouped(((edit.span.line, edit.span.col), edit) for edit in self.pending)
        self._named: dict[cst.CSTNode, list[Edit]] = {}
        self._void: set[cst.CSTNode] = set()

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Visit the children of a node, unless it goes as a whole or holds no edit."""
        if isinstance(node, cst.Module):
            self._named = self._find_named()
            return super().on_visit(node)
        inside = self._inside(node)
        if node in self._void:
            self._forget(inside)
            return False
        named = self._named.get(node, ())
        if any(isinstance(edit, _WHOLE) for edit in named):
            # Its own edit waits until it is left.
            self._forget(inside.difference(named))
            self._void.add(node)
            return False
        # The place of a parameter is that of its name alone.
        return (bool(inside) or isinstance(node, cst.Param)) and super().on_visit(node)

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        """Hand a node to its own method, unless it goes as a whole."""
        return (
            updated_node
            if original_node in self._void
            else super().on_leave(original_node, updated_node)
        )

    def skip(self, *nodes: cst.CSTNode | None) -> None:
        """Take no edits of nodes that will be visited: they go with what holds them."""
        self._void.update(node for node in nodes if node is not None)

    def edit_of(self, node: cst.CSTNode, *kinds: type[Kind]) -> Kind | None:
        """Find the edit of some kinds that names a node, to apply it.

        Of several, it is the one whose kind comes first; the others are void.
        """
        named = self._named.get(node, ())
        found = next((edit for kind in kinds for edit in named if isinstance(edit, kind)), None)
        if found is not None:
            self.pending.difference_update(named)
        return found

    def drops(self, node: cst.CSTNode) -> bool:
        """Say whether an element of a list, as `ast` has it, is to be dropped."""
        return self.edit_of(node, edits.DropElement) is not None

    def error(self, node: cst.CSTNode, reason: str) -> RewriteError:
        """Make the error that names the node's place."""
        start = self.position(node).start
        return RewriteError(f"line {start.line - self._shift}, column {start.column}: {reason}")

    def position(self, node: cst.CSTNode) -> CodeRange:
        """Give the place of a node as `ast` has it: parentheses are part of a tuple."""
        found: CodeRange = self.get_metadata(PositionProvider, node)
        if isinstance(node, cst.Tuple) and node.lpar:
            return CodeRange(self.position(node.lpar[-1]).start, self.position(node.rpar[0]).end)
        return found

    def _find_named(self) -> dict[cst.CSTNode, list[Edit]]:
        """Find the edits that name each node, by where it begins and ends."""
        found = {}
        for node in self.metadata[PositionProvider]:
            start = self.position(node).start
            at = self._at.get((start.line, start.column), ())
            if at and _is_named(node):
                found[node] = [edit for edit in at if self._names(edit, node)]
        return found

    def _names(self, edit: Edit, node: cst.CSTNode) -> bool:
        """Say whether an edit names a node that begins where it does."""
        if isinstance(node, Statement) or isinstance(edit, OF_STATEMENTS):
            # LibCST lets a statement end elsewhere than `ast`.
            return isinstance(node, Statement) and isinstance(edit, OF_STATEMENTS)
        end = self.position(node).end
        return (edit.span.end_line, edit.span.end_col) == (end.line, end.column)

    def _inside(self, node: cst.CSTNode) -> set[Edit]:
        """Find the edits whose places lie within a node."""
        place = self.position(node)
        start, end = self._first(node), (place.end.line, place.end.column)
        return {edit for edit in self._alive if start <= (edit.span.line, edit.span.col) < end}

    def _forget(self, void: set[Edit]) -> None:
        self._alive -= void
        self.pending -= void

    def _first(self, node: cst.CSTNode) -> tuple[int, int]:
        """Give line and column of what a node begins with, decorators included."""
        if isinstance(node, cst.IndentedBlock) and node.body:
            return self._first(node.body[0])
        if isinstance(node, cst.FunctionDef | cst.ClassDef) and node.decorators:
            node = node.decorators[0]
        start = self.position(node).start
        return start.line, start.column


def _is_named(node: cst.CSTNode) -> bool:
    """Say whether an edit may name a node: `ast` has no node for a plain argument, but its
    value.
    """
    if isinstance(node, cst.Arg):
        return node.keyword is not None or bool(node.star)
    return isinstance(node, Statement | cst.BaseExpression | cst.ImportAlias)
