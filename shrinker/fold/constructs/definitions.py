"""Functions and classes: decorators, defaults, annotations and bases, the body in its own scope,
and what must not lose its only `yield`.
"""

import ast

from shrinker.facts.lattice import Removed
from shrinker.facts.scopes import (
    LATER,
    NEVER_TAKEN,
    LocalScope,
    ModuleScope,
    Shadowed,
    around_function,
    function_scope,
)
from shrinker.fold.constructs.assignments import fold_annotation
from shrinker.fold.constructs.calls import registration
from shrinker.fold.context import EvaluatesRemoved, LeavesWhole, filled
from shrinker.fold.statements import Folded, StatementFolder, folds
from shrinker.syntax.control import declares, is_generator, rebinds
from shrinker.syntax.scopes import arguments_of, scope_of
from shrinker.syntax.walk import Definition, Function, walk

_LOCALS = "<locals>"
"""In the name of a class that a function defines, as Python itself names it."""


@folds(ast.FunctionDef, ast.AsyncFunctionDef)
def fold_function(folder: StatementFolder, node: Function) -> Folded:
    """Fold a function; what is left of it may be upstream's own text."""
    if (removed := _removed_definition(folder, node)) is not None:
        return folder.drop(node, {removed.rule}, "definition")
    context = folder.context
    decisions = len(context.decisions)
    declared = declares(node) if context.holds(node, "global", "nonlocal") else set()
    generator = context.holds(node, "yield") and is_generator(node)
    try:
        _fold_decorators(folder, node)
        arguments = node.args
        arguments.defaults = [_fold_default(folder, d) for d in arguments.defaults]
        arguments.kw_defaults = [
            _fold_default(folder, d) if d is not None else None for d in arguments.kw_defaults
        ]
    except EvaluatesRemoved as poison:
        return _definition_gone(folder, node, poison)
    for argument in arguments_of(arguments):
        if argument.annotation is not None:
            argument.annotation = fold_annotation(folder.expressions, argument.annotation)
    if node.returns is not None:
        node.returns = fold_annotation(folder.expressions, node.returns)
    if (gone := _removed_method(folder, node, generator)) is not None:
        node.body = folder.raises(node.body, gone, "definition")
        return [node], False
    # A function within another one was looked at as if it stood in the module.
    known = (
        context.scopes.pop(node, None)
        if isinstance(around_function(folder.scope), ModuleScope)
        else None
    )
    scope = known or function_scope(node, folder.scope, context.package)
    context.bodies.append((node, scope.bindings.names.keys()))
    watching, context.watching = context.watching, 0
    node.body = filled(StatementFolder(context, scope, "function").block(node.body))
    _fold_again(folder, node, scope, decisions)
    context.watching = watching
    context.bodies.pop()
    # It must not be another function: without its only `yield` it is no generator, without its
    # `global` it binds another name.
    if generator and not is_generator(node):
        raise LeavesWhole(f"folding would remove the only yield of {node.name}")
    if declared and rebinds(node, declared - declares(node)):
        raise LeavesWhole(f"folding would remove the only global declaration of {node.name}")
    return [node], False


def _fold_default(folder: StatementFolder, node: ast.expr) -> ast.expr:
    """A default is evaluated with the definition, in every run: a removed member that it
    gives is named, and stays.
    """
    try:
        return folder.expressions.fold(node)
    except EvaluatesRemoved as poison:
        if poison.removed.member:
            raise LeavesWhole(
                f"a default names {poison.removed.name}, which is removed"
            ) from poison
        raise


def _removed_definition(folder: StatementFolder, node: Definition) -> Removed | None:
    """Return the rule's answer for a definition at module level that it names."""
    if folder.kind != "module":
        return None
    return folder.context.environment.removed_definition(f"{folder.context.module}.{node.name}")


