"""Imports of removed modules and of what is not installed, and the names that `__all__` loses with
them.
"""

import ast

from shrinker.facts.lattice import Removed
from shrinker.facts.scopes import removed_names
from shrinker.fold.context import EvaluatesRemoved, LeavesWhole
from shrinker.fold.statements import Folded, StatementFolder, folds
from shrinker.syntax.imports import Import, names_of


@folds(ast.Import, ast.ImportFrom)
def fold_import(folder: StatementFolder, node: Import) -> Folded:
    """`import a, b` and `from a import b, c`."""
    source = names_of(node, folder.context.package)[0][0]
    rule = (
        folder.context.environment.is_absent(source)
        if isinstance(node, ast.Import) or not node.level
        else None
    )
    if rule is not None and folder.kind == "function" and not folder.context.catching:
        raise EvaluatesRemoved(
            Removed(rule, "not installed beside CUDA", source, error="ModuleNotFoundError")
        )
    if not (gone := list(removed_names(node, source, folder.context.environment))):
        return [node], False
    if folder.kind != "function" and isinstance(node, ast.Import):
        for alias, _ in gone:
            # It binds the package, of which nothing says that every run asks it for this module.
            if alias.asname is None and folder.context.source.text.count(alias.name) > 1:
                used = "and what is removed of it may be used by that name"
                raise LeavesWhole(f"line {node.lineno} imports {alias.name}, {used}")
    if len(gone) == len(node.names):
        return folder.drop(node, {removed.rule for _, removed in gone}, "import")
    folder.context.drop_aliases(node, [(alias, {removed.rule}) for alias, removed in gone])
    return [node], False


def fold_exports(folder: StatementFolder, value: ast.expr) -> None:
    """`__all__` loses the names that are gone: a star import would look for them."""
    if folder.kind != "module" or not isinstance(value, ast.List | ast.Tuple):
        return
    for item in [*value.elts]:
        name = item.value if isinstance(item, ast.Constant) else None
        found = (
            folder.context.environment.resolve(folder.context.module, name)
            if isinstance(name, str)
            else None
        )
        if isinstance(found, Removed):
            folder.context.drop_item(item, value.elts, "export", {found.rule})
