"""`try` around an import that fails at once: its handler runs, and what follows the import does not."""

from __future__ import annotations

import ast

from shrinker.facts.bound import removed_names
from shrinker.facts.lattice import Removed
from shrinker.fold.messages import message
from shrinker.fold.statements import Body, StatementFolder
from shrinker.syntax.control import asks_for_exception, leaves
from shrinker.syntax.imports import catches_import_error
from shrinker.syntax.ranges import extent, first_line, last_line, span
from shrinker.syntax.walk import walk
from shrinker.values.edits import DropBlock, DropStatement, DropTail

_ALL = frozenset({"Exception", "BaseException"})


def take_handler(folder: StatementFolder, node: ast.Try, failing: str) -> Body | None:
    """The handler of an import that fails, in the place of the whole; None when it looks at the exception."""
    context = folder.context
    index = next(i for i, h in enumerate(node.handlers) if catches_import_error(h))
    handler = node.handlers[index]
    if uses_exception(folder, handler):
        return None
    rows = node.lineno, first_line(handler.body[0]) - 1
    context.decide(node, "try", {failing}, "removed", extent(node.body), node.body[0], rows)
    for statement in (*node.body, *node.orelse):
        folder.context.forget(statement)
    live = folder.block(handler.body)
    live = [s for s in live if not isinstance(s, ast.Pass)]
    for statement in handler.body:
        if isinstance(statement, ast.Pass) and live:
            context.edits.append(DropStatement(span(statement)))
    context.take(node, f"handler:{index}", live)
    return live


def uses_exception(folder: StatementFolder, handler: ast.ExceptHandler) -> bool:
    """True when code of a handler looks at the exception."""
    parts = [node for statement in handler.body for node in walk(statement)]
    named = handler.name is not None and any(isinstance(n, ast.Name) and n.id == handler.name for n in parts)
    return named or asks_for_exception(parts)


def removed_by(folder: StatementFolder, node: ast.stmt) -> Removed | None:
    """What an import would take from a removed module; None where the module is outside the tree and not installed."""
    environment = folder.context.environment
    module = node.names[0].name if isinstance(node, ast.Import) else getattr(node, "module", "")
    if environment.is_absent(module) is not None:
        return None
    taken = removed_names(node, module, environment) if isinstance(node, ast.ImportFrom) else ()
    return next((removed for _, removed in taken), environment.removed_module(module))


def catches_all(node: ast.Try) -> bool:
    """True when the clause that catches ImportError catches the named error, too."""
    handler = next(h for h in node.handlers if catches_import_error(h))
    return handler.type is None or (isinstance(handler.type, ast.Name) and handler.type.id in _ALL)


def raise_alone(folder: StatementFolder, node: ast.Try, removed: Removed) -> None:
    """The named error in the place of the import, which is all that is left of the body: the handler tells it."""
    context, first = folder.context, node.body[0]
    folder.context.forget(first)
    node.body = [context.raises(first, message(removed), removed.error)]
    context.decide(first, "use", {removed.rule}, "raises", extent([first]))


def cut_after_import(folder: StatementFolder, node: ast.Try, rule: str) -> bool:
    """Keep an import that fails for the exception that it raises: what follows in the body does not run.

    Returns:
        True when the handler leaves, so that nothing after the `try` runs either.
    """
    context = folder.context
    handler = next(h for h in node.handlers if catches_import_error(h))
    dead = [*node.body[1:], *node.orelse]
    for statement in dead:
        folder.context.forget(statement)
    if node.body[1:]:
        context.edits.append(DropTail(span(node.body[1])))
    if node.orelse:
        context.edits.append(DropBlock(span(node), "orelse"))
    if dead:
        lines = extent(node.body[1:]) + extent(node.orelse)
        context.decide(node, "try", {rule}, "removed", lines, node.body[0], (first_line(dead[0]), last_line(dead)))
    node.body, node.orelse = node.body[:1], []
    return leaves(handler.body[-1])
