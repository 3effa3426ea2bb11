"""`if` and `assert`: a decided branch takes its statement's place."""

import ast

from shrinker.facts.calls import is_pure
from shrinker.facts.evaluate import truth
from shrinker.facts.lattice import Known
from shrinker.fold.context import Context, filled
from shrinker.fold.statements import Folded, StatementFolder, folds
from shrinker.syntax.ranges import extent, first_line, last_line, span
from shrinker.values.edits import DropElse, DropStatement, DropTail, TakeBlock


@folds(ast.If)
def fold_if(folder: StatementFolder, node: ast.If) -> Folded:
    """Take the branch that the facts decide; an `if` without an effect whose blocks are
    empty goes.
    """
    context = folder.context
    known, edits = _decided_test(folder, node), len(context.edits)
    test, value = folder.expressions.tested(node.test)
    if value is not None:
        return _decided(folder, node, value)
    node.test = test
    certain = known or (_decided_test(folder, node) if len(context.edits) > edits else None)
    if certain is not None:
        if is_pure(test, folder.scope):
            # What stands beside the part that was decided need not be asked.
            return _decided(folder, node, certain)
        return _asked_in_vain(folder, node, certain)
    body, orelse = folder.block(node.body), folder.block(node.orelse)
    if not body and not orelse and is_pure(node.test, folder.scope):
        context.forget(node.test)
        context.edits.append(_emptied(context, node))
        context.decide(node, "if", {"emptied"}, "removed", extent([node]))
        return [], True
    if node.orelse and not orelse:
        context.edits.append(DropElse(span(node)))
    node.body, node.orelse = filled(body), orelse
    return [node], True


def _decided_test(folder: StatementFolder, node: ast.If) -> Known | None:
    """Return what the facts say of a test, whatever asking it does."""
    value = truth(node.test, folder.scope)
    return value if value is not None and value.rules else None


def _decided(folder: StatementFolder, node: ast.If, value: Known) -> Folded:
    context = folder.context
    dead, live = (node.orelse, node.body) if value.truth else (node.body, node.orelse)
    # With the dead block go the test, and `else`.
    gone = node.lineno, first_line(node.orelse[0]) - 1 if node.orelse else last_line(node.body)
    if value.truth:
        gone = (last_line(node.body) + 1, last_line(node.orelse)) if node.orelse else (0, 0)
    _tell(context, node, value, gone)
    context.forget(node.test, *dead)
    live = folder.block(live)
    context.take(node, "body" if value.truth else "orelse", live, _emptied(context, node))
    return live, True


def _tell(context: Context, node: ast.If, value: Known, gone: tuple[int, int]) -> None:
    kind, dead = (
        "elif" if context.is_elif(node) else "if",
        node.orelse if value.truth else node.body,
    )
    context.decide(node, kind, value.rules, value.outcome, extent(dead), node.test, gone)


def _asked_in_vain(folder: StatementFolder, node: ast.If, value: Known) -> Folded:
    """Return the facts decide a test that must be asked all the same: the dead block goes, `pass`
    may take its place.
    """
    context = folder.context
    dead = node.orelse if value.truth else node.body
    is_pass = all(isinstance(statement, ast.Pass) for statement in dead)
    if not is_pass:
        _tell(context, node, value, (first_line(dead[0]), last_line(dead)))
        context.forget(*dead)
    if value.truth:
        if dead:
            context.edits.append(DropElse(span(node)))
        node.body, node.orelse = filled(folder.block(node.body)), []
    else:
        if not is_pass:
            context.edits.append(DropTail(span(dead[0])))
        node.body = filled([])
        folder.orelse(node)
    return [node], True


def _emptied(context: Context, node: ast.If) -> TakeBlock | DropStatement:
    # An `elif` arm cannot be dropped as a statement: it is its chain's else.
    return (
        TakeBlock(span(node), "orelse")
        if context.is_elif(node) and not node.orelse
        else DropStatement(span(node))
    )


@folds(ast.Assert)
def fold_assert(folder: StatementFolder, node: ast.Assert) -> Folded:
    """Return an assertion that holds goes."""
    test, value = folder.expressions.tested(node.test)
    if value is not None and value.truth:
        return folder.drop(node, value.rules, "assert")
    node.test = test if value is None else folder.expressions.fold(test, condition=True)
    if node.msg is not None:
        node.msg = folder.expressions.when_reached(node.msg)
    return [node], False
