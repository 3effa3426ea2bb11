"""Annotations that name something removed: dropped from parameters, blanked where a field needs one.

A name that only `TYPE_CHECKING` imports is never evaluated, so nothing at run time reads it.
"""

import ast

from shrinker.facts.evaluate import evaluate
from shrinker.facts.lattice import Removed
from shrinker.fold.expressions import ExpressionFolder
from shrinker.syntax.names import dotted
from shrinker.syntax.ranges import span
from shrinker.syntax.walk import walk
from shrinker.values.edits import Literal, TakeOperand

_NEVER_ALONE = frozenset({"Optional", "Union", "Annotated", "Literal"})
"""What is no type without its parts: who evaluates the annotations of a class would fail."""


def fold_annotation(expressions: ExpressionFolder, node: ast.expr, place: str) -> ast.expr | None:
    """The annotation without removed names; None when it goes. Its place is ``annotation`` or ``returns`` (it can go as a whole)
    or ``variable`` (it must stay: a dataclass field is a field because it has one)."""
    if (removed := _removed_name(expressions, node)) is None:
        return node
    context = expressions.context
    context.forget(node)
    if place != "variable":
        context.drop_element(node, place, "annotation", {removed.rule})
        return None
    context.decide(node, "annotation", {removed.rule}, "removed", 0)
    return _blank(expressions, node)


def _blank(expressions: ExpressionFolder, node: ast.expr) -> ast.expr:
    name = dotted(node.value).rpartition(".")[2] if isinstance(node, ast.Subscript) else ""
    if isinstance(node, ast.Subscript) and name not in _NEVER_ALONE and _removed_name(expressions, node.value) is None:
        # `List[Gone]` becomes `List`.
        expressions.context.edits.append(TakeOperand(span(node), "value"))
        return node.value
    expressions.context.edits.append(Literal(span(node), "None"))
    return ast.copy_location(ast.Constant(None), node)


def _removed_name(expressions: ExpressionFolder, node: ast.expr) -> Removed | None:
    for part in walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            try:
                inner = ast.parse(part.value, mode="eval").body
            except (SyntaxError, ValueError):
                continue
            for name in walk(inner):
                if hasattr(name, "lineno"):
                    name.lineno = part.lineno
            if not isinstance(inner, ast.Constant) and (found := _removed_name(expressions, inner)) is not None:
                return found
        elif isinstance(part, ast.Name | ast.Attribute):
            value = evaluate(part, expressions.scope)
            if isinstance(value, Removed):
                return value
    return None
