"""TakeBlock, DropBlock and Raise: one block or the named error of a removed feature takes its statement's place, or one clause goes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import libcst as cst

from shrinker.emit.rewrite.gaps import Lines, detached, join, without_leading_blanks, without_trailing_blanks
from shrinker.emit.rewrite.sites import Sites
from shrinker.values.edits import DropBlock, Raise, TakeBlock

Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement
Action = Callable[[cst.CSTNode], cst.CSTNode]


def clause(node: cst.CSTNode, block: str, sites: Sites) -> cst.CSTNode | None:
    """The part of a compound statement that holds a block: its suite for ``body``, else the clause.

    Returns:
        None for an ``orelse`` or ``finalbody`` that the statement does not have.

    Raises:
        RewriteError: no statement of this kind has such a block.
    """
    name, _, number = block.partition(":")
    try:
        found: cst.CSTNode | None = node.handlers[int(number)] if number else getattr(node, name)  # type: ignore[attr-defined]
        return found
    except (AttributeError, IndexError, ValueError):
        raise sites.error(node, f"{type(node).__name__} has no block {block!r}") from None


def skip_all_but(node: cst.CSTNode, block: str, sites: Sites) -> None:
    """Mark everything of a compound statement but one clause as dropped."""
    kept = clause(node, block, sites)
    for child in node.children:
        if child is not kept and isinstance(
            child,
            cst.BaseExpression
            | cst.BaseSuite
            | cst.Else
            | cst.Finally
            | cst.If
            | cst.ExceptHandler
            | cst.ExceptStarHandler
            | cst.WithItem,
        ):
            sites.skip(child)


def taken(node: cst.BaseCompoundStatement, block: str, sites: Sites) -> tuple[list[Statement], Lines]:
    """Statements of one block, ready for the place of `node`, and the comment lines below them.

    The block's own comments stay, and so do those above the statement and above the clause; the
    comment on the header's line goes with the header.
    """
    part = clause(node, block, sites)
    if part is None:
        return [], ()
    above: Sequence[cst.EmptyLine] = node.leading_lines
    if isinstance(part, cst.If):
        # The `elif` becomes the `if`.
        return [part.with_changes(leading_lines=(*above, *without_leading_blanks(part.leading_lines)))], ()
    if isinstance(part, cst.BaseSuite):
        suite: cst.CSTNode = part
    else:
        suite = part.body  # type: ignore[attr-defined]
        above = (*above, *without_leading_blanks(part.leading_lines))  # type: ignore[attr-defined]
    if isinstance(suite, cst.SimpleStatementSuite):
        return [cst.SimpleStatementLine(suite.body, above, suite.trailing_whitespace)], ()
    assert isinstance(suite, cst.IndentedBlock)
    first, *others = suite.body
    lines = (*above, *without_leading_blanks(first.leading_lines))  # type: ignore[attr-defined]
    statements: list[Statement] = [first.with_changes(leading_lines=lines), *others]  # type: ignore[list-item]
    return statements, without_trailing_blanks(suite.footer)


def find_clauses(node: cst.CSTNode, sites: Sites) -> Action | None:
    """The action for DropBlock on a statement, and for its `elif` arm; None when neither is edited."""
    edits = [e for e in sites.statement(node) if isinstance(e, DropBlock)]
    if any(isinstance(e, TakeBlock) for e in sites.statement(node)):
        # One block takes the statement's place: what it would have lost no longer matters.
        for edit in edits:
            sites.applied(edit)
        edits = []
    arm = _find_arm(node, sites) if isinstance(node, cst.If) and isinstance(node.orelse, cst.If) else None
    if not edits:
        return arm
    names: set[str] = set()
    for edit in edits:
        sites.applied(edit)
        part = clause(node, edit.block, sites)
        if edit.block == "body":
            raise sites.error(node, "DropBlock cannot drop the body")
        if part is None:
            continue
        sites.skip(part)
        names.add(edit.block)

    def act(updated: cst.CSTNode) -> cst.CSTNode:
        changes: dict[str, object] = {name: None for name in names if ":" not in name}
        if isinstance(updated, cst.Try | cst.TryStar):
            gone = {int(name.partition(":")[2]) for name in names if ":" in name}
            handlers = [handler for i, handler in enumerate(updated.handlers) if i not in gone]
            if gone:
                changes["handlers"] = handlers
            orelse, finalbody = (changes.get(name, getattr(updated, name)) for name in ("orelse", "finalbody"))
            if not handlers and (orelse or not finalbody):
                raise sites.error(node, "DropBlock leaves a `try` without handlers")
        return updated.with_changes(**changes)

    if "orelse" in names or arm is None:
        return act
    return lambda updated: act(arm(updated))


def _find_arm(node: cst.If, sites: Sites) -> Action | None:
    arm = node.orelse
    assert isinstance(arm, cst.If)
    edit = sites.decisive(arm)
    if edit is None:
        return None
    if isinstance(edit, TakeBlock):
        sites.applied(edit)
        skip_all_but(arm, edit.block, sites)
        if edit.block not in ("body", "orelse"):
            raise sites.error(arm, f"an `elif` has no block {edit.block!r}")
    else:
        sites.skip(arm)

    def settle(updated: cst.CSTNode) -> cst.CSTNode:
        old = updated.orelse  # type: ignore[attr-defined]
        new: cst.CSTNode | None = None
        if isinstance(edit, Raise):
            new = cst.Else(cst.IndentedBlock([raise_statement(edit, ())]), detached(old.leading_lines))
        elif isinstance(edit, TakeBlock) and edit.block == "body":
            new = cst.Else(old.body, old.leading_lines, old.whitespace_after_test)
        elif isinstance(edit, TakeBlock) and old.orelse is not None:
            lines = join(detached(old.leading_lines), old.orelse.leading_lines)
            new = old.orelse.with_changes(leading_lines=lines)
        return updated.with_changes(orelse=new)

    return settle


def raise_small(edit: Raise) -> cst.Raise:
    """``raise RuntimeError("<message>")``."""
    # JSON's escapes are Python's too, and the quotes are the ones upstream uses.
    literal = json.dumps(edit.message, ensure_ascii=False).replace("\x7f", "\\x7f")
    call = cst.Call(cst.Name(edit.error), [cst.Arg(cst.SimpleString(literal))])
    return cst.Raise(call)


def raise_statement(edit: Raise, leading_lines: Sequence[cst.EmptyLine]) -> cst.SimpleStatementLine:
    """The error as a line of its own."""
    return cst.SimpleStatementLine([raise_small(edit)], leading_lines=leading_lines)
