"""Calls and items: results that are known, registrations, tests for a class, imports by name."""

import ast

from shrinker.facts.evaluate import evaluate
from shrinker.fold.constructs.comparisons import fold_instance_test
from shrinker.fold.constructs.displays import fold_display
from shrinker.fold.context import EvaluatesRemoved
from shrinker.fold.domains import registration
from shrinker.fold.expressions import ExpressionFolder, folds_expression, without_removed
from shrinker.fold.statements import Folded, StatementFolder, folds

_INSTANCE_TESTS = frozenset({"isinstance", "issubclass"})
_SETS = frozenset({"set", "frozenset"})


@folds(ast.Expr)
def fold_alone(folder: StatementFolder, node: ast.Expr) -> Folded:
    """An expression that stands alone."""
    filed = registration(node.value, folder.scope)
    if filed is not None:
        return folder.drop(node, {filed.rule}, "registration")
    value = folder.expressions.fold(node.value)
    if isinstance(value, ast.Constant) and value is not node.value:
        return folder.drop(node, {"no-effect"}, "call")
    node.value = value
    return [node], False


@folds_expression(ast.Call)
def fold_call(folder: ExpressionFolder, node: ast.Call, condition: bool) -> ast.expr:
    """A call."""
    if (
        isinstance(node.func, ast.Name)
        and node.func.id in _INSTANCE_TESTS
        and len(node.args) == 2
        and not node.keywords
    ):
        return fold_instance_test(folder, node)
    folded = folder.literal(node, without_removed(evaluate(node, folder.scope)))
    if folded is not None:
        return folded
    filed = registration(node, folder.scope)
    if filed is not None:
        raise EvaluatesRemoved(filed)
    folder.asked(node)
    node.func = folder.followed(node.func)
    for argument in node.args:
        # `register("npu", "sglang.srt.npu.store")`: an import by name, when it is asked for.
        named = (
            folder.context.environment.named_by_string(argument.value) if isinstance(argument, ast.Constant) else None
        )
        if named is not None:
            raise EvaluatesRemoved(named)
    match node:
        case ast.Call(ast.Name(name), [ast.Tuple() as rows], []) if name in _SETS:
            # Nobody counts the places of a set.
            fold_display(folder, rows, "Tuple")
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
