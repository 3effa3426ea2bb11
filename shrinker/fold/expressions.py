"""Fold expressions: ternaries, boolean chains, comparisons and calls that the facts decide, in place.

`a or default` is a value, not a condition: an operand is dropped from a value only where the result
is the same object in every case.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import cast

from shrinker.facts.booleans import is_boolean
from shrinker.facts.effects import is_pure
from shrinker.facts.evaluate import Scope, evaluate, truth
from shrinker.facts.lattice import UNKNOWN, Known, Removed, Value
from shrinker.facts.scopes import LocalScope, shadowed
from shrinker.facts.walk import walk
from shrinker.fold.context import Context, EvaluatesRemoved, span
from shrinker.fold.control import runs_something
from shrinker.fold.domains import asked_table, drop_elements, drop_rows, registration
from shrinker.values.edits import DropElement, Literal, TakeOperand

_INSTANCE_TESTS = frozenset({"isinstance", "issubclass"})


class ExpressionFolder:
    """Folds the expressions of one scope."""

    def __init__(self, context: Context, scope: Scope) -> None:
        self.context = context
        self.scope = scope

    def fold(self, node: ast.expr, *, condition: bool = False) -> ast.expr:
        """The folded expression; edits and decisions go to the context.

        Raises:
            EvaluatesRemoved: evaluating it touches a removed name.
        """
        method: Callable[..., ast.expr] | None = getattr(self, f"_fold_{type(node).__name__}", None)
        if method is not None:
            return method(node, condition)
        return self._children(node)

    def _children(self, node: ast.expr) -> ast.expr:
        for name, child in ast.iter_fields(node):
            if isinstance(child, ast.expr):
                setattr(node, name, self.fold(child))
            elif isinstance(child, list):
                setattr(node, name, [self.fold(c) if isinstance(c, ast.expr) else c for c in child])
        return node

    # Names, attributes and calls that have a value

    def _literal(self, node: ast.expr, value: Value) -> ast.expr | None:
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
            self._forget(node)
            self.context.edits.append(Literal(span(node), repr(value.value)))
            self.context.decide(node, "value", value.rules, repr(value.value), 0)
            return decided_constant(node, value)
        return None

    def _forget(self, node: ast.AST) -> None:
        self.context.forget(node)

    def when_reached(self, node: ast.expr, *, condition: bool = False) -> ast.expr:
        """Fold what is evaluated only sometimes: the error of something missing must not come earlier."""
        try:
            return self.fold(node, condition=condition)
        except EvaluatesRemoved as poison:
            if not poison.removed.missing:
                raise
            return node

    def _fold_Name(self, node: ast.Name, condition: bool) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            return node
        return self._literal(node, getattr(node, "decided", None) or self.scope.lookup(node.id, node.lineno)) or node

    def _fold_Attribute(self, node: ast.Attribute, condition: bool) -> ast.expr:
        if isinstance(node.ctx, ast.Load):
            folded = self._literal(node, evaluate(node, self.scope))
            if folded is not None:
                return folded
            if isinstance(node.value, ast.Name) and isinstance(self.scope.lookup(node.value.id, node.lineno), Known):
                # Not `None.name`, which would be the same error in other words.
                return node
        return self._children(node)

    def _fold_Call(self, node: ast.Call, condition: bool) -> ast.expr:
        if (
            isinstance(node.func, ast.Name)
            and node.func.id in _INSTANCE_TESTS
            and len(node.args) == 2
            and not node.keywords
        ):
            return self._instance_test(node)
        folded = self._literal(node, _without_removed(evaluate(node, self.scope)))
        if folded is not None:
            return folded
        filed = registration(node, self.scope)
        if filed is not None:
            raise EvaluatesRemoved(filed)
        self._asked(node)
        node.func = self.fold(node.func)
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

    def _asked(self, node: ast.expr) -> None:
        asked = asked_table(node, self.scope)
        if asked is not None and isinstance(asked[0], ast.Dict):
            self.context.tables[id(asked[0])] = asked[1]

    def _fold_Subscript(self, node: ast.Subscript, condition: bool) -> ast.expr:
        self._asked(node)
        return self._children(node)

    def _instance_test(self, node: ast.Call) -> ast.expr:
        node.args[0] = self.fold(node.args[0])
        classes = node.args[1]
        try:
            node.args[1] = (
                self._fold_display(classes, "Tuple") if isinstance(classes, ast.Tuple) else self.fold(classes)
            )
        except EvaluatesRemoved as poison:
            if poison.removed.missing or not is_pure(node.args[0], self.scope):
                raise
            # Nothing in the closed world is an instance of a class that is not in it.
            return self._constant(node, False, "instance", poison.removed.rule)
        if isinstance(node.args[1], ast.Tuple) and not node.args[1].elts:
            return self._constant(node, False, "instance", "removed-class")
        return node

    def _constant(self, node: ast.expr, value: bool, kind: str, rule: str) -> ast.expr:
        self._forget(node)
        self.context.edits.append(Literal(span(node), repr(value)))
        self.context.decide(node, kind, {rule}, repr(value).lower(), 0)
        return decided_constant(node, Known(value, True, frozenset({rule})))

    def _fold_Compare(self, node: ast.Compare, condition: bool) -> ast.expr:
        folded = self._literal(node, _without_removed(evaluate(node, self.scope)))
        if folded is not None:
            return folded
        self._asked(node)
        node.left = self.fold(node.left)
        single = node.ops[0] if len(node.ops) == 1 else None
        try:
            display = node.comparators[0] if isinstance(single, ast.In | ast.NotIn) else None
            if isinstance(display, ast.Tuple | ast.List | ast.Set):
                drop_elements(self.context, self.scope, node.left, display)
            if isinstance(display, ast.Tuple | ast.List | ast.Set) and (
                (isinstance(display, ast.Tuple) and _is_class_of_something(node.left)) or self._names_member(display)
            ):
                node.comparators = [self._fold_display(display, type(display).__name__)]
                if not cast(ast.Tuple, display).elts and is_pure(node.left, self.scope):
                    return self._constant(node, isinstance(single, ast.NotIn), "compare", "removed-rows")
            else:
                first, *others = node.comparators
                node.comparators = [self.fold(first), *(self.when_reached(c) for c in others)]
        except EvaluatesRemoved as poison:
            identity = isinstance(single, ast.Is | ast.IsNot) or (
                isinstance(single, ast.Eq | ast.NotEq) and _is_class_of_something(node.left)
            )
            if identity and not poison.removed.missing and is_pure(node.left, self.scope):
                # Nothing in the closed world is a removed class or function. Equality proves less: a member
                # of a removed `IntEnum` equals a number.
                return self._constant(node, isinstance(single, ast.IsNot | ast.NotEq), "compare", poison.removed.rule)
            raise
        return node

    def _names_member(self, node: ast.Tuple | ast.List | ast.Set) -> bool:
        values = [evaluate(e, self.scope) for e in node.elts if isinstance(e, ast.Attribute)]
        return any(isinstance(v, Removed) and v.member for v in values)

    # Control flow inside expressions

    def _fold_UnaryOp(self, node: ast.UnaryOp, condition: bool) -> ast.expr:
        if not isinstance(node.op, ast.Not):
            return self._children(node)
        value = self._truth(node)
        if value is not None and value.rules and is_pure(node, self.scope):
            return self._literal(node, Known(value.truth, True, value.rules)) or node
        original = node.operand
        node.operand = self.fold(node.operand, condition=True)
        if (
            isinstance(node.operand, ast.Constant)
            and node.operand is not original
            and isinstance(node.operand.value, bool)
        ):
            return self._constant(node, not node.operand.value, "not", "constant")
        return node

    def _truth(self, node: ast.expr) -> Known | None:
        return truth(node, self.scope)

    def _fold_IfExp(self, node: ast.IfExp, condition: bool) -> ast.expr:
        value = self._truth(node.test)
        if value is not None and value.rules and is_pure(node.test, self.scope):
            return self._take_arm(node, value.truth, "ternary", value.rules, condition)
        test = self.fold(node.test, condition=True)
        if isinstance(test, ast.Constant) and test is not node.test:
            return self._take_arm(node, bool(test.value), "ternary", frozenset({"constant"}), condition)
        node.test = test
        arms: dict[str, ast.expr] = {}
        poison: EvaluatesRemoved | None = None
        for name in ("body", "orelse"):
            try:
                arms[name] = self.when_reached(getattr(node, name), condition=condition)
            except EvaluatesRemoved as caught:
                poison = caught
        if poison is not None:
            if not arms or poison.removed.eager or not is_pure(node.test, self.scope):
                raise poison
            (taken,) = arms
            self.context.edits.append(TakeOperand(span(node), taken))
            self.context.decide(node, "ternary", {poison.removed.rule}, "removed", 0)
            self._forget(node)
            return arms[taken]
        node.body, node.orelse = arms["body"], arms["orelse"]
        return node

    def _take_arm(self, node: ast.IfExp, taken: bool, kind: str, rules: frozenset[str], condition: bool) -> ast.expr:
        child = "body" if taken else "orelse"
        self._forget(node.test)
        self._forget(node.orelse if taken else node.body)
        self.context.edits.append(TakeOperand(span(node), child))
        self.context.decide(node, kind, rules, "true" if taken else "false", 0, node.test)
        return self.fold(getattr(node, child), condition=condition)

    def _fold_BoolOp(self, node: ast.BoolOp, condition: bool) -> ast.expr:
        is_and = isinstance(node.op, ast.And)
        if condition:
            whole = self._truth(node)
            if whole is not None and whole.rules and is_pure(node, self.scope):
                return self._literal(node, Known(whole.truth, True, whole.rules)) or node
        else:
            folded = self._literal(node, _without_removed(evaluate(node, self.scope)))
            if folded is not None:
                return folded
        kept: list[tuple[int, ast.expr]] = []
        values = node.values
        cut = False
        for index, operand in enumerate(values):
            if cut:
                self._drop_operand(operand, node)
                continue
            value = self._truth(operand)
            decided = value is not None and bool(value.rules) and is_pure(operand, self.scope)
            last = index == len(values) - 1
            neutral = decided and value is not None and value.truth is is_and
            # `True and x`, `False or x`. As the last operand it is the chain's value.
            if neutral and (condition or not last or self._adds_nothing(value, [v for _, v in kept])):
                self._drop_operand(operand, node, value)
                continue
            try:
                fold = self.when_reached if kept else self.fold
                folded = fold(operand, condition=condition or (not last and _is_test(operand)))
                if folded is not operand and isinstance(folded, ast.Constant) and isinstance(folded.value, bool):
                    if folded.value is not is_and:
                        cut = True
                    elif condition or not last:
                        self._drop_operand(operand, node)
                        continue
                kept.append((index, folded))
            except EvaluatesRemoved as poison:
                if not kept or poison.removed.eager:
                    raise
                # In the closed world the chain has ended before this operand.
                self._drop_operand(operand, node, rule=poison.removed.rule)
                cut = True
                continue
            if decided and value is not None and value.truth is not is_and:
                cut = True
        if not kept:
            return self._constant(node, is_and, "boolean", "constant")
        if len(kept) == len(values):
            node.values = [expression for _, expression in kept]
            return node
        if len(kept) == 1:
            return kept[0][1]
        node.values = [expression for _, expression in kept]
        return node

    def _adds_nothing(self, value: Known | None, before: list[ast.expr]) -> bool:
        """`x and True` is `x` when `x` is a bool."""
        return (
            bool(before)
            and value is not None
            and value.exact
            and isinstance(value.value, bool)
            and all(is_boolean(v, self.scope) for v in before)
        )

    def _drop_operand(self, operand: ast.expr, node: ast.BoolOp, value: Known | None = None, rule: str = "") -> None:
        self._forget(operand)
        self.context.edits.append(DropElement(span(operand), "BoolOp"))
        if value is not None:
            self.context.decide_known(operand, "boolean", value, 0)
        elif rule:
            self.context.decide(operand, "boolean", {rule}, "removed", 0)

    # Displays lose the rows that name removed things

    def fold_rows(self, node: ast.expr) -> ast.expr:
        """Fold the value of one name: a tuple is then a table of rows, and nobody counts its places.

        Raises:
            EvaluatesRemoved: evaluating it touches a removed name.
        """
        if isinstance(node, ast.Tuple) and len(node.elts) > 2:
            return self._fold_display(node, "Tuple")
        return self.fold(node)

    def _fold_display(self, node: ast.Tuple | ast.List | ast.Set, container: str) -> ast.expr:
        kept: list[ast.expr] = []
        for element in node.elts:
            try:
                kept.append(self.fold(element))
            except EvaluatesRemoved as poison:
                if poison.removed.missing or (poison.removed.eager and runs_something(element)):
                    raise
                self._forget(element)
                self.context.edits.append(DropElement(span(element), container))
                self.context.decide(element, "table", {poison.removed.rule}, "removed", 0)
        if isinstance(node, ast.Set) and not kept and node.elts:
            # `{}` would be a dict.
            raise EvaluatesRemoved(Removed("removed-rows", "every row of the table is removed", "set"))
        node.elts = kept
        return node

    def _fold_List(self, node: ast.List, condition: bool) -> ast.expr:
        return self._fold_display(node, "List") if isinstance(node.ctx, ast.Load) else self._children(node)

    def _fold_Set(self, node: ast.Set, condition: bool) -> ast.expr:
        return self._fold_display(node, "Set")

    def _fold_Dict(self, node: ast.Dict, condition: bool) -> ast.expr:
        domain = self.context.tables.get(id(node))
        if domain is not None:
            drop_rows(self.context, self.scope, node, domain)
        keys: list[ast.expr | None] = []
        values: list[ast.expr] = []
        for key, value in zip(node.keys, node.values, strict=True):
            try:
                new_key = self.fold(key) if key is not None else None
                new_value = self.fold(value)
            except EvaluatesRemoved as poison:
                runs = runs_something(value) or (key is not None and runs_something(key))
                if poison.removed.missing or (poison.removed.eager and runs):
                    raise
                self._forget(value)
                self.context.edits.append(DropElement(span(value), "Dict"))
                self.context.decide(value, "table", {poison.removed.rule}, "removed", 0)
                continue
            keys.append(new_key)
            values.append(new_value)
        node.keys, node.values = keys, values
        return node

    # Scopes of their own

    def _fold_Lambda(self, node: ast.Lambda, condition: bool) -> ast.expr:
        arguments = node.args
        arguments.defaults = [self.fold(d) for d in arguments.defaults]
        arguments.kw_defaults = [self.fold(d) if d is not None else None for d in arguments.kw_defaults]
        names = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        names |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None}
        node.body = self._inside(names).when_reached(node.body)
        return node

    def _inside(self, names: set[str]) -> ExpressionFolder:
        scope = self.scope
        if isinstance(scope, LocalScope) and scope.is_class:
            # Functions and comprehensions do not see the names of the class around them.
            scope = scope.outer
        return ExpressionFolder(self.context, shadowed(scope, dict.fromkeys(names, UNKNOWN)))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> ast.expr:
        targets = {n.id for g in node.generators for n in walk(g.target) if isinstance(n, ast.Name)}
        inside = self._inside(targets)
        for index, generator in enumerate(node.generators):
            generator.iter = self.fold(generator.iter) if index == 0 else inside.when_reached(generator.iter)
            kept: list[ast.expr] = []
            for test in generator.ifs:
                value = truth(test, inside.scope)
                if value is not None and value.rules and value.truth and is_pure(test, inside.scope):
                    self._forget(test)
                    self.context.edits.append(DropElement(span(test), "comprehension"))
                    self.context.decide_known(test, "comprehension", value, 0)
                else:
                    kept.append(inside.when_reached(test, condition=True))
            generator.ifs = kept
        if isinstance(node, ast.DictComp):
            node.key = inside.when_reached(node.key)
            node.value = inside.when_reached(node.value)
        else:
            node.elt = inside.when_reached(node.elt)
        return node

    def _fold_ListComp(self, node: ast.ListComp, condition: bool) -> ast.expr:
        return self._comprehension(node)

    def _fold_SetComp(self, node: ast.SetComp, condition: bool) -> ast.expr:
        return self._comprehension(node)

    def _fold_GeneratorExp(self, node: ast.GeneratorExp, condition: bool) -> ast.expr:
        return self._comprehension(node)

    def _fold_DictComp(self, node: ast.DictComp, condition: bool) -> ast.expr:
        return self._comprehension(node)

    def _fold_JoinedStr(self, node: ast.JoinedStr, condition: bool) -> ast.expr:
        # Positions inside f-strings differ between Python versions: look, never touch.
        for part in walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                value = self.scope.lookup(part.id, part.lineno)
                if isinstance(value, Removed):
                    raise EvaluatesRemoved(value)
        return node


def decided_constant(node: ast.expr, value: Known) -> ast.Constant:
    """The literal in the place of an expression, which still knows the rules that it rests on."""
    assert value.value is None or isinstance(value.value, bool)
    constant = ast.copy_location(ast.Constant(value.value), node)
    constant.decided = value  # type: ignore[attr-defined]
    return constant


def _is_class_of_something(node: ast.expr) -> bool:
    """``type(x)`` or ``x.__class__``."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "type"
    return isinstance(node, ast.Attribute) and node.attr == "__class__"


def _without_removed(value: Value) -> Value:
    """Removed operands are handled where they stand, operand by operand."""
    return UNKNOWN if isinstance(value, Removed) else value


def _is_test(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
