"""Expressions with a scope of their own: lambdas and comprehensions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shrinker.facts.effects import is_pure
from shrinker.facts.evaluate import truth
from shrinker.facts.lattice import UNKNOWN
from shrinker.facts.scopes import LocalScope, shadowed
from shrinker.facts.walk import walk
from shrinker.fold.context import EvaluatesRemoved, span
from shrinker.values.edits import DropElement

if TYPE_CHECKING:
    from shrinker.fold.expressions import ExpressionFolder


def fold_lambda(folder: ExpressionFolder, node: ast.Lambda, condition: bool) -> ast.expr:
    """Fold the defaults outside, and the body inside.

    Raises:
        EvaluatesRemoved: it touches a removed name; `deferred` when only its body does.
    """
    arguments = node.args
    arguments.defaults = [folder.fold(d) for d in arguments.defaults]
    arguments.kw_defaults = [folder.fold(d) if d is not None else None for d in arguments.kw_defaults]
    names = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    names |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None}
    try:
        node.body = _inside(folder, names).when_reached(node.body)
    except EvaluatesRemoved as poison:
        if not poison.removed.member:
            raise EvaluatesRemoved(poison.removed, deferred=True) from None
        # Nothing is wrong with a member that nobody asks for; named here, its definition stays.
    return node


def _inside(folder: ExpressionFolder, names: set[str]) -> ExpressionFolder:
    scope = folder.scope
    if isinstance(scope, LocalScope) and scope.is_class:
        # Functions and comprehensions do not see the names of the class around them.
        scope = scope.outer
    return folder.within(shadowed(scope, dict.fromkeys(names, UNKNOWN)))


def fold_comprehension(
    folder: ExpressionFolder, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, condition: bool
) -> ast.expr:
    """Fold each part in its scope; conditions that are always true go."""
    targets = {n.id for g in node.generators for n in walk(g.target) if isinstance(n, ast.Name)}
    inside = _inside(folder, targets)
    for index, generator in enumerate(node.generators):
        generator.iter = folder.fold(generator.iter) if index == 0 else inside.when_reached(generator.iter)
        kept: list[ast.expr] = []
        for test in generator.ifs:
            value = truth(test, inside.scope)
            if value is not None and value.rules and value.truth and is_pure(test, inside.scope):
                folder.context.forget(test)
                folder.context.edits.append(DropElement(span(test), "comprehension"))
                folder.context.decide_known(test, "comprehension", value, 0)
            else:
                kept.append(inside.when_reached(test, condition=True))
        generator.ifs = kept
    if isinstance(node, ast.DictComp):
        node.key = inside.when_reached(node.key)
        node.value = inside.when_reached(node.value)
    else:
        node.elt = inside.when_reached(node.elt)
    return node
