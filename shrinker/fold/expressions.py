"""Fold expressions in place: what all constructs need, and names, attributes and calculations;
others stand in `constructs`.
"""

import ast
from collections.abc import Callable
from typing import Any

from shrinker.facts.calls import is_pure
from shrinker.facts.evaluate import ValueScope, evaluate, truth
from shrinker.facts.lattice import Known, Removed, Value
from shrinker.fold.context import Context, EvaluatesRemoved, LeavesWhole
from shrinker.syntax.ranges import span
from shrinker.syntax.walk import ByClass, walk
from shrinker.values.edits import Literal

Construct = Callable[["ExpressionFolder", Any, bool], ast.expr]
"""Takes the folder, the node, and whether only its truth matters; returns what is left of it."""
_CONSTRUCTS = ByClass[Construct]()
folds_expression = _CONSTRUCTS.of
"""Registers what folds some classes of expressions; the parts of any other are folded one by one.
"""


class ExpressionFolder:
    """Folds the expressions of one scope."""

    def __init__(self, context: Context, scope: ValueScope) -> None:
        self.context = context
        self.scope = scope

    def fold(self, node: ast.expr, *, condition: bool = False) -> ast.expr:
        """Return the folded expression; edits and decisions go to the context.

        Raises EvaluatesRemoved: evaluating it touches a removed name.
        """
        construct = _CONSTRUCTS.get(type(node))
        return self.children(node) if construct is None else construct(self, node, condition)

    def children(self, node: ast.expr) -> ast.expr:
        """Fold the expressions that a node holds.

        Raises EvaluatesRemoved: evaluating one of them touches a removed name.
        """
        for name, child in ast.iter_fields(node):
            if isinstance(child, ast.expr):
                setattr(node, name, self.fold(child))
            elif isinstance(child, list):
                setattr(node, name, [self.fold(c) if isinstance(c, ast.expr) else c for c in child])
        return node

    # Names, attributes and calls that have a value

    def literal(self, node: ast.expr, value: Value) -> ast.expr | None:
        """Return the literal in the place of an expression of this value; None when it cannot be
        written.

        Raises EvaluatesRemoved: the value is something removed.
        """
        if isinstance(value, Removed):
            raise EvaluatesRemoved(value)
        match value:
            case Known(value=None | bool(), exact=True) if value.rules and is_pure(
                node, self.scope
            ):
                return self._write(node, value, "value", repr(value.value))
        return None

    def valued(self, node: ast.expr) -> ast.expr | None:
        """Return the literal in the place of an expression; None when it cannot be written.

        Removed operands are handled where they stand.
        """
        value = evaluate(node, self.scope)
        return None if isinstance(value, Removed) else self.literal(node, value)

    def when_reached(self, node: ast.expr, *, condition: bool = False) -> ast.expr:
        """Fold what is evaluated only sometimes: the error of something missing must not come
        earlier.
        """
        try:
            return self.fold(node, condition=condition)
        except EvaluatesRemoved as poison:
            if poison.removed.missing:
                raise LeavesWhole(
                    f"{poison.removed.name} is not installed, and may be asked for or not"
                ) from poison
            raise

    def followed(self, node: ast.expr) -> ast.expr:
        """Fold what is looked into or called: `None.name` would be the same error in other
        words.
        """
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(
            evaluate(node, self.scope), Known
        ):
            return node
        return self.fold(node)

    def operand(self, node: ast.expr) -> ast.expr:
        """Fold what is calculated with: of `None` that is an error, so that such a place is reached
        where it is something else.
        """
        match evaluate(node, self.scope) if isinstance(node, ast.Name | ast.Attribute) else None:
            case Known(value=None, exact=True):
                return node
        return self.fold(node)

    def constant(self, node: ast.expr, value: bool, kind: str, rule: str) -> ast.expr:
        """Return the bool in the place of an expression that a rule decides."""
        known = Known(value, True, frozenset({rule}))
        return self._write(node, known, kind, known.outcome)

    def _write(self, node: ast.expr, value: Known, kind: str, outcome: str) -> ast.Constant:
        """Return the literal in the place of an expression; what is decided still knows the rules
        that it rests on.
        """
        self.context.forget(node)
        self.context.edits.append(Literal(span(node), repr(value.value)))
        self.context.decide(node, kind, value.rules, outcome, 0)
        constant = ast.copy_location(ast.Constant(value.value), node)  # type: ignore[arg-type]
        self.scope.decided[constant] = value
        return constant

    def decided(self, node: ast.expr) -> Known | None:
        """Return what the facts say of an expression as a condition, where asking it does nothing
        else.
        """
        value = truth(node, self.scope)
        return value if value is not None and value.rules and is_pure(node, self.scope) else None

    def tested(
        self, node: ast.expr, fold: Callable[..., ast.expr] | None = None
    ) -> tuple[ast.expr, Known | None]:
        """Return a condition, and what the facts say of it, or of what folding left of it, where
        asking it does nothing else; `fold` folds it where nothing is said of the whole, by default
        as what is evaluated for certain.
        """
        value, left = self.decided(node), node
        if value is None:
            edits = len(self.context.edits)
            left = (fold or self.fold)(node, condition=True)
            # An arm of a ternary took its place, say: what is left may be decided.
            value = self.decided(left) if len(self.context.edits) > edits else None
        return left, value


# Names, attributes, calculations and f-strings


@folds_expression(ast.Name)
def _name(folder: ExpressionFolder, node: ast.Name, condition: bool) -> ast.expr:
    if not isinstance(node.ctx, ast.Load):
        return node
    return folder.literal(node, folder.scope.lookup(node.id, node.lineno)) or node


@folds_expression(ast.Attribute)
def _attribute(folder: ExpressionFolder, node: ast.Attribute, condition: bool) -> ast.expr:
    if (
        isinstance(node.ctx, ast.Load)
        and (folded := folder.literal(node, evaluate(node, folder.scope))) is not None
    ):
        return folded
    node.value = folder.followed(node.value)
    return node


@folds_expression(ast.BinOp)
def _calculation(folder: ExpressionFolder, node: ast.BinOp, condition: bool) -> ast.expr:
    if isinstance(node.op, ast.BitOr):
        # `int | None` is a type.
        return folder.children(node)
    node.left, node.right = folder.operand(node.left), folder.operand(node.right)
    return node


@folds_expression(ast.JoinedStr)
def _joined(folder: ExpressionFolder, node: ast.JoinedStr, condition: bool) -> ast.expr:
    # Positions inside f-strings differ between Python versions: look, never touch.
    for part in walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            value = folder.scope.lookup(part.id, part.lineno)
            if isinstance(value, Removed):
                raise EvaluatesRemoved(value)
    return node
