"""Calls and items: results that are known, registrations, tests for a class, imports by name."""

import ast

from shrinker.facts.calls import is_pure, named_argument
from shrinker.facts.evaluate import ValueScope, evaluate
from shrinker.facts.lattice import Ref, Removed
from shrinker.fold.constructs.comparisons import fold_instance_test
from shrinker.fold.constructs.displays import drop_unasked, fold_display, is_never
from shrinker.fold.context import EvaluatesRemoved
from shrinker.fold.expressions import ExpressionFolder, folds_expression
from shrinker.fold.statements import Folded, StatementFolder, folds
from shrinker.syntax.names import written


@folds(ast.Expr)
def fold_alone(folder: StatementFolder, node: ast.Expr) -> Folded:
    """Return an expression that stands alone."""
    if (filed := registration(node.value, folder.scope)) is not None:
        return folder.drop(node, {filed.rule}, "registration")
    value = folder.expressions.fold(node.value)
    if isinstance(value, ast.Constant) and value is not node.value:
        return folder.drop(node, {"no-effect"}, "call")
    node.value = value
    return [node], False


@folds_expression(ast.Call)
def fold_call(folder: ExpressionFolder, node: ast.Call, condition: bool) -> ast.expr:
    """Return a call."""
    match node:
        case ast.Call(ast.Name("isinstance" | "issubclass"), [_, _], []):
            return folder.valued(node) or fold_instance_test(folder, node)
    if (folded := folder.valued(node)) is not None:
        return folded
    if (filed := registration(node, folder.scope)) is not None:
        raise EvaluatesRemoved(filed)
    drop_unasked(folder, node)
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
    """Return an item of something."""
    drop_unasked(folder, node)
    node.value = folder.followed(node.value)
    node.slice = folder.fold(node.slice)
    return node


def registration(node: ast.expr, scope: ValueScope) -> Removed | None:
    """Return the removed thing that a call files: its first argument, or the name that this is made
    with, is a text that the domain never is, or is read from something removed.
    """
    if not isinstance(node, ast.Call) or not node.args:
        return None
    function = evaluate(node.func, scope)
    name = function.name if isinstance(function, Ref) else f"{scope.module}.{written(node.func)}"
    if (domain := scope.environment.domain(name, "registers")) is None:
        return None
    filed = node.args[0]
    if isinstance(filed, ast.Call):
        filed = next((k.value for k in filed.keywords if k.arg == "name"), filed)
    value = evaluate(filed, scope)
    # Under a name that is read from what a rule removes nothing is filed.
    if not (is_never(filed, domain, scope) or (isinstance(value, Removed) and value.module)):
        return None
    if not all(is_pure(a, scope) for a in (*node.args, *(k.value for k in node.keywords))):
        return None
    rules = "+".join(sorted(domain.rules))
    return Removed(rules, "a name that is not used here", f"{name}({ast.unparse(filed)})")
