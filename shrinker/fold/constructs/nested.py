"""Expressions with a scope of their own: lambdas and comprehensions."""

import ast
import copy
from functools import partial

from shrinker.facts.lattice import UNKNOWN
from shrinker.facts.scopes import Shadowed, around_function
from shrinker.fold.context import EvaluatesRemoved, LeavesWhole
from shrinker.fold.expressions import ExpressionFolder, folds_expression
from shrinker.syntax.control import is_generator
from shrinker.syntax.ranges import span
from shrinker.syntax.scopes import Comprehension, scope_of
from shrinker.values.edits import DropElement


@folds_expression(ast.Lambda)
def fold_lambda(folder: ExpressionFolder, node: ast.Lambda, condition: bool) -> ast.expr:
    """Fold the defaults outside, and the body inside.

    Raises EvaluatesRemoved: it touches a removed name; `deferred` when only its body does.
    """
    arguments = node.args
    arguments.defaults = [folder.fold(d) for d in arguments.defaults]
    arguments.kw_defaults = [
        folder.fold(d) if d is not None else None for d in arguments.kw_defaults
    ]
    generator = is_generator(node)
    try:
        node.body = _inside(folder, node).when_reached(node.body)
    except EvaluatesRemoved as poison:
        if not poison.removed.member:
            raise EvaluatesRemoved(poison.removed, deferred=True) from None
        # Nothing is wrong with a member that nobody asks for; named here, its definition stays.
    if generator and not is_generator(node):
        raise LeavesWhole("folding would remove the only yield of a lambda")
    return node


def _inside(folder: ExpressionFolder, node: ast.Lambda | Comprehension) -> ExpressionFolder:
    own = scope_of(node, folder.context.package).parameters
    # Functions and comprehensions do not see the names of the class around them.
    return ExpressionFolder(
        folder.context, Shadowed(around_function(folder.scope), dict.fromkeys(own, UNKNOWN))
    )


@folds_expression(ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
def fold_comprehension(folder: ExpressionFolder, node: Comprehension, condition: bool) -> ast.expr:
    """Fold each part in its scope; conditions that are always true go.

    Behind one that is never true nothing is evaluated: in `[make(x) for x in y if is_hip()]` no
    `make` is called, so that what it names may be removed.
    """
    inside = _inside(folder, node)
    fold = inside.when_reached
    for index, generator in enumerate(node.generators):
        generator.iter = folder.fold(generator.iter) if index == 0 else fold(generator.iter)
        if isinstance(generator.iter, ast.Tuple | ast.List) and not generator.iter.elts:
            fold = partial(_unreached, inside)
        kept: list[ast.expr] = []
        for test in generator.ifs:
            left, value = inside.tested(test, fold)
            if value is None or not value.truth:
                kept.append(left if value is None else fold(left, condition=True))
                if value is not None:
                    fold = partial(_unreached, inside)
                continue
            folder.context.forget(test)
            folder.context.edits.append(DropElement(span(test)))
            folder.context.decide(test, "comprehension", value.rules, value.outcome, 0)
        generator.ifs = kept
    for field in ("key", "value") if isinstance(node, ast.DictComp) else ("elt",):
        setattr(node, field, fold(getattr(node, field)))
    return node


def _unreached(folder: ExpressionFolder, node: ast.expr, *, condition: bool = False) -> ast.expr:
    """Fold what is never evaluated; where it names something removed it stays as it is written."""
    context, written = folder.context, copy.deepcopy(node)
    edits, decisions = len(context.edits), len(context.decisions)
    try:
        return folder.when_reached(node, condition=condition)
    except EvaluatesRemoved:
        del context.edits[edits:], context.decisions[decisions:]
        return written
