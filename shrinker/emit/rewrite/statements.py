"""DropStatement and DropTail: whole statements go, and what a block looks like afterwards.

Everything that changes the number of a block's statements happens here, when LibCST leaves the
block: `branches.py` only says what takes a statement's place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import libcst as cst

from shrinker.emit.rewrite.branches import raise_small, raise_statement, skip_all_but, taken
from shrinker.emit.rewrite.chunks import Chunk
from shrinker.emit.rewrite.gaps import Lines, detached, join, without_trailing_blanks
from shrinker.emit.rewrite.sites import Sites
from shrinker.values.edits import DropStatement, DropTail, Raise, TakeBlock

Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement
Action = Callable[[cst.CSTNode], cst.CSTNode]


INNER = Chunk(0, 0, "", (), (), opens=True, closes=True, whole=True)
"""Stands for a block that lies inside the chunk, with all that is around its statements."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of one statement, or of one line of small statements."""

    cut: bool = False
    """Everything after it in the block goes."""
    raised: Raise | None = None
    """The named error that takes its place."""
    block: str | None = None
    """The block that takes its place."""
    keep: tuple[int, ...] = ()
    """The small statements of a line that stay."""


def find_in_block(node: cst.Module | cst.IndentedBlock, sites: Sites, chunk: Chunk = INNER) -> Action | None:
    """The action for the statements of a module or an indented block; None when all of them stay.

    Args:
        chunk: whose statements these are; its module has a line before them, or is one `if`, and one after them.
    """
    body: Sequence[Statement] = node.body  # type: ignore[assignment]
    first, last = (0, len(body)) if chunk is INNER else (0 if chunk.indent else 1, len(body) - 1)
    fates: dict[int, Fate] = {}
    for index in range(first, last):
        statement = body[index]
        fate = (
            _line_fate(statement, sites) if isinstance(statement, cst.SimpleStatementLine) else _fate(statement, sites)
        )
        if fate is None:
            continue
        fates[index] = fate
        if fate.cut:
            for later in body[index + 1 : last]:
                sites.skip(later)
            break
    return (lambda updated: _settle(updated, fates, first, last, sites, chunk)) if fates else None


def find_in_suite(node: cst.SimpleStatementSuite, sites: Sites) -> Action | None:
    """The same for a block on its header's line."""
    fate = _line_fate(node, sites)
    if fate is None:
        return None

    def act(updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.SimpleStatementSuite)
        return updated.with_changes(body=_trim(updated.body, fate) or [cst.Pass()])

    return act


def _fate(node: cst.BaseCompoundStatement, sites: Sites) -> Fate | None:
    edit = sites.decisive(node)
    if edit is None:
        return None
    if isinstance(edit, TakeBlock):
        sites.applied(edit)
        skip_all_but(node, edit.block, sites)
        return Fate(block=edit.block)
    sites.skip(node)
    if isinstance(edit, Raise):
        return Fate(cut=True, raised=edit)
    return Fate(cut=isinstance(edit, DropTail))


def _line_fate(line: cst.SimpleStatementLine | cst.SimpleStatementSuite, sites: Sites) -> Fate | None:
    keep: list[int] = []
    for index, small in enumerate(line.body):
        edit = sites.decisive(small)
        if edit is None:
            keep.append(index)
            continue
        if isinstance(edit, TakeBlock):
            raise sites.error(small, "TakeBlock on a statement that has no blocks")
        if isinstance(edit, DropStatement):
            sites.skip(small)
            continue
        for later in line.body[index:]:
            sites.skip(later)
        return Fate(cut=True, raised=edit if isinstance(edit, Raise) else None, keep=tuple(keep))
    return Fate(keep=tuple(keep)) if len(keep) < len(line.body) else None


def _trim(body: Sequence[cst.BaseSmallStatement], fate: Fate) -> list[cst.BaseSmallStatement]:
    kept = [body[index] for index in fate.keep]
    if fate.raised is not None:
        kept.append(raise_small(fate.raised))
    if kept:
        kept[-1] = kept[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
        # A statement that was last may have no semicolon of its own before the error: LibCST adds `; `.
    return kept


def _replacement(statement: Statement, fate: Fate, sites: Sites) -> tuple[list[Statement], Lines]:
    """What takes a statement's place, and the comment lines that follow it."""
    if isinstance(statement, cst.SimpleStatementLine):
        if fate.keep:
            return [statement.with_changes(body=_trim(statement.body, fate))], ()
    elif fate.block is not None:
        return taken(statement, fate.block, sites)
    if fate.raised is not None:
        return [raise_statement(fate.raised, detached(statement.leading_lines))], ()
    return [], ()


def _settle(
    updated: cst.CSTNode, fates: dict[int, Fate], first: int, last: int, sites: Sites, chunk: Chunk
) -> cst.CSTNode:
    body: Sequence[Statement] = updated.body  # type: ignore[attr-defined]
    out: list[Statement] = []
    waiting: Lines = ()
    seam = False  # A statement went between `waiting` and what comes next.

    for index in range(first, last):
        statement, fate = body[index], fates.get(index)
        new, after = ([statement], ()) if fate is None else _replacement(statement, fate, sites)
        opens = chunk.opens and not out
        if new:
            lines = new[0].leading_lines
            lines = join(waiting, lines, opens=opens) if seam else (*waiting, *lines)
            out.append(new[0].with_changes(leading_lines=lines) if waiting or seam else new[0])
            out.extend(new[1:])
            waiting, seam = after, False
        elif fate is not None and not fate.cut:
            lines = tuple(statement.leading_lines)
            if not (chunk.top and index == first):
                lines = detached(lines)
            waiting = join(waiting, lines, opens=opens) if seam else (*waiting, *lines)
            waiting, seam = (*waiting, *after), True
        if fate is not None and fate.cut:
            break
    return _close(updated, out, waiting, seam, first, last, chunk)


def _close(
    updated: cst.CSTNode, out: list[Statement], waiting: Lines, seam: bool, first: int, last: int, chunk: Chunk
) -> cst.CSTNode:
    """Put the lines that no statement is left for where they belong, and `pass` into an empty block."""
    before: Sequence[Statement] = updated.body[:first]  # type: ignore[attr-defined]
    if chunk.whole and not out:
        filler = cst.SimpleStatementLine([cst.Pass()], leading_lines=without_trailing_blanks(waiting))
        out, waiting = [filler], ()
    if chunk is INNER:
        assert isinstance(updated, cst.IndentedBlock)
        footer = (*without_trailing_blanks(waiting), *updated.footer)
        return updated.with_changes(body=[*before, *out], footer=footer)
    end: Statement = updated.body[last]  # type: ignore[attr-defined]
    lines = tuple(end.leading_lines)
    if seam and chunk.closes:
        waiting = without_trailing_blanks((*waiting, *lines))
    elif seam:
        waiting = join(waiting, lines, opens=chunk.opens and not out)
    else:
        waiting = (*waiting, *lines)
    return updated.with_changes(body=[*before, *out, end.with_changes(leading_lines=waiting)])
