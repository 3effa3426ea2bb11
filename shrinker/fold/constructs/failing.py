"""`try` around an import that fails at once: its handler runs, and what follows the import does not."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from shrinker.facts.bound import removed_names
from shrinker.facts.evaluate import truth
from shrinker.facts.lattice import Known, Removed
from shrinker.facts.world import ValueScope
from shrinker.fold.messages import message
from shrinker.fold.statements import Body, StatementFolder
from shrinker.syntax.control import asks_for_exception, leaves
from shrinker.syntax.imports import catches_import_error
from shrinker.syntax.ranges import extent, first_line, last_line, span
from shrinker.syntax.scopes import Comprehension
from shrinker.syntax.walk import Definition, walk
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
    """True when code of a handler that may run looks at the exception."""
    parts = list(running(handler.body, folder.scope))
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


_SCOPES = Definition | ast.Lambda | Comprehension


def running(body: Iterable[ast.stmt], scope: ValueScope) -> Iterator[ast.AST]:
    """Every node of a block, and of the functions in it, but for what stands in branches that the facts refute.

    Args:
        body: the block.
        scope: where its names are looked up.
    """
    stack: list[ast.AST] = list(_block(body, scope))
    while stack:
        part = stack.pop()
        if isinstance(part, _SCOPES):
            # Its names are looked up elsewhere: nothing is left out.
            yield from walk(part)
            continue
        yield part
        stack.extend(_reached(part, scope))


def _reached(node: ast.AST, scope: ValueScope) -> Iterator[ast.AST]:
    """Parts of a node that may run."""
    if isinstance(node, ast.BoolOp):
        for operand in node.values:
            yield operand
            value = truth(operand, scope)
            if isinstance(value, Known) and value.rules and value.truth is isinstance(node.op, ast.Or):
                return
        return
    dead = _refuted(node, scope)
    for name, value in ast.iter_fields(node):
        if name == dead:
            continue
        if isinstance(value, ast.AST):
            yield value
        elif isinstance(value, list):
            yield from _block([part for part in value if isinstance(part, ast.AST)], scope)


def _block(parts: Iterable[ast.AST], scope: ValueScope) -> Iterator[ast.AST]:
    """The parts up to an `if` of which the facts take a block that leaves."""
    for part in parts:
        yield part
        if isinstance(part, ast.If):
            dead = _refuted(part, scope)
            live = part.body if dead == "orelse" else part.orelse
            if dead and live and leaves(live[-1]):
                return


def _refuted(node: ast.AST, scope: ValueScope) -> str:
    """The field of a statement or ternary that never runs; empty for none."""
    if not isinstance(node, ast.If | ast.IfExp | ast.While):
        return ""
    value = truth(node.test, scope)
    if value is None or not value.rules:
        return ""
    return "body" if not value.truth else "" if isinstance(node, ast.While) else "orelse"
