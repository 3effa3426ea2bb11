"""Comparisons, and questions after a class: nothing in the closed world is what is removed."""

import ast

from shrinker.facts.calls import is_pure
from shrinker.facts.evaluate import evaluate
from shrinker.facts.lattice import Known, Removed, TextDomain
from shrinker.fold.constructs.displays import drop_texts, drop_unasked, fold_display
from shrinker.fold.context import EvaluatesRemoved
from shrinker.fold.expressions import ExpressionFolder, folds_expression

_DISPLAYS = ast.Tuple | ast.List | ast.Set


@folds_expression(ast.Compare)
def fold_comparison(folder: ExpressionFolder, node: ast.Compare, condition: bool) -> ast.expr:
    """Comparisons with flags, domains, members and what is removed."""
    if (folded := folder.valued(node)) is not None:
        return folded
    drop_unasked(folder, node)
    operands = (node.left, *node.comparators)
    node.left = node.left if _stays(folder, node, 0) else folder.fold(node.left)
    single = node.ops[0] if len(node.ops) == 1 else None
    try:
        display = node.comparators[0] if isinstance(single, ast.In | ast.NotIn) else None
        if isinstance(display, _DISPLAYS):
            domain = evaluate(node.left, folder.scope)
            if isinstance(domain, TextDomain) and not domain.items:
                drop_texts(folder.context, folder.scope, display, domain)
        if isinstance(display, _DISPLAYS) and (
            (isinstance(display, ast.Tuple) and _is_class_of_something(node.left))
            or any(_is_removed_member(folder, element) for element in display.elts)
        ):
            fold_display(folder, display)
            if not display.elts and is_pure(node.left, folder.scope):
                return folder.constant(
                    node, isinstance(single, ast.NotIn), "compare", "removed-rows"
                )
        elif display is not None and _is_decided(folder, display):
            # Not for the sake of writing `x in None`.
            pass
        else:
            for index, operand in enumerate(node.comparators):
                fold, kind = folder.when_reached if index else folder.fold, node.ops[index]
                if (
                    kind is not single
                    and isinstance(kind, ast.In | ast.NotIn)
                    and isinstance(operand, _DISPLAYS)
                ):
                    # The next link compares the display itself, so that no element may go; naming a
                    # removed member there produces nothing.
                    operand.elts = [
                        e if _is_removed_member(folder, e) else fold(e) for e in operand.elts
                    ]
                elif not _stays(folder, node, index + 1):
                    node.comparators[index] = fold(operand)
    except EvaluatesRemoved as poison:
        identity = isinstance(single, ast.Is | ast.IsNot) or (
            isinstance(single, ast.Eq | ast.NotEq) and _is_class_of_something(node.left)
        )
        if identity and not poison.removed.missing and is_pure(node.left, folder.scope):
            # Nothing in the closed world is a removed class or function. Equality proves less: a
            # member of a removed `IntEnum` equals a number.
            return folder.constant(
                node, isinstance(single, ast.IsNot | ast.NotEq), "compare", poison.removed.rule
            )
        raise
    if any(
        new is not old for new, old in zip((node.left, *node.comparators), operands, strict=True)
    ):
        # An arm of a ternary took its place, say: what is left may be decided.
        return folder.valued(node) or node
    return node


def _stays(folder: ExpressionFolder, node: ast.Compare, index: int) -> bool:
    """True for a removed member that something is compared with which must be asked all the same:
    comparing with it produces nothing.
    """
    operand = (node.left, *node.comparators)[index]
    if not isinstance(operand, ast.Attribute):
        return False
    beside = node.ops[max(index - 1, 0) : index + 1]
    decided = ast.Eq | ast.NotEq | ast.Is | ast.IsNot
    if not all(isinstance(o, decided if index else decided | ast.In | ast.NotIn) for o in beside):
        return False
    return _is_removed_member(folder, operand)


def _is_removed_member(folder: ExpressionFolder, node: ast.expr) -> bool:
    value = evaluate(node, folder.scope) if isinstance(node, ast.Attribute) else None
    return isinstance(value, Removed) and value.member


def _is_decided(folder: ExpressionFolder, node: ast.expr) -> bool:
    value = evaluate(node, folder.scope)
    return isinstance(value, Known) and bool(value.rules)


def fold_instance_test(folder: ExpressionFolder, node: ast.Call) -> ast.expr:
    """`isinstance(x, Gone)`."""
    node.args[0] = folder.fold(node.args[0])
    classes = node.args[1]
    try:
        node.args[1] = (
            fold_display(folder, classes)
            if isinstance(classes, ast.Tuple)
            else folder.fold(classes)
        )
    except EvaluatesRemoved as poison:
        if poison.removed.missing or not is_pure(node.args[0], folder.scope):
            raise
        # Nothing in the closed world is an instance of a class that is not in it.
        return folder.constant(node, False, "instance", poison.removed.rule)
    if isinstance(node.args[1], ast.Tuple) and not node.args[1].elts:
        return folder.constant(node, False, "instance", "removed-class")
    return node


def _is_class_of_something(node: ast.expr) -> bool:
    """``type(x)`` or ``x.__class__``."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "type"
    return isinstance(node, ast.Attribute) and node.attr == "__class__"
