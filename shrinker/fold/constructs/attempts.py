"""`try`: around absent imports the handler takes its place; else its clauses are folded one by one."""

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
from shrinker.fold.statements import Folded, StatementFolder, folds
from shrinker.syntax.imports import catches_import_error
from shrinker.syntax.side_effects import bound_by

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
            _fold_handlers(folder, node)
            return [node], ends
        else:
            context.leave("import of a removed module fails, but its handler uses the exception")
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
    _fold_handlers(folder, node)
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


def _fold_handlers(folder: StatementFolder, node: ast.Try) -> None:
    for handler in node.handlers:
        if handler.type is not None:
            try:
                handler.type = folder.expressions.fold(handler.type)
            except EvaluatesRemoved as poison:
                folder.context.leave(f"a handler catches {poison.removed.name}, which is removed")
        handler.body = filled(folder.block(handler.body))
