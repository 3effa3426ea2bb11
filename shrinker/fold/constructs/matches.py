"""`match`: its subject, guards and blocks are folded one by one. Every case stays, and what its pattern names with it."""

from __future__ import annotations

import ast

from shrinker.facts.evaluate import evaluate
from shrinker.facts.lattice import Removed
from shrinker.fold.context import EvaluatesRemoved, filled
from shrinker.fold.statements import Folded, StatementFolder, folds
from shrinker.syntax.walk import walk


@folds(ast.Match)
def fold_match(folder: StatementFolder, node: ast.Match) -> Folded:
    """The subject, then case by case.

    Raises:
        EvaluatesRemoved: a pattern names what only a dead branch binds, or what is not installed.
    """
    node.subject = folder.expressions.fold(node.subject)
    for case in node.cases:
        for part in walk(case.pattern):
            if isinstance(part, ast.Name | ast.Attribute):
                _keep(folder, part)
        if case.guard is not None:
            case.guard = folder.expressions.fold(case.guard, condition=True)
        case.body = filled(folder.block(case.body))
    return [node], False


def _keep(folder: StatementFolder, part: ast.expr) -> None:
    """A pattern asks for what it names whatever the subject is: a removed module comes back, a member is there all the same."""
    value = evaluate(part, folder.scope)
    if isinstance(value, Removed) and not value.member:
        if value.missing or not value.module:
            raise EvaluatesRemoved(value, deferred=True)
        folder.context.escape(part, value)
