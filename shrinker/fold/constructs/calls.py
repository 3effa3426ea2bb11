"""Calls and items: results that are known, registrations, tests for a class, imports by name."""

import ast

from shrinker.facts.calls import named_argument
from shrinker.fold.constructs.comparisons import fold_instance_test
from shrinker.fold.constructs.displays import fold_display
from shrinker.fold.context import EvaluatesRemoved
from shrinker.fold.domains import registration
from shrinker.fold.expressions import ExpressionFolder, folds_expression
from shrinker.fold.statements import Folded, StatementFolder, folds


@folds(ast.Expr)
def fold_alone(folder: StatementFolder, node: ast.Expr) -> Folded:
    """An expression that stands alone."""
    if (filed := registration(node.value, folder.scope)) is not None:
        return folder.drop(node, {filed.rule}, "registration")
    value = folder.expressions.fold(node.value)
    if isinstance(value, ast.Constant) and value is not node.value:
        return folder.drop(node, {"no-effect"}, "call")
    node.value = value
    return [node], False


@folds_expression(ast.Call)
def fold_call(folder: ExpressionFolder, node: ast.Call, condition: bool) -> ast.expr:
    """A call."""
    match node:
        case ast.Call(ast.Name("isinstance" | "issubclass"), [_, _], []):
            return fold_instance_test(folder, node)
    if (folded := folder.valued(node)) is not None:
        return folded
    if (filed := registration(node, folder.scope)) is not None:
        raise EvaluatesRemoved(filed)
    folder.asked(node)
    node.func = folder.followed(node.func)
    if (named := named_argument(node, folder.scope)) is not None:
        raise EvaluatesRemoved(named)
    match node:
        case ast.Call(ast.Name("set" | "frozenset"), [ast.Tuple() as rows], []):
            # Nobody counts the places of a set.
            fold_display(folder, rows)
        case _:
            node.args = [folder.fold(a) for a in node.args]
    for keyword in node.keywords:
        keyword.value = folder.fold(keyword.value)
    return node


@folds_expression(ast.Subscript)
def fold_item(folder: ExpressionFolder, node: ast.Subscript, condition: bool) -> ast.expr:
    """An item of something."""
    folder.asked(node)
    node.value = folder.followed(node.value)
    node.slice = folder.fold(node.slice)
    return node
