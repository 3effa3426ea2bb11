"""`try`: around absent imports the handler takes its place; errors that are gone are not caught."""

from __future__ import annotations

import ast

from shrinker.facts.bound import failing_import
from shrinker.fold.constructs.failing import (
    catches_all,
    cut_after_import,
    raise_alone,
    removed_by,
    take_handler,
    uses_exception,
)
from shrinker.fold.context import EvaluatesRemoved, filled
from shrinker.fold.statements import Body, Folded, StatementFolder, folds
from shrinker.syntax.imports import catches_import_error
from shrinker.syntax.ranges import extent, last_line, span
from shrinker.syntax.side_effects import bound_by
from shrinker.values.edits import DropBlock, DropStatement, TakeBlock
from shrinker.values.folded import Uncertain

_ONE_OF_THEM = frozenset({"NameError", "UnboundLocalError", "RuntimeError"})
"""Classes that catch only one of what upstream raises for an unbound name and the named error."""


@folds(ast.Try)
def fold_try(folder: StatementFolder, node: ast.Try) -> Folded:
    """Fold a `try` with its clauses."""
    context = folder.context
    ends = False
    failing = failing_import(node, folder.scope)
    if failing is not None and not node.finalbody:
        live = take_handler(folder, node, failing)
        if live is not None:
            return live, True
        removed = removed_by(folder, node.body[0])
        if removed is None:
            ends = cut_after_import(folder, node, failing)
        elif folder.kind == "function" and catches_all(node):
            ends = cut_after_import(folder, node, failing)
            raise_alone(folder, node, removed)
            node.handlers = _fold_handlers(folder, node)
            return [node], ends
        else:
            reason = "import of a removed module fails, but its handler uses the exception"
            context.uncertain.append(Uncertain(context.path, node.lineno, reason))
    catches, watches = any(map(catches_import_error, node.handlers)), any(_tells(folder, h) for h in node.handlers)
    context.catching += catches
    context.watching += watches
    try:
        body = folder.block(node.body)
    finally:
        context.catching -= catches
        context.watching -= watches
    if not (body or node.orelse or node.finalbody) and not any(bound_by(*handler.body) for handler in node.handlers):
        return folder.drop(node, {"emptied"}, "try")
    node.body = filled(body)
    folder.orelse(node)
    node.handlers = _fold_handlers(folder, node)
    if not node.handlers and not node.finalbody:
        return _body_alone(folder, node, body), True
    if node.finalbody:
        node.finalbody = filled(folder.block(node.finalbody))
    if ends:
        folder.ends.add(id(node))
    return [node], ends


def _tells(folder: StatementFolder, handler: ast.ExceptHandler) -> bool:
    """True when a handler tells the named error from the one for an unbound name, which upstream raises."""
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    plain = all(t is None or (isinstance(t, ast.Name) and t.id not in _ONE_OF_THEM) for t in types)
    return not plain or uses_exception(folder, handler)


def _fold_handlers(folder: StatementFolder, node: ast.Try) -> list[ast.ExceptHandler]:
    """The handlers that are left.

    Raises:
        EvaluatesRemoved: only an error that is not in the closed world is handled, and what follows needs a handler.
    """
    context = folder.context
    edits, decisions = len(context.edits), len(context.decisions)
    gone = {id(h): poison for h in node.handlers if (poison := _fold_type(folder, h)) is not None}
    if len(gone) == len(node.handlers) and node.orelse:
        # An `else` stands with a handler only.
        context.undo(edits, decisions)
        poison = gone[id(node.handlers[0])]
        if poison.removed.eager:
            raise poison
        return node.handlers
    kept: list[ast.ExceptHandler] = []
    alone = len(gone) == len(node.handlers) and not node.finalbody
    for index, handler in enumerate(node.handlers):
        if id(handler) in gone:
            if not alone:
                context.edits.append(DropBlock(span(node), f"handler:{index}"))
            rule = gone[id(handler)].removed.rule
            context.decide(
                handler,
                "handler",
                {rule},
                "removed",
                extent(handler.body),
                None,
                (handler.lineno, last_line(handler.body)),
            )
            folder.context.forget(handler)
        else:
            handler.body = filled(folder.block(handler.body))
            kept.append(handler)
    return kept


def _fold_type(folder: StatementFolder, handler: ast.ExceptHandler) -> EvaluatesRemoved | None:
    """Fold what a handler catches; the reason when nothing in the closed world is that.

    Raises:
        EvaluatesRemoved: finding out what it catches runs something of a removed module.
    """
    context, node = folder.context, handler.type
    if not isinstance(node, ast.Tuple) or not node.elts:
        found = None if node is None else _fold_class(folder, node)
        if isinstance(found, EvaluatesRemoved):
            return found
        handler.type = found
        return None
    classes = [(element, _fold_class(folder, element)) for element in node.elts]
    kept = [new for _, new in classes if isinstance(new, ast.expr)]
    for element, new in classes:
        if isinstance(new, EvaluatesRemoved):
            if not kept:
                return new
            context.drop_element(element, "Tuple", "handler", {new.removed.rule})
            folder.context.forget(element)
    node.elts = kept
    return None


def _fold_class(folder: StatementFolder, node: ast.expr) -> ast.expr | EvaluatesRemoved:
    """The folded class of an error, or why nothing in the closed world is one.

    Raises:
        EvaluatesRemoved: finding out which class it is runs something of a removed module.
    """
    context = folder.context
    edits, decisions = len(context.edits), len(context.decisions)
    try:
        return folder.expressions.fold(node)
    except EvaluatesRemoved as poison:
        if isinstance(node, ast.Name | ast.Attribute) and not poison.removed.missing:
            return poison
        if poison.removed.eager:
            raise
    # Asked only when something was raised: the error of what is gone must not come earlier.
    context.undo(edits, decisions)
    return context.as_written(node)


def _body_alone(folder: StatementFolder, node: ast.Try, body: Body) -> Body:
    """The body in the place of a `try` that handled only errors that are not in the closed world."""
    live = body if any(not isinstance(s, ast.Pass) for s in body) else []
    context, taken = folder.context, TakeBlock(span(node), "body")
    # An `else` of which nothing is left goes with the rest.
    context.edits = [e for e in context.edits if not (isinstance(e, DropBlock) and e.span == taken.span)]
    context.edits.append(taken if live else DropStatement(taken.span))
    context.taken.append((taken, list(live)))
    return live
