"""Tuples, lists, sets and dictionaries lose the rows that name something removed, or stand for a
text that something never is.
"""

import ast
from collections.abc import Sequence

from shrinker.facts.calls import is_pure
from shrinker.facts.evaluate import ValueScope, evaluate
from shrinker.facts.lattice import Known, Removed, TextDomain
from shrinker.fold.context import Context, EvaluatesRemoved
from shrinker.fold.expressions import ExpressionFolder, folds_expression
from shrinker.syntax.control import runs_something


def fold_display(folder: ExpressionFolder, node: ast.Tuple | ast.List | ast.Set) -> ast.expr:
    """Fold the elements; a row that names something removed goes.

    Raises EvaluatesRemoved: a row runs something removed, or no row of a set is left.
    """
    kept: list[ast.expr] = []
    _drop_alternatives(folder, node.elts)
    for element in node.elts:
        try:
            kept.append(folder.fold(element))
        except EvaluatesRemoved as poison:
            if poison.removed.missing or (poison.removed.eager and runs_something(element)):
                raise
            folder.context.forget(element)
            folder.context.drop_element(element, "table", {poison.removed.rule})
    if isinstance(node, ast.Set) and not kept and node.elts:
        # `{}` would be a dict.
        raise EvaluatesRemoved(Removed("removed-rows", "every row of the table is removed", "set"))
    node.elts = kept
    return node


def _drop_alternatives(folder: ExpressionFolder, rows: Sequence[ast.expr]) -> None:
    """In a table of `(Class, handler)` and `((Class, Gone), handler)` the handler stays for what is
    left of the second key.

    Only where rows show that a tuple stands for each of its classes, as in `isinstance`: beside
    such a key there is one that is no tuple, or a tuple of another length. Else the places of the
    tuple may each mean something, and the whole row goes.
    """
    keys = [row.elts[0] for row in rows if isinstance(row, ast.Tuple) and len(row.elts) > 1]
    if (
        len(keys) != len(rows)
        or len({len(key.elts) if isinstance(key, ast.Tuple) else None for key in keys}) < 2
    ):
        return
    for key in keys:
        if isinstance(key, ast.Tuple) and all(
            isinstance(each, ast.Name | ast.Attribute) for each in key.elts
        ):
            values = [evaluate(each, folder.scope) for each in key.elts]
            gone = [value for value in values if isinstance(value, Removed)]
            if 0 < len(gone) < len(values) and not any(
                value.missing or value.member for value in gone
            ):
                fold_display(folder, key)


@folds_expression(ast.List, ast.Set)
def fold_collection(
    folder: ExpressionFolder, node: ast.List | ast.Set, condition: bool
) -> ast.expr:
    """Return a set, or a list that is no target."""
    is_table = isinstance(node, ast.Set) or isinstance(node.ctx, ast.Load)
    return fold_display(folder, node) if is_table else folder.children(node)


@folds_expression(ast.Dict)
def fold_dict(folder: ExpressionFolder, node: ast.Dict, condition: bool) -> ast.expr:
    """Return a dictionary: rows by key and by value."""
    kept: list[tuple[ast.expr | None, ast.expr]] = []
    for key, value in zip(node.keys, node.values, strict=True):
        try:
            kept.append((None if key is None else folder.fold(key), folder.fold(value)))
        except EvaluatesRemoved as poison:
            if poison.removed.member and isinstance(key, ast.Attribute):
                # What goes through the enumeration looks every member up.
                kept.append((key, folder.fold(value)))
                continue
            runs = runs_something(value) or (key is not None and runs_something(key))
            if poison.removed.missing or (poison.removed.eager and runs):
                raise
            folder.context.forget(value)
            folder.context.drop_element(value, "table", {poison.removed.rule})
    node.keys, node.values = [key for key, _ in kept], [value for _, value in kept]
    return node


# Texts that something never is


def drop_unasked(folder: ExpressionFolder, node: ast.expr) -> None:
    """Rows of a dictionary display that ``{…}[device]``, ``{…}.get(device)`` or ``device in {…}``
    never asks for.
    """
    match node:
        case (
            ast.Subscript(ast.Dict() as table, asked, ast.Load())
            | ast.Call(ast.Attribute(ast.Dict() as table, "get"), [asked, *_])
            | ast.Compare(asked, [ast.In() | ast.NotIn()], [ast.Dict() as table])
        ):
            domain = evaluate(asked, folder.scope)
            if isinstance(domain, TextDomain) and not domain.items:
                drop_rows(folder.context, folder.scope, table, domain)


def is_never(node: ast.expr, domain: TextDomain, scope: ValueScope) -> bool:
    """True for an expression whose value is a text that the domain never is."""
    value = evaluate(node, scope)
    return isinstance(value, Known) and value.exact and domain.excludes(value.value)


def drop_texts(
    context: Context, scope: ValueScope, display: ast.Tuple | ast.List | ast.Set, domain: TextDomain
) -> None:
    """Elements that a collection is never asked for, as long as one stays: an emptied set would be
    a dict.
    """
    gone = [e for e in display.elts if is_never(e, domain, scope)]
    if len(gone) < len(display.elts):
        for element in gone:
            context.drop_item(element, display.elts, "domain", domain.rules)


def drop_rows(context: Context, scope: ValueScope, table: ast.Dict, domain: TextDomain) -> None:
    """Rows of a table that is only asked for texts of the domain."""
    kept: list[tuple[ast.expr | None, ast.expr]] = []
    for key, value in zip(table.keys, table.values, strict=True):
        if key is not None and is_never(key, domain, scope) and is_pure(value, scope):
            context.drop_element(value, "table", domain.rules, key)
            context.forget(value)
        else:
            kept.append((key, value))
    table.keys, table.values = [key for key, _ in kept], [value for _, value in kept]
