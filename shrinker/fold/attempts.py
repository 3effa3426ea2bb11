"""`try`: around absent imports the handler takes its place; handlers of what is removed go."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shrinker.facts.lattice import Removed
from shrinker.facts.scopes import catches_import_error, failing_import
from shrinker.facts.walk import walk
from shrinker.fold.context import EvaluatesRemoved, extent, span
from shrinker.fold.control import asks_for_exception, filled
from shrinker.values.edits import DropBlock, DropStatement, TakeBlock
from shrinker.values.folded import Uncertain

if TYPE_CHECKING:
    from shrinker.fold.statements import Body, StatementFolder


def fold_try(folder: StatementFolder, node: ast.Try) -> tuple[Body, bool]:
    """Fold a `try` with its clauses."""
    context = folder.context
    failing = failing_import(node, folder.scope)
    if failing is not None and not node.finalbody:
        index = next(i for i, h in enumerate(node.handlers) if catches_import_error(h))
        handler = node.handlers[index]
        uses_name = handler.name is not None and any(
            isinstance(n, ast.Name) and n.id == handler.name for s in handler.body for n in walk(s)
        )
        if not uses_name and not any(map(asks_for_exception, handler.body)):
            context.decide(node, "try", {failing}, "removed", extent(node.body), node.body[0])
            for statement in (*node.body, *node.orelse):
                folder.forget(statement)
            live = folder.block(handler.body)
            live = [s for s in live if not isinstance(s, ast.Pass)]
            for statement in handler.body:
                if isinstance(statement, ast.Pass) and live:
                    context.edits.append(DropStatement(span(statement)))
            taken = TakeBlock(span(node), f"handler:{index}")
            context.edits.append(taken if live else DropStatement(span(node)))
            context.taken.append((taken, list(live)))
            return live, True
        context.uncertain.append(
            Uncertain(context.path, node.lineno, "import of an absent module fails, but its handler uses the exception")
        )
    catches = any(catches_import_error(h) for h in node.handlers)
    context.catching += catches
    node.body = filled(folder.block(node.body))
    context.catching -= catches
    kept: list[ast.ExceptHandler] = []
    for index, handler in enumerate(node.handlers):
        try:
            if handler.type is not None:
                handler.type = folder.expressions.fold(handler.type)
        except EvaluatesRemoved as poison:
            if poison.removed.missing:
                kept.append(handler)
                continue
            context.edits.append(DropBlock(span(node), f"handler:{index}"))
            context.decide(handler, "handler", {poison.removed.rule}, "removed", extent(handler.body))
            continue
        handler.body = filled(folder.block(handler.body))
        kept.append(handler)
    if not kept and not node.finalbody:
        raise EvaluatesRemoved(Removed("removed-handlers", "only handlers of removed errors", "try"))
    node.handlers = kept
    folder.orelse(node)
    if node.finalbody:
        node.finalbody = filled(folder.block(node.finalbody))
    return [node], False
