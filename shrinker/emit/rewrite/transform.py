"""Apply the edits of one chunk to its lines, with LibCST."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider

from shrinker.emit.rewrite.branches import find_clauses
from shrinker.emit.rewrite.chunks import Chunk
from shrinker.emit.rewrite.elements import (
    find_aliases,
    find_annotation,
    find_call,
    find_definition,
    find_display,
    find_filter,
    find_parameters,
    find_subscript,
    find_tuple,
)
from shrinker.emit.rewrite.hollow import fill
from shrinker.emit.rewrite.operands import find_chain, find_operand
from shrinker.emit.rewrite.parentheses import mend, note_free
from shrinker.emit.rewrite.positions import Source, line_end
from shrinker.emit.rewrite.sites import RewriteError, Sites
from shrinker.emit.rewrite.statements import INNER, Frame, find_in_block, find_in_suite

Action = Callable[[cst.CSTNode], cst.CSTNode]
Finder = Callable[..., Action | None]

mend()

_FINDERS: dict[type[cst.CSTNode], tuple[Finder, ...]] = {
    **dict.fromkeys((cst.If, cst.While, cst.For, cst.Try, cst.TryStar), (find_clauses,)),
    cst.FunctionDef: (find_definition, find_parameters),
    cst.ClassDef: (find_definition,),
    **dict.fromkeys((cst.Import, cst.ImportFrom), (find_aliases,)),
    **dict.fromkeys((cst.BooleanOperation, cst.BinaryOperation), (find_chain,)),
    **dict.fromkeys((cst.List, cst.Set, cst.Dict), (find_display,)),
    cst.Tuple: (find_tuple,),
    cst.Subscript: (find_subscript,),
    cst.Call: (find_call,),
    cst.Param: (find_annotation,),
    cst.CompFor: (find_filter,),
}


class _Positions(PositionProvider):
    """Positions without a `MetadataWrapper`: it copies the tree, and visits it once more for providers that are not there."""

    def of(self, module: cst.Module) -> Mapping[cst.CSTNode, CodeRange]:
        """The position of every node."""
        self._gen_impl(module)
        return self._computed  # type: ignore[return-value]


class _Transformer(cst.CSTTransformer):
    """Finds the edits of a node on the way down and applies them on the way up.

    On the way down a node that goes is marked, so that neither it nor the edits in it are looked at.
    """

    def __init__(self, sites: Sites, frame: Frame) -> None:
        super().__init__()
        self.sites = sites
        self.frame = frame
        self.actions: dict[int, list[Action]] = {}

    def on_visit(self, node: cst.CSTNode) -> bool:
        """False below nodes that go and nodes without edits."""
        sites = self.sites
        if sites.is_skipped(node) or not self._touched(node):
            return False
        note_free(node, sites)
        found: Action | None = None
        if isinstance(node, cst.BaseExpression):
            found = find_operand(node, sites)
        elif isinstance(node, cst.Module | cst.IndentedBlock):
            found = find_in_block(node, sites, self.frame)
        elif isinstance(node, cst.SimpleStatementSuite):
            found = find_in_suite(node, sites)
        if found is not None:
            self.actions[id(node)] = [found]
            return not sites.is_skipped(node)
        actions = [a for finder in _FINDERS.get(type(node), ()) if (a := finder(node, sites)) is not None]
        if actions:
            self.actions[id(node)] = actions
        return True

    def on_leave(  # type: ignore[override]
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode:
        """The node with its edits applied."""
        for action in self.actions.get(id(original_node), ()):
            updated_node = action(updated_node)
        return updated_node

    def _touched(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Param):
            # LibCST's position of a parameter is that of its name alone.
            return True
        if isinstance(node, cst.BaseParenthesizableWhitespace):
            # No edit stands in it, and what is not written (before the `**rest` that a pattern lacks) has no position.
            return False
        first, _, last, _ = self.sites.extent(node)
        lines = self.sites.lines
        index = bisect.bisect_left(lines, first)
        return index < len(lines) and lines[index] <= last


def transform(chunk: Chunk, source: Source) -> str:
    """The new text of the chunk's lines.

    Raises:
        UnappliedEdit: an edit names a place where no node of its kind is.
        RewriteError: an edit that leaves no valid Python.
    """
    rows = list(source.lines[chunk.first - 1 : chunk.last])
    fill(rows, chunk.hollows, chunk.first)
    newline = line_end(rows[0])
    ended = rows[-1].endswith(("\n", "\r"))
    prefix = f"if 1:{newline}" if chunk.indent else f"pass{newline}"
    suffix = f"{chunk.body_indent if chunk.header else chunk.indent}pass{newline}"
    module = cst.parse_module(prefix + "".join(rows) + ("" if ended else newline) + suffix)
    sites = Sites(chunk.left, source, _Positions().of(module), chunk.first - 2)
    try:
        new = module.visit(_Transformer(sites, _frame(chunk, module)))
    except cst.CSTValidationError as error:
        raise RewriteError(f"lines {chunk.first} to {chunk.last}: {error}") from error
    sites.finish()
    text = new.code
    assert text.startswith(prefix) and text.endswith(suffix), "the lines around a chunk stay"
    text = text[len(prefix) : len(text) - len(suffix)]
    return text if ended else text.removesuffix(newline)


def _frame(chunk: Chunk, module: cst.Module) -> Frame:
    if chunk.header:
        return INNER
    block: cst.CSTNode = module
    if chunk.indent:
        (wrapped,) = module.body
        assert isinstance(wrapped, cst.If)
        block = wrapped.body
    return Frame(block, 0 if chunk.indent else 1, chunk.opens, chunk.closes, chunk.top, chunk.whole)
