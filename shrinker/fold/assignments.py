"""Assignments: tables whose rows nothing asks for, and annotations of variables."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shrinker.fold.annotations import fold_annotation
from shrinker.fold.domains import drop_rows, drop_texts

if TYPE_CHECKING:
    from shrinker.fold.statements import Body, StatementFolder


def fold_annotated(folder: StatementFolder, node: ast.AnnAssign) -> tuple[Body, bool]:
    """`x: T = value`."""
    if isinstance(node.target, ast.Name) and node.value is not None:
        drop_unasked(folder, node.target.id, node.value)
    folded = fold_annotation(folder.expressions, node.annotation, "variable")
    if folded is not None:
        node.annotation = folded
    if node.value is not None:
        rows = isinstance(node.target, ast.Name)
        node.value = folder.expressions.fold_rows(node.value) if rows else folder.expressions.fold(node.value)
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
