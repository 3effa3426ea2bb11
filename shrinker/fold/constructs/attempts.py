"""`try`: its clauses are folded one by one, but for one around an import that fails at once.

Of that the handler runs, and what follows the import does not: the handler takes its place, unless
it looks at the exception, for which the import then stays.
"""

import ast

from shrinker.facts.lattice import Removed
from shrinker.facts.scopes import failing_import
from shrinker.fold.context import EvaluatesRemoved, LeavesWhole, filled
from shrinker.fold.statements import Folded, StatementFolder, folds
from shrinker.syntax.control import asks_for_exception, leaves
from shrinker.syntax.imports import catches_import_error
from shrinker.syntax.ranges import extent, first_line, last_line, span
from shrinker.syntax.side_effects import bound_by
from shrinker.syntax.walk import walk
from shrinker.values.edits import DropElse, DropStatement, DropTail

_ALL = frozenset({"Exception", "BaseException"})
_ONE_OF_THEM = frozenset({"NameError", "UnboundLocalError", "RuntimeError"})
"""Classes that catch only one of what upstream raises for an unbound name and the named error."""


@folds(ast.Try)
def fold_try(folder: StatementFolder, node: ast.Try) -> Folded:
    """Fold a `try` with its clauses."""
    context = folder.context
    failing = failing_import(node, folder.scope) if not node.finalbody else None
    if failing is not None:
        index = next(i for i, h in enumerate(node.handlers) if catches_import_error(h))
        if not _uses_exception(node.handlers[index]):
            return _take_handler(folder, node, index, failing[0]), True
        return _fail_alone(folder, node, node.handlers[index], *failing)
    catches, watches = (
        any(map(catches_import_error, node.handlers)),
        any(map(_tells, node.handlers)),
    )
    context.catching += catches
    context.watching += watches
    body = folder.block(node.body)
    context.catching -= catches
    context.watching -= watches
    if not (body or node.orelse or node.finalbody) and not _makes_locals(folder, node):
        return folder.drop(node, {"emptied"}, "try")
    node.body = filled(body)
    folder.orelse(node)
    _fold_handlers(folder, node)
    if node.finalbody:
        node.finalbody = filled(folder.block(node.finalbody))
    return [node], False


def _makes_locals(folder: StatementFolder, node: ast.Try) -> bool:
    """Tell whether a handler binds a name of a function: without the handler, that name would be
    one of the module.
    """
    return folder.kind == "function" and any(bound_by(*handler.body) for handler in node.handlers)


def _fold_handlers(folder: StatementFolder, node: ast.Try) -> None:
    for handler in node.handlers:
        try:
            handler.type = handler.type and folder.expressions.fold(handler.type)
        except EvaluatesRemoved as poison:
            raise LeavesWhole(
                f"a handler catches {poison.removed.name}, which is removed"
            ) from poison
        handler.body = filled(folder.block(handler.body))


def _tells(handler: ast.ExceptHandler) -> bool:
    """Tell whether a handler tells the named error from the one for an unbound name, which upstream
    raises.
    """
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    plain = all(t is None or (isinstance(t, ast.Name) and t.id not in _ONE_OF_THEM) for t in types)
    return not plain or _uses_exception(handler)


def _uses_exception(handler: ast.ExceptHandler) -> bool:
    """Tell whether code of a handler looks at the exception."""
    parts = [node for statement in handler.body for node in walk(statement)]
    named = handler.name is not None and any(
        isinstance(n, ast.Name) and n.id == handler.name for n in parts
    )
    return named or asks_for_exception(parts)


# An import that fails at once


def _take_handler(folder: StatementFolder, node: ast.Try, index: int, rule: str) -> list[ast.stmt]:
    """Return the body of a handler in the place of the whole."""
    context, handler = folder.context, node.handlers[index]
    rows = node.lineno, first_line(handler.body[0]) - 1
    context.decide(node, "try", {rule}, "removed", extent(node.body), node.body[0], rows)
    context.forget(*node.body, *node.orelse)
    live = [s for s in folder.block(handler.body) if not isinstance(s, ast.Pass)]
    if live:
        context.edits.extend(
            DropStatement(span(s)) for s in handler.body if isinstance(s, ast.Pass)
        )
    context.take(node, f"handler:{index}", live)
    return live


def _fail_alone(
    folder: StatementFolder,
    node: ast.Try,
    handler: ast.ExceptHandler,
    rule: str,
    removed: Removed | None,
) -> Folded:
    """Keep the import for the exception that it raises, without what follows it in the body: of
    something removed the named error in its place, which the handler tells.
    """
    context, first = folder.context, node.body[0]
    catches_all = handler.type is None or (
        isinstance(handler.type, ast.Name) and handler.type.id in _ALL
    )
    if removed is not None and not (folder.kind == "function" and catches_all):
        raise LeavesWhole("import of a removed module fails, but its handler uses the exception")
    dead = [*node.body[1:], *node.orelse]
    context.forget(*dead)
    if node.body[1:]:
        context.edits.append(DropTail(span(node.body[1])))
    if node.orelse:
        context.edits.append(DropElse(span(node)))
    if dead:
        lines = extent(node.body[1:]) + extent(node.orelse)
        context.decide(
            node, "try", {rule}, "removed", lines, first, (first_line(dead[0]), last_line(dead))
        )
    node.body, node.orelse, ends = [first], [], leaves(handler.body[-1])
    if removed is not None:
        node.body = folder.raises([first], removed)
    elif ends:
        folder.ends.add(node)
    _fold_handlers(folder, node)
    return [node], ends
