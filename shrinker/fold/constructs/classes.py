"""Classes: bases, keywords and the body."""

import ast

from shrinker.facts.lattice import Removed
from shrinker.facts.scopes import LocalScope
from shrinker.fold.constructs.functions import LOCALS, definition_gone, fold_decorators, removed_definition
from shrinker.fold.context import EvaluatesRemoved, filled
from shrinker.fold.statements import Folded, StatementFolder, folds
from shrinker.syntax.scopes import scope_of


@folds(ast.ClassDef)
def fold_class(folder: StatementFolder, node: ast.ClassDef) -> Folded:
    """Fold a class; without its only base it goes."""
    if (removed := removed_definition(folder, node)) is not None:
        return folder.drop(node, {removed.rule}, "definition")
    try:
        fold_decorators(folder, node)
        bases: list[ast.expr] = []
        gone: list[tuple[ast.expr, Removed]] = []
        for base in node.bases:
            try:
                bases.append(folder.expressions.fold(base))
            except EvaluatesRemoved as poison:
                if poison.removed.missing:
                    raise
                gone.append((base, poison.removed))
        if gone and not bases:
            return folder.drop(node, {gone[0][1].rule}, "definition")
        for base, removed in gone:
            folder.context.drop_element(base, "ClassDef", "base", {removed.rule})
            # What the base defines may run for every instance: only a rule can say that it does not.
            if removed.module and not folder.context.environment.only_when_asked(removed.name):
                folder.context.escape(node, removed)
        node.bases = bases
        for keyword in node.keywords:
            keyword.value = folder.expressions.fold(keyword.value)
    except EvaluatesRemoved as poison:
        if poison.removed.missing:
            raise
        return definition_gone(folder, node, poison.removed)
    scope = LocalScope(folder.scope, scope_of(node, folder.context.package))
    # A class of a function is none of the module's, whatever its name.
    around = folder.owner or folder.context.module + (f".{LOCALS}" if folder.kind == "function" else "")
    inside = StatementFolder(folder.context, scope, "class", f"{around}.{node.name}")
    folder.context.bodies.append((None, ()))
    try:
        node.body = filled(inside.block(node.body))
    finally:
        folder.context.bodies.pop()
    return [node], False
