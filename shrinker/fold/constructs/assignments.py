"""Assignments: tables whose rows nothing asks for, and annotations of variables."""

import ast

from shrinker.fold.constructs.annotations import fold_annotation
from shrinker.fold.constructs.displays import fold_rows
from shrinker.fold.constructs.imports import fold_exports
from shrinker.fold.domains import drop_rows, drop_texts
from shrinker.fold.statements import Folded, StatementFolder, folds


@folds(ast.AnnAssign)
def fold_annotated(folder: StatementFolder, node: ast.AnnAssign) -> Folded:
    """`x: T = value`."""
    if isinstance(node.target, ast.Name) and node.value is not None:
        drop_unasked(folder, node.target.id, node.value)
    node.annotation = fold_annotation(folder.expressions, node.annotation, "variable") or node.annotation
    if node.value is not None:
        rows = isinstance(node.target, ast.Name)
        node.value = fold_rows(folder.expressions, node.value) if rows else folder.expressions.fold(node.value)
    if not isinstance(node.target, ast.Name):
        node.target = folder.expressions.fold(node.target)  # type: ignore[assignment]
    return [node], False


def drop_unasked(folder: StatementFolder, name: str, value: ast.expr) -> None:
    """A collection that a rule says is only asked for texts of a domain, itself or within a call that makes one."""
    domain = folder.context.environment.domain(f"{folder.owner or folder.context.module}.{name}", "tables")
    if domain is None:
        return
    for table in (value, *(value.args if isinstance(value, ast.Call) else ())):
        if isinstance(table, ast.Dict):
            drop_rows(folder.context, folder.scope, table, domain)
        elif isinstance(table, ast.Tuple | ast.List | ast.Set):
            drop_texts(folder.context, folder.scope, table, domain)


@folds(ast.Assign)
def fold_assigned(folder: StatementFolder, node: ast.Assign) -> Folded:
    """`x = value`."""
    match node.targets:
        case [ast.Name(id="__all__")]:
            fold_exports(folder, node.value)
        case [ast.Name(id=name)]:
            drop_unasked(folder, name, node.value)
            node.value = fold_rows(folder.expressions, node.value)
        case _:
            folder.expressions.children(node)
    return [node], False


@folds(ast.AugAssign)
def fold_augmented(folder: StatementFolder, node: ast.AugAssign) -> Folded:
    """`x += value`."""
    if isinstance(node.target, ast.Name) and node.target.id == "__all__":
        fold_exports(folder, node.value)
    else:
        folder.expressions.children(node)
    return [node], False
