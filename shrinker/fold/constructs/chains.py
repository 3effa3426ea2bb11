"""`and`, `or`, `not` and ternaries.

`a or default` is a value, not a condition: an operand is dropped from a value only where the result
is the same object in every case.
"""

from __future__ import annotations

import ast
from collections import Counter
from copy import deepcopy
from dataclasses import replace

from shrinker.facts.effects import is_pure
from shrinker.facts.evaluate import evaluate
from shrinker.facts.lattice import Known
from shrinker.facts.operators import is_boolean
from shrinker.fold.context import EvaluatesRemoved
from shrinker.fold.expressions import ExpressionFolder, folds_expression, without_removed
from shrinker.syntax.ranges import span
from shrinker.syntax.walk import walk
from shrinker.values.edits import DropElement, TakeOperand


@folds_expression(ast.UnaryOp)
def fold_not(folder: ExpressionFolder, node: ast.UnaryOp, condition: bool) -> ast.expr:
    """`not x`, and other operators of one operand."""
    if not isinstance(node.op, ast.Not):
        node.operand = folder.operand(node.operand)
        return node
    value = folder.truth(node)
    if value is not None and value.rules and is_pure(node, folder.scope):
        return folder.literal(node, Known(value.truth, True, value.rules)) or node
    original = node.operand
    node.operand = folder.fold(node.operand, condition=True)
    if isinstance(node.operand, ast.Constant) and node.operand is not original and isinstance(node.operand.value, bool):
        return folder.constant(node, not node.operand.value, "not", "constant")
    value = folder.decided(node) if node.operand is not original else None
    if value is not None:
        # An arm of a ternary took its place, say: what is left may be decided.
        return folder.literal(node, Known(value.truth, True, value.rules)) or node
    return node


@folds_expression(ast.IfExp)
def fold_ternary(folder: ExpressionFolder, node: ast.IfExp, condition: bool) -> ast.expr:
    """`a if test else b`."""
    bare = _without_bindings(folder, node)
    value = folder.decided(bare)
    if value is not None:
        return _take_arm(folder, node, value.truth, "ternary", value.rules, condition)
    test = folder.fold(node.test, condition=True)
    if isinstance(test, ast.Constant) and test is not node.test:
        return _take_arm(folder, node, bool(test.value), "ternary", frozenset({"constant"}), condition)
    value = folder.decided(test) if test is not node.test else None
    if value is not None:
        return _take_arm(folder, node, value.truth, "ternary", value.rules, condition)
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
    """The test, with the value in the place of each `name := value` whose name nothing else of the function has."""
    function = folder.context.bodies[-1] if folder.context.bodies else None
    bound = {part.target.id for part in walk(node.test) if isinstance(part, ast.NamedExpr)}
    if function is None or not bound:
        return node.test
    named = [Counter(part.id for part in walk(where) if isinstance(part, ast.Name)) for where in (function, node)]
    declared = {name for part in walk(function) if isinstance(part, ast.Global | ast.Nonlocal) for name in part.names}
    own = {name for name in bound - declared if named[0][name] == named[1][name]}

    class Values(ast.NodeTransformer):
        def visit_NamedExpr(self, part: ast.NamedExpr) -> ast.AST:
            self.generic_visit(part)
            return part.value if part.target.id in own else part

    test: ast.expr = Values().visit(deepcopy(node.test))
    return test


def _take_arm(
    folder: ExpressionFolder, node: ast.IfExp, taken: bool, kind: str, rules: frozenset[str], condition: bool
) -> ast.expr:
    child = "body" if taken else "orelse"
    folder.context.forget(node.test)
    folder.context.forget(node.orelse if taken else node.body)
    folder.context.edits.append(TakeOperand(span(node), child))
    folder.context.decide(node, kind, rules, "true" if taken else "false", 0, node.test)
    return folder.fold(getattr(node, child), condition=condition)


@folds_expression(ast.BoolOp)
def fold_chain(folder: ExpressionFolder, node: ast.BoolOp, condition: bool) -> ast.expr:
    """`and` and `or`."""
    is_and = isinstance(node.op, ast.And)
    if condition:
        whole = folder.truth(node)
        if whole is not None and whole.rules and is_pure(node, folder.scope):
            return folder.literal(node, Known(whole.truth, True, whole.rules)) or node
    else:
        folded = folder.literal(node, without_removed(evaluate(node, folder.scope)))
        if folded is not None:
            return folded
    kept: list[tuple[int, ast.expr]] = []
    values = node.values
    cut = False
    for index, operand in enumerate(values):
        if cut:
            _drop_operand(folder, operand, node)
            continue
        value = folder.truth(operand)
        decided = value is not None and bool(value.rules) and is_pure(operand, folder.scope)
        last = index == len(values) - 1
        neutral = decided and value is not None and value.truth is is_and
        # `True and x`, `False or x`. As the last operand it is the chain's value.
        if neutral and (condition or not last or _adds_nothing(folder, value, [v for _, v in kept])):
            _drop_operand(folder, operand, node, value)
            continue
        try:
            fold = folder.when_reached if kept else folder.fold
            before = len(folder.context.edits)
            folded = fold(operand, condition=condition or (not last and _is_test(operand)))
            if folded is not operand and isinstance(folded, ast.Constant) and isinstance(folded.value, bool):
                if folded.value is not is_and:
                    cut = True
                elif condition or not last:
                    _drop_operand(folder, operand, node)
                    continue
            elif len(folder.context.edits) > before and (condition or not last):
                # An arm of a ternary took its place, or an operand within it went: what is left may be decided.
                value = folder.truth(folded)
                pure = value is not None and bool(value.rules) and is_pure(folded, folder.scope)
                if pure and value is not None and value.truth is is_and:
                    _drop_operand(folder, operand, node, value)
                    continue
            kept.append((index, folded))
        except EvaluatesRemoved as poison:
            if not kept or poison.removed.eager:
                raise
            # In the closed world the chain has ended before this operand.
            _drop_operand(folder, operand, node, rule=poison.removed.rule)
            cut = True
            continue
        if value is not None and value.rules and value.truth is not is_and:
            # It ends the chain, whatever asking it does.
            cut = True
    if not kept:
        return folder.constant(node, is_and, "boolean", "constant")
    if len(kept) == len(values):
        node.values = [expression for _, expression in kept]
        return node
    if len(kept) == 1:
        return kept[0][1]
    node.values = [expression for _, expression in kept]
    return node


def _adds_nothing(folder: ExpressionFolder, value: Known | None, before: list[ast.expr]) -> bool:
    """`x and True` is `x` when `x` is a bool."""
    return (
        bool(before)
        and value is not None
        and value.exact
        and isinstance(value.value, bool)
        and all(is_boolean(v, folder.scope) for v in before)
    )


def _drop_operand(
    folder: ExpressionFolder, operand: ast.expr, node: ast.BoolOp, value: Known | None = None, rule: str = ""
) -> None:
    folder.context.forget(operand)
    folder.context.edits.append(DropElement(span(operand), "BoolOp"))
    if value is not None:
        folder.context.decide_known(operand, "boolean", value, 0)
    elif rule:
        folder.context.decide(operand, "boolean", {rule}, "removed", 0)


def _is_test(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