def _removed_method(folder: StatementFolder, node: Function, generator: bool) -> Removed | None:
    """Return the rule's answer for a method that it names.

    The method stays, since nobody knows all who call it, and raises.
    """
    if (
        folder.kind != "class"
        or _LOCALS in folder.owner
        or (generator and isinstance(node, ast.AsyncFunctionDef))
    ):
        # Without its `yield`, an `async for` over it would be another error than the named one.
        return None
    return folder.context.environment.removed_definition(f"{folder.owner}.{node.name}")


def _fold_again(folder: StatementFolder, node: Function, scope: LocalScope, decisions: int) -> None:
    """Look at a folded body again for what its folding says of local names.

    What reads a name whose every binding is gone is cut: it can only run where they ran. A name of
    which some are gone may be decided by those that are left.
    """
    context = folder.context
    before = set(scope.bindings.names)
    while len(context.decisions) > decisions:
        after = function_scope(node, folder.scope, context.package)
        reads = {
            n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        }
        reads -= after.opaque | after.bindings.globals
        lost = (before - after.bindings.names.keys()) & reads
        fewer = {
            n for n in reads & after.bindings.names.keys() if _bound(after, n) < _bound(scope, n)
        }
        values = {n: after.lookup(n, LATER) for n in fewer}
        decided = {
            n
            for n, v in values.items()
            if context.environment.is_hot(v) and v != scope.lookup(n, LATER)
        }
        if not lost and not decided:
            return
        rules = "+".join(sorted({r for d in context.decisions[decisions:] for r in d.rules}))
        gone = {n: Removed(rules, NEVER_TAKEN, f"{context.module}.{n}") for n in lost}
        context.heat(lost | decided)
        before, scope = before - lost, after
        node.body = filled(
            StatementFolder(context, Shadowed(after, gone), "function").block(node.body)
        )


def _bound(scope: LocalScope, name: str) -> int:
    """Return how many places bind a name."""
    return len(scope.bindings.names.get(name, ()))


def _fold_decorators(folder: StatementFolder, node: Definition) -> None:
    """Fold decorators; one that files the definition under a name that is never asked for goes."""
    kept: list[ast.expr] = []
    for decorator in node.decorator_list:
        filed = registration(decorator, folder.scope)
        if filed is not None and folder.context.is_named_beside(node):
            # Others call it by its name: only its entry goes.
            folder.context.forget(decorator)
            folder.context.drop_element(decorator, "registration", {filed.rule})
        else:
            kept.append(folder.expressions.fold(decorator))
    node.decorator_list = kept


def _definition_gone(folder: StatementFolder, node: Definition, poison: EvaluatesRemoved) -> Folded:
    """Return what becomes of a definition that a removed decorator, default or keyword stands at;
    of what is missing the error stays.
    """
    removed = poison.removed
    if removed.missing:
        raise poison
    if removed.eager and removed.module and folder.context.is_named_beside(node):
        folder.context.escape(node, removed)
        return [node], False
    return folder.drop(node, {removed.rule}, "definition")


@folds(ast.ClassDef)
def fold_class(folder: StatementFolder, node: ast.ClassDef) -> Folded:
    """Fold a class; without its only base it goes."""
    if (removed := _removed_definition(folder, node)) is not None:
        return folder.drop(node, {removed.rule}, "definition")
    try:
        _fold_decorators(folder, node)
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
            folder.context.drop_element(base, "base", {removed.rule})
            # What the base defines may run for every instance: only a rule can say that it does
            # not.
            if removed.module and not folder.context.environment.only_when_asked(removed.name):
                folder.context.escape(node, removed)
        node.bases = bases
        for keyword in node.keywords:
            keyword.value = folder.expressions.fold(keyword.value)
    except EvaluatesRemoved as poison:
        return _definition_gone(folder, node, poison)
    scope = LocalScope(folder.scope, scope_of(node, folder.context.package))
    # A class of a function is none of the module's, whatever its name.
    around = folder.owner or folder.context.module + (
        f".{_LOCALS}" if folder.kind == "function" else ""
    )
    inside = StatementFolder(folder.context, scope, "class", f"{around}.{node.name}")
    folder.context.bodies.append((None, ()))
    node.body = filled(inside.block(node.body))
    folder.context.bodies.pop()
    return [node], False
