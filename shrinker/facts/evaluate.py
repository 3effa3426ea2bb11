"""Evaluate expressions in the closed world: the dispatcher, names, and what is made of one or two
operands.

What evaluates other constructs stands in files of their own (`operators`, `calls`), registered by
the class of the node.
"""

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from shrinker.facts.lattice import (
    UNKNOWN,
    Decided,
    Known,
    Ref,
    Removed,
    TextDomain,
    Unknown,
    Value,
    join,
    literal,
)
from shrinker.facts.world import ClosedWorld
from shrinker.syntax.names import written
from shrinker.syntax.walk import ByClass


class ValueScope(ABC):
    """Where a name is looked up."""

    is_local = False
    """True in a function or class body: what it defines is not the module's."""

    def __init__(self, environment: ClosedWorld, module: str, decided: Decided) -> None:
        self.environment = environment
        self.module = module
        self.decided = decided
        """What is known of nodes besides."""

    @abstractmethod
    def lookup(self, name: str, line: int) -> Value:
        """Return value of a name read at a line."""


Evaluator = Callable[[Any, ValueScope, bool], Value]
"""Takes the node, where its names are looked up, and whether only its truth matters."""
_EVALUATORS = ByClass[Evaluator]()
"""This is asked a million times a run."""
evaluates = _EVALUATORS.of
"""Registers what evaluates a class of nodes."""


def truth(node: ast.expr, scope: ValueScope) -> Known | None:
    """Return the truth of an expression in a condition, when the facts decide it."""
    value = evaluate(node, scope, condition=True)
    return value if isinstance(value, Known) else None


def evaluate(node: ast.expr, scope: ValueScope, *, condition: bool = False) -> Value:
    """Return value of an expression in the closed world; as a `condition` only its truth matters
    (`a and False` is then false whatever `a` is).
    """
    evaluator = _EVALUATORS.get(node.__class__)
    return UNKNOWN if evaluator is None else evaluator(node, scope, condition)


@evaluates(ast.Constant)
def _constant(node: ast.Constant, scope: ValueScope, condition: bool) -> Value:
    return scope.decided.get(node) or literal(node.value)


@evaluates(ast.Name)
def _name(node: ast.Name, scope: ValueScope, condition: bool) -> Value:
    found = scope.lookup(node.id, node.lineno)
    if condition and isinstance(found, Ref):
        # `if is_cuda:` asks the function itself, which is always true.
        asked = scope.environment.called(found.name)
        return found if asked is None else Known(True, False, asked.rules)
    return _in_domain(node.id, scope, found)


@evaluates(ast.Attribute)
def _attribute(node: ast.Attribute, scope: ValueScope, condition: bool) -> Value:
    if (decided := scope.decided.get(node)) is not None:
        return decided
    base, name, environment = evaluate(node.value, scope), node.attr, scope.environment
    if isinstance(base, Removed):
        # What a fact says of the attribute of every object it says of this one, which upstream has.
        return base if base.missing else environment.named(f".{name}") or base
    if not isinstance(base, Ref):
        return environment.named(f".{name}") or _in_domain(written(node), scope)
    if environment.outline_of(base.name) is not None:
        return environment.resolve(base.name, name)
    qualified = f"{base.name}.{name}"
    said: Value | None = (
        environment.named(qualified)
        or environment.removed_module(qualified)
        or environment.missing_attribute(qualified)
        or environment.removed_member(qualified)
        or environment.domain(qualified)
    )
    if said is None and ")" in qualified:
        # No definition: what a call returns. A rule may speak of it by the name that is written.
        said = environment.named(f".{name}") or _in_domain(written(node), scope)
    return Ref(qualified) if said is None or isinstance(said, Unknown) else said


@evaluates(ast.UnaryOp)
def _unary(node: ast.UnaryOp, scope: ValueScope, condition: bool) -> Value:
    match node:
        case ast.UnaryOp(op=ast.Not()):
            inner = evaluate(node.operand, scope, condition=True)
            return (
                Known(not inner.truth, True, inner.rules)
                if isinstance(inner, Known)
                else only_removed(inner)
            )
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return literal(-number)
    return UNKNOWN


@evaluates(ast.IfExp)
def _ternary(node: ast.IfExp, scope: ValueScope, condition: bool) -> Value:
    match evaluate(node.test, scope, condition=True):
        case Known() as test:
            arm = evaluate(node.body if test.truth else node.orelse, scope, condition=condition)
            return arm.resting(test.rules) if isinstance(arm, Known) else arm
        case Removed() as removed:
            return removed
    return join([evaluate(arm, scope) for arm in (node.body, node.orelse)])


@evaluates(ast.NamedExpr)
def _named(node: ast.NamedExpr, scope: ValueScope, condition: bool) -> Value:
    return evaluate(node.value, scope, condition=condition)


@evaluates(ast.BinOp)
def _binary(node: ast.BinOp, scope: ValueScope, condition: bool) -> Value:
    left = only_removed(evaluate(node.left, scope))
    return left if isinstance(left, Removed) else only_removed(evaluate(node.right, scope))


def only_removed(value: Value) -> Value:
    """Return the value where it is something removed; unknown otherwise."""
    return value if isinstance(value, Removed) else UNKNOWN


@evaluates(ast.Subscript)
def _item(node: ast.Subscript, scope: ValueScope, condition: bool) -> Value:
    base = evaluate(node.value, scope)
    if (
        isinstance(base, TextDomain)
        and base.items
        and isinstance(node.slice, ast.Constant)
        and node.slice.value == 0
    ):
        return replace(base, items=False)
    return base if isinstance(base, Removed) else _removed_part(node.slice, scope)


def _removed_part(node: ast.expr, scope: ValueScope) -> Value:
    """Find what is removed among the parts of a type, as in `Callable[[int], Gone]`.

    Such a type is removed as well. A member of an enumeration is none: it is the key of an item.
    """
    if isinstance(node, ast.Tuple | ast.List):
        parts = (_removed_part(part, scope) for part in node.elts)
        return next((part for part in parts if isinstance(part, Removed)), UNKNOWN)
    value = evaluate(node, scope)
    return value if isinstance(value, Removed) and not value.member else UNKNOWN


def _in_domain(name: str, scope: ValueScope, found: Value = UNKNOWN) -> Value:
    """Return what a rule says of a variable or attribute by the name that is written, beside what
    is found out about it.
    """
    qualified = f"{scope.module}.{name}"
    if isinstance(found, Unknown):
        return scope.environment.named(qualified) or scope.environment.domain(qualified) or UNKNOWN
    if (
        isinstance(found, TextDomain)
        and (stated := scope.environment.domain(qualified)) is not None
    ):
        return found.and_also(stated) if found.items is stated.items else found
    return found
