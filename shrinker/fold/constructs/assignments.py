"""Assignments: tables whose rows nothing asks for, and annotations that name something removed.

These are dropped from parameters, and blanked where a field needs one.

A name that only `TYPE_CHECKING` imports is never evaluated, so nothing at run time reads it.
"""

import ast

from shrinker.facts.evaluate import evaluate
from shrinker.facts.lattice import Removed
from shrinker.fold.constructs.displays import drop_rows, drop_texts, fold_display
from shrinker.fold.constructs.imports import fold_exports
from shrinker.fold.expressions import ExpressionFolder
from shrinker.fold.statements import Folded, StatementFolder, folds
from shrinker.syntax.names import last_name
from shrinker.syntax.ranges import span
from shrinker.syntax.walk import walk
from shrinker.values.edits import Literal, TakeOperand

_NEVER_ALONE = frozenset({"Optional", "Union", "Annotated", "Literal"})
"""What is no type without its parts: who evaluates the annotations of a class would fail."""


@folds(ast.AnnAssign)
def fold_annotated(folder: StatementFolder, node: ast.AnnAssign) -> Folded:
    """`x: T = value`."""
    node.annotation = (
        fold_annotation(folder.expressions, node.annotation, stays=True) or node.annotation
    )
    match node:
        case ast.AnnAssign(target=ast.Name(name), value=ast.expr() as value):
            node.value = _fold_table(folder, name, value)
        case ast.AnnAssign(target=ast.Attribute() | ast.Subscript()):
            node.value = node.value and folder.expressions.fold(node.value)
            node.target = folder.expressions.fold(node.target)  # type: ignore[assignment]
    return [node], False


def _fold_table(folder: StatementFolder, name: str, value: ast.expr) -> ast.expr:
    """Return the value of a name; what a rule says is only asked for texts of a domain, itself or
    within a call that makes it, loses other rows.
    """
    domain = folder.context.environment.domain(
        f"{folder.owner or folder.context.module}.{name}", "tables"
    )
    if domain is not None:
        for table in (value, *(value.args if isinstance(value, ast.Call) else ())):
            if isinstance(table, ast.Dict):
                drop_rows(folder.context, folder.scope, table, domain)
            elif isinstance(table, ast.Tuple | ast.List | ast.Set):
                drop_texts(folder.context, folder.scope, table, domain)
    if isinstance(value, ast.Tuple) and len(value.elts) > 2:
        # A table of rows: nobody counts its places.
        return fold_display(folder.expressions, value)
    return folder.expressions.fold(value)


@folds(ast.Assign)
def fold_assigned(folder: StatementFolder, node: ast.Assign) -> Folded:
    """`x = value`."""
    match node.targets:
        case [ast.Name(id="__all__")]:
            fold_exports(folder, node.value)
        case [ast.Name(id=name)]:
            node.value = _fold_table(folder, name, node.value)
        case _:
            folder.parts(node)
    return [node], False


@folds(ast.AugAssign)
def fold_augmented(folder: StatementFolder, node: ast.AugAssign) -> Folded:
    """`x += value`."""
    if isinstance(node.target, ast.Name) and node.target.id == "__all__":
        fold_exports(folder, node.value)
    else:
        folder.parts(node)
    return [node], False


def fold_annotation(
    expressions: ExpressionFolder, node: ast.expr, *, stays: bool = False
) -> ast.expr | None:
    """Return the annotation without removed names; None when it goes, but for that of a variable: a
    dataclass field is a field because it has one.
    """
    if (removed := _removed_name(expressions, node)) is None:
        return node
    context = expressions.context
    context.forget(node)
    if not stays:
        context.drop_element(node, "annotation", {removed.rule})
        return None
    context.decide(node, "annotation", {removed.rule}, "removed", 0)
    return _blank(expressions, node)


def _blank(expressions: ExpressionFolder, node: ast.expr) -> ast.expr:
    name = last_name(node)
    if (
        isinstance(node, ast.Subscript)
        and name not in _NEVER_ALONE
        and _removed_name(expressions, node.value) is None
    ):
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
            if (
                not isinstance(inner, ast.Constant)
                and (found := _removed_name(expressions, inner)) is not None
            ):
                return found
        elif isinstance(part, ast.Name | ast.Attribute):
            value = evaluate(part, expressions.scope)
            if isinstance(value, Removed):
                return value
    return None
