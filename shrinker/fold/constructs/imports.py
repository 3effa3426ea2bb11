"""Imports of removed modules and of what is not installed, and the names that `__all__` loses with them."""

from __future__ import annotations

import ast

from shrinker.facts.lattice import Removed
from shrinker.fold.context import EvaluatesRemoved
from shrinker.fold.statements import Folded, StatementFolder, folds
from shrinker.syntax.imports import absolute


def _not_installed(folder: StatementFolder, module: str) -> None:
    rule = folder.context.environment.is_absent(module)
    if rule is not None and folder.kind == "function" and not folder.context.catching:
        raise EvaluatesRemoved(Removed(rule, "not installed beside CUDA", module, error="ImportError"))


@folds(ast.Import)
def fold_import(folder: StatementFolder, node: ast.Import) -> Folded:
    """`import a, b`."""
    _not_installed(folder, node.names[0].name)
    gone = [(a, r) for a in node.names if (r := folder.context.environment.removed_module(a.name))]
    return _without_aliases(folder, node, [(a, r) for a, r in gone if r is not None])


@folds(ast.ImportFrom)
def fold_import_from(folder: StatementFolder, node: ast.ImportFrom) -> Folded:
    """`from a import b, c`."""
    source = absolute(node.module, node.level, folder.context.package)
    if not node.level:
        _not_installed(folder, source)
    environment = folder.context.environment
    gone: list[tuple[ast.alias, Removed]] = []
    for alias in node.names:
        value = environment.removed_module(source) if alias.name == "*" else environment.resolve(source, alias.name)
        if isinstance(value, Removed):
            gone.append((alias, value))
    return _without_aliases(folder, node, gone)


def _without_aliases(
    folder: StatementFolder, node: ast.Import | ast.ImportFrom, gone: list[tuple[ast.alias, Removed]]
) -> Folded:
    if not gone:
        return [node], False
    rules = {removed.rule for _, removed in gone}
    if len(gone) == len(node.names):
        return folder.drop(node, rules, "import")
    folder.context.drop_aliases(node, [(alias, {removed.rule}) for alias, removed in gone])
    return [node], False


def fold_exports(folder: StatementFolder, value: ast.expr) -> None:
    """`__all__` loses the names that are gone: a star import would look for them."""
    if folder.kind != "module" or not isinstance(value, ast.List | ast.Tuple):
        return
    kept: list[ast.expr] = []
    for item in value.elts:
        name = item.value if isinstance(item, ast.Constant) else None
        found = folder.context.environment.resolve(folder.context.module, name) if isinstance(name, str) else None
        if isinstance(found, Removed):
            folder.context.drop_element(item, type(value).__name__, "export", {found.rule})
        else:
            kept.append(item)
    value.elts = kept
