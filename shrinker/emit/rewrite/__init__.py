"""Apply edits to one Python file, token for token as upstream wrote it but for what the edits say.

Refuse and Guard are lines that a file receives before anything else is done to it, as if upstream had written them.
"""

from __future__ import annotations

import ast
import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider

from shrinker.emit.rewrite.branches import find_clauses
from shrinker.emit.rewrite.chunks import Chunk, plan
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
from shrinker.emit.rewrite.operands import find_chain, find_operand, mend, note_free
from shrinker.emit.rewrite.positions import Source, decode, line_end, preamble, start
from shrinker.emit.rewrite.sites import RewriteError, Sites, UnappliedEdit
from shrinker.emit.rewrite.statements import find_in_block, find_in_suite
from shrinker.values.edits import Edit, Guard, Refuse
from shrinker.values.refusals import GUARD_LINE, refusal_line

__all__ = ["RewriteError", "UnappliedEdit", "rewrite_file"]

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


def rewrite_file(source: bytes, edits: Sequence[Edit], *, header: str | None = None) -> bytes:
    """Apply the edits of `values/edits.py` to a file.

    Args:
        source: the original file, in any encoding that it declares, with any line ends.
        edits: in any order. Edits inside a region that another edit drops are void.
        header: a comment line, without its line end, put before everything but a byte-order mark, a
            shebang and a coding line.

    Returns:
        The new file, in the encoding and with the line ends of the original. Lines of statements
        without edits are copied byte for byte.

    Raises:
        UnappliedEdit: an edit names a place where no node of its kind is.
        RewriteError: an edit that leaves no valid Python, such as the last name of an import.
        SyntaxError: the file does not parse.
    """
    file, edits = insert(decode(source), edits)
    lines: list[str] = []
    done = 0
    if edits:
        tree = ast.parse(file.text)
        chunks, outside = plan(tree, file, sorted(dict.fromkeys(edits), key=start))
        for edit in outside:
            raise UnappliedEdit(edit)
        for chunk in chunks:
            lines.extend(file.lines[done : chunk.first - 1])
            lines.append(transform(chunk, file))
            done = chunk.last
    lines.extend(file.lines[done:])
    text = "".join(lines)
    if header is not None:
        first = "".join(file.lines[: preamble(file.lines)])
        rest = text.removeprefix(first)
        if first and not first.endswith(("\n", "\r")):
            first += file.newline
        text = first + header + file.newline + rest
    return file.encode(text)


def insert(source: Source, edits: Sequence[Edit]) -> tuple[Source, Sequence[Edit]]:
    """The file with its insertions, and the other edits moved to where their nodes then stand."""
    added = sorted({e for e in edits if isinstance(e, Refuse | Guard)}, key=lambda e: (e.span.line, _line(e)))
    if not added:
        return source, edits
    before = [e.span.line for e in added]
    lines: list[str] = []
    done = 0
    for edit in added:
        at = edit.span.line - 1
        lines.extend(source.lines[done:at])
        text = source.lines[at]
        indent = text[: len(text) - len(text.lstrip(" \t"))]
        lines.append(f"{indent}{_line(edit)}{source.newline}")
        done = at
    lines.extend(source.lines[done:])
    moved: list[Edit] = []
    for other in edits:
        if isinstance(other, Refuse | Guard):
            continue
        span = other.span
        first, last = (bisect.bisect_right(before, line) for line in (span.line, span.end_line))
        moved.append(replace(other, span=replace(span, line=span.line + first, end_line=span.end_line + last)))
    return replace(source, lines=tuple(lines)), moved


def _line(edit: Refuse | Guard) -> str:
    return GUARD_LINE if isinstance(edit, Guard) else refusal_line(edit.place, edit.argument)


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

    def __init__(self, sites: Sites, chunk: Chunk, block: cst.CSTNode | None) -> None:
        """
        Args:
            block: holds the statements of the chunk; None for a header alone.
        """
        super().__init__()
        self.sites = sites
        self.chunk = chunk
        self.block = block
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
            found = find_in_block(node, sites, self.chunk) if node is self.block else find_in_block(node, sites)
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
    block = module.body[0].body if chunk.indent else module
    try:
        new = module.visit(_Transformer(sites, chunk, None if chunk.header else block))  # type: ignore[arg-type]
    except cst.CSTValidationError as error:
        raise RewriteError(f"lines {chunk.first} to {chunk.last}: {error}") from error
    sites.finish()
    text = new.code
    assert text.startswith(prefix) and text.endswith(suffix), "the lines around a chunk stay"
    text = text[len(prefix) : len(text) - len(suffix)]
    return text if ended else text.removesuffix(newline)
