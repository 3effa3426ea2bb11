"""`and`, `or`, `not` and ternaries.

`a or default` is a value, not a condition: an operand is dropped from a value only where the result
is the same object in every case.
"""

import ast
from collections import Counter
from copy import deepcopy
from dataclasses import replace

from shrinker.facts.evaluate import truth
from shrinker.facts.lattice import Known
from shrinker.facts.operators import is_boolean
from shrinker.fold.context import EvaluatesRemoved
from shrinker.fold.expressions import ExpressionFolder, folds_expression
from shrinker.syntax.ranges import span
from shrinker.syntax.walk import walk
from shrinker.values.edits import DropElement, TakeOperand


@folds_expression(ast.UnaryOp)
def fold_not(folder: ExpressionFolder, node: ast.UnaryOp, condition: bool) -> ast.expr:
    """`not x`, and other operators of one operand."""
    if not isinstance(node.op, ast.Not):
        node.operand = folder.operand(node.operand)
        return node
    node.operand, value = folder.tested(node.operand)
    decided = (
        folder.literal(node, Known(not value.truth, True, value.rules))
        if value is not None
        else None
    )
    return decided or node


@folds_expression(ast.IfExp)
def fold_ternary(folder: ExpressionFolder, node: ast.IfExp, condition: bool) -> ast.expr:
    """`a if test else b`."""
    test, value = node.test, folder.decided(_without_bindings(folder, node))
    if value is None:
        test, value = folder.tested(node.test)
    if value is not None:
        child = "body" if value.truth else "orelse"
        folder.context.forget(node.test, node.orelse if value.truth else node.body)
        folder.context.edits.append(TakeOperand(span(node), child))
        folder.context.decide(node, "ternary", value.rules, value.outcome, 0, node.test)
        return folder.fold(getattr(node, child), condition=condition)
    node.test = test
    arms: dict[str, ast.expr] = {}
    for name in ("body", "orelse"):
        try:
            arms[name] = folder.when_reached(getattr(node, name), condition=condition)
        except EvaluatesRemoved as poison:
            # The test is asked all the same, and may well decide for the other arm.
            raise EvaluatesRemoved(replace(poison.removed, eager=True), deferred=True) from poison
    node.body, node.orelse = arms["body"], arms["orelse"]
    return node


def _without_bindings(folder: ExpressionFolder, node: ast.IfExp) -> ast.expr:
    """Return the test, with the value in the place of each `name := value` whose name nothing else
    of the function has.
    """
    function = folder.context.function
    bound = {part.target.id for part in walk(node.test) if isinstance(part, ast.NamedExpr)}
    if function is None or not bound:
        return node.test
    named = [
        Counter(part.id for part in walk(where) if isinstance(part, ast.Name))
        for where in (function, node)
    ]
    declared = {
        name
        for part in walk(function)
        if isinstance(part, ast.Global | ast.Nonlocal)
        for name in part.names
    }
    own = {name for name in bound - declared if named[0][name] == named[1][name]}

    class Values(ast.NodeTransformer):
        def visit_NamedExpr(self, part: ast.NamedExpr) -> ast.AST:
            self.generic_visit(part)
            return part.value if part.target.id in own else part

    test: ast.expr = Values().visit(deepcopy(node.test))
    return test


@folds_expression(ast.BoolOp)
def fold_chain(folder: ExpressionFolder, node: ast.BoolOp, condition: bool) -> ast.expr:
    """`and` and `or`."""
    is_and = isinstance(node.op, ast.And)
    if condition:
        whole = folder.decided(node)
        literal = (
            None if whole is None else folder.literal(node, Known(whole.truth, True, whole.rules))
        )
    else:
        literal = folder.valued(node)
    if literal is not None:
        return literal
    kept: list[ast.expr] = []
    rest = list(node.values)
    while rest:
        operand = rest.pop(0)
        tested = condition or bool(rest)
        known, certain = truth(operand, folder.scope), folder.decided(operand)
        # `True and x`, `False or x`. As the last operand it is the chain's value.
        if (
            certain is not None
            and certain.truth is is_and
            and (tested or _adds_nothing(folder, certain, kept))
        ):
            _drop_operand(folder, operand, certain)
            continue
        try:
            edits, fold = len(folder.context.edits), folder.when_reached if kept else folder.fold
            folded = fold(operand, condition=condition or (tested and _is_test(operand)))
        except EvaluatesRemoved as poison:
            if not kept or poison.removed.eager:
                raise
            # In the closed world the chain has ended before this operand.
            _drop_operand(folder, operand, rule=poison.removed.rule)
            break
        if len(folder.context.edits) > edits:
            # An arm of a ternary took its place, or an operand within it went: what is left may be
            # decided.
            known, certain = truth(folded, folder.scope), folder.decided(folded)
            if certain is not None and certain.truth is is_and and tested:
                _drop_operand(folder, operand, certain)
                continue
        kept.append(folded)
        if known is not None and known.rules and known.truth is not is_and:
            # It ends the chain, whatever asking it does.
            break
    for operand in rest:
        _drop_operand(folder, operand)
    if not kept:
        return folder.constant(node, is_and, "boolean", "constant")
    if len(kept) == 1:
        return kept[0]
    node.values = kept
    return node


def _adds_nothing(folder: ExpressionFolder, value: Known, before: list[ast.expr]) -> bool:
    """`x and True` is `x` when `x` is a bool."""
    plain = value.exact and isinstance(value.value, bool)
    return bool(before) and plain and all(is_boolean(each, folder.scope) for each in before)


def _drop_operand(
    folder: ExpressionFolder, operand: ast.expr, value: Known | None = None, rule: str = ""
) -> None:
    folder.context.forget(operand)
    folder.context.edits.append(DropElement(span(operand)))
    if value is not None:
        folder.context.decide(operand, "boolean", value.rules, value.outcome, 0)
    elif rule:
        folder.context.decide(operand, "boolean", {rule}, "removed", 0)


def _is_test(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )
