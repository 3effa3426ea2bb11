"""Classes: bases, keywords, the body, and members of enumerations that nothing produces."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shrinker.facts.bindings import collect
from shrinker.facts.lattice import Removed
from shrinker.facts.scopes import LocalScope
from shrinker.fold.context import EvaluatesRemoved, span
from shrinker.fold.control import filled, reads_of_itself
from shrinker.fold.functions import definition_gone, fold_decorators
from shrinker.values.edits import DropElement

if TYPE_CHECKING:
    from shrinker.fold.statements import Body, StatementFolder


def fold_class(folder: StatementFolder, node: ast.ClassDef) -> tuple[Body, bool]:
    """Fold a class; without its only base it goes."""
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
            folder.context.edits.append(DropElement(span(base), "ClassDef"))
            folder.context.decide(base, "base", {removed.rule}, "removed", 0)
            # What the base defines may run for every instance: only a fact can say that it does not.
            if removed.module:
                folder.context.escape(node, removed)
        node.bases = bases
        for keyword in node.keywords:
            keyword.value = folder.expressions.fold(keyword.value)
    except EvaluatesRemoved as poison:
        if poison.removed.missing:
            raise
        return definition_gone(folder, node, poison.removed)
    scope = LocalScope(folder.scope, collect(node.body, folder.context.package), frozenset(), is_class=True)
    inside = folder.inside(scope, "class", f"{folder.owner or folder.context.module}.{node.name}")
    if folder.context.environment.has_removed_members(inside.owner):
        inside.own_reads = reads_of_itself(node)
    node.body = filled(inside.block(node.body))
    return [node], False


def removed_member(folder: StatementFolder, name: str) -> Removed | None:
    """The member of an enumeration that an assignment of the class body defines, when it may go."""
    removed = folder.context.environment.removed_member(f"{folder.owner}.{name}") if folder.kind == "class" else None
    # `DEFAULT = GONE`, `folder.GONE`: the class itself reads it in a way that is not folded, or an f-string does.
    read = name in folder.own_reads or name in folder.context.environment.shown
    return None if read else removed
