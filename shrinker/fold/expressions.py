"""Fold expressions in place: names, attributes and calls here, every other construct in a file of its own."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from shrinker.facts.effects import is_pure
from shrinker.facts.evaluate import evaluate, truth
from shrinker.facts.lattice import Known, Removed, Value
from shrinker.facts.world import ValueScope
from shrinker.fold.chains import fold_chain, fold_not, fold_ternary
from shrinker.fold.comparisons import fold_comparison, fold_instance_test
from shrinker.fold.context import Context, EvaluatesRemoved
from shrinker.fold.displays import fold_dict, fold_display, fold_list, fold_set
from shrinker.fold.domains import asked_table, registration
from shrinker.fold.literals import decided_constant, without_removed
from shrinker.fold.nested import fold_comprehension, fold_lambda
from shrinker.syntax.ranges import span
from shrinker.syntax.walk import walk
from shrinker.values.edits import Literal

_INSTANCE_TESTS = frozenset({"isinstance", "issubclass"})


class ExpressionFolder:
    """Folds the expressions of one scope."""

    def __init__(self, context: Context, scope: ValueScope) -> None:
        self.context = context
        self.scope = scope

    def fold(self, node: ast.expr, *, condition: bool = False) -> ast.expr:
        """The folded expression; edits and decisions go to the context.

        Raises:
            EvaluatesRemoved: evaluating it touches a removed name.
        """
        construct = _CONSTRUCTS.get(type(node))
        return self.children(node) if construct is None else construct(self, node, condition)

    def within(self, scope: ValueScope) -> ExpressionFolder:
        """The folder of an expression with a scope of its own."""
        return ExpressionFolder(self.context, scope)

    def children(self, node: ast.expr) -> ast.expr:
        """Fold the parts of an expression.

        Raises:
            EvaluatesRemoved: evaluating one of them touches a removed name.
        """
        for name, child in ast.iter_fields(node):
            if isinstance(child, ast.expr):
                setattr(node, name, self.fold(child))
            elif isinstance(child, list):
                setattr(node, name, [self.fold(c) if isinstance(c, ast.expr) else c for c in child])
        return node

    # Names, attributes and calls that have a value

    def literal(self, node: ast.expr, value: Value) -> ast.expr | None:
        """The literal in the place of an expression of this value; None when it cannot be written.

        Raises:
            EvaluatesRemoved: the value is something removed.
        """
        if isinstance(value, Removed):
            raise EvaluatesRemoved(value)
        if (
            isinstance(value, Known)
            and value.exact
            and value.rules
            and (value.value is None or isinstance(value.value, bool))
        ):
            if not is_pure(node, self.scope):
                return None
            self.context.forget(node)
            self.context.edits.append(Literal(span(node), repr(value.value)))
            self.context.decide(node, "value", value.rules, repr(value.value), 0)
            return decided_constant(node, value, self.scope.decided)
        return None

    def when_reached(self, node: ast.expr, *, condition: bool = False) -> ast.expr:
        """Fold what is evaluated only sometimes: the error of something missing must not come earlier."""
        edits, decisions = len(self.context.edits), len(self.context.decisions)
        try:
            return self.fold(node, condition=condition)
        except EvaluatesRemoved as poison:
            if not poison.removed.missing:
                raise
            # Some parts may have been folded before.
            self.context.undo(edits, decisions)
            written = self.context.as_written(node)
            for part in walk(written):
                if isinstance(part, ast.Name | ast.Attribute):
                    value = evaluate(part, self.scope)
                    if isinstance(value, Removed) and value.module and not value.missing:
                        # It was decided before, in a test for its class say, and now it stays.
                        self.context.escape(part, value)
            return written

    def _name(self, node: ast.Name, condition: bool) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            return node
        return self.literal(node, self.scope.decided.of(node) or self.scope.lookup(node.id, node.lineno)) or node

    def _attribute(self, node: ast.Attribute, condition: bool) -> ast.expr:
        if isinstance(node.ctx, ast.Load):
            folded = self.literal(node, evaluate(node, self.scope))
            if folded is not None:
                return folded
        node.value = self._followed(node.value)
        return node

    def _followed(self, node: ast.expr) -> ast.expr:
        """Fold what is looked into or called: `None.name` would be the same error in other words."""
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(evaluate(node, self.scope), Known):
            return node
        return self.fold(node)

    def _calculation(self, node: ast.BinOp, condition: bool) -> ast.expr:
        if isinstance(node.op, ast.BitOr):
            # `int | None` is a type.
            return self.children(node)
        node.left, node.right = self.operand(node.left), self.operand(node.right)
        return node

    def operand(self, node: ast.expr) -> ast.expr:
        """Fold what is calculated with: of `None` that is an error, so that such a place is reached where it is something else."""
        if isinstance(node, ast.Name | ast.Attribute):
            value = evaluate(node, self.scope)
            if isinstance(value, Known) and value.exact and value.value is None:
                return node
        return self.fold(node)

    def _call(self, node: ast.Call, condition: bool) -> ast.expr:
        if (
            isinstance(node.func, ast.Name)
            and node.func.id in _INSTANCE_TESTS
            and len(node.args) == 2
            and not node.keywords
        ):
            return fold_instance_test(self, node)
        folded = self.literal(node, without_removed(evaluate(node, self.scope)))
        if folded is not None:
            return folded
        filed = registration(node, self.scope)
        if filed is not None:
            raise EvaluatesRemoved(filed)
        self.asked(node)
        node.func = self._followed(node.func)
        for argument in node.args:
            # `register("npu", "sglang.srt.npu.store")`: an import by name, when it is asked for.
            named = (
                self.context.environment.named_by_string(argument.value) if isinstance(argument, ast.Constant) else None
            )
            if named is not None:
                raise EvaluatesRemoved(named)
        node.args = [self.fold(a) for a in node.args]
        for keyword in node.keywords:
            keyword.value = self.fold(keyword.value)
        return node

    def asked(self, node: ast.expr) -> None:
        """Note what a dictionary display is asked for, when the expression asks one."""
        asked = asked_table(node, self.scope)
        if asked is not None and isinstance(asked[0], ast.Dict):
            self.context.tables[id(asked[0])] = asked[1]

    def _subscript(self, node: ast.Subscript, condition: bool) -> ast.expr:
        self.asked(node)
        node.value = self._followed(node.value)
        node.slice = self.fold(node.slice)
        return node

    def constant(self, node: ast.expr, value: bool, kind: str, rule: str) -> ast.expr:
        """The bool in the place of an expression that a rule decides."""
        self.context.forget(node)
        self.context.edits.append(Literal(span(node), repr(value)))
        self.context.decide(node, kind, {rule}, repr(value).lower(), 0)
        return decided_constant(node, Known(value, True, frozenset({rule})), self.scope.decided)

    def truth(self, node: ast.expr) -> Known | None:
        """See `facts.evaluate.truth`."""
        return truth(node, self.scope)

    def decided(self, node: ast.expr) -> Known | None:
        """What the facts say of an expression as a condition, where asking it does nothing else."""
        value = self.truth(node)
        return value if value is not None and value.rules and is_pure(node, self.scope) else None

    def fold_rows(self, node: ast.expr) -> ast.expr:
        """Fold the value of one name: a tuple is then a table of rows, and nobody counts its places.

        Raises:
            EvaluatesRemoved: evaluating it touches a removed name.
        """
        if isinstance(node, ast.Tuple) and len(node.elts) > 2:
            return fold_display(self, node, "Tuple")
        return self.fold(node)

    def _joined(self, node: ast.JoinedStr, condition: bool) -> ast.expr:
        # Positions inside f-strings differ between Python versions: look, never touch.
        for part in walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                value = self.scope.lookup(part.id, part.lineno)
                if isinstance(value, Removed):
                    raise EvaluatesRemoved(value)
        return node


_CONSTRUCTS: dict[type[ast.expr], Callable[[ExpressionFolder, Any, bool], ast.expr]] = {
    ast.Name: ExpressionFolder._name,
    ast.Attribute: ExpressionFolder._attribute,
    ast.Call: ExpressionFolder._call,
    ast.Subscript: ExpressionFolder._subscript,
    ast.JoinedStr: ExpressionFolder._joined,
    ast.BinOp: ExpressionFolder._calculation,
    ast.UnaryOp: fold_not,
    ast.BoolOp: fold_chain,
    ast.IfExp: fold_ternary,
    ast.Compare: fold_comparison,
    ast.List: fold_list,
    ast.Set: fold_set,
    ast.Dict: fold_dict,
    ast.Lambda: fold_lambda,
    ast.ListComp: fold_comprehension,
    ast.SetComp: fold_comprehension,
    ast.GeneratorExp: fold_comprehension,
    ast.DictComp: fold_comprehension,
}
