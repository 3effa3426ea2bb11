"""After folding: imports and flags whose every read was folded away; in functions imports of
predicates, and names of constants.

Only names whose reads this run removed are considered: what upstream left unused stays. What other
modules may use is judged by all of upstream. What only the kept modules as a whole show to be
unused goes with the search of symbols.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from shrinker.facts.calls import is_pure
from shrinker.facts.lattice import Known, Ref
from shrinker.facts.scopes import ModuleScope
from shrinker.fold.context import Context
from shrinker.fold.exports import exported, is_export
from shrinker.syntax.control import READ_ALL_LOCALS
from shrinker.syntax.imports import (
    Import,
    catches_import_error,
    is_type_checking,
    names_of,
    with_packages,
)
from shrinker.syntax.names import reads_in
from shrinker.syntax.ranges import meets, span
from shrinker.syntax.walk import BLOCKS_OF, Function, functions, statements
from shrinker.values.edits import DropElement, Span


@dataclass(frozen=True, slots=True)
class _Around:
    """What stands around a statement of the module level."""

    branch: bool = False
    """True in a branch, which is never emptied."""
    typing: bool = False
    """True for what only a type checker runs."""
    handlers: tuple[ast.ExceptHandler, ...] = ()
    """What waits for an error of it."""


def _without(
    body: list[ast.stmt],
    is_dead: Callable[[ast.stmt, _Around, bool], bool],
    around: _Around = _Around(),
) -> list[ast.stmt]:
    """Return what is left of a block of the module level; `is_dead` is told of the last statement
    that is left of a branch.
    """
    kept: list[ast.stmt] = []
    for index, node in enumerate(body):
        last = around.branch and index == len(body) - 1 and not kept
        if isinstance(node, ast.If):
            inner = replace(around, branch=True)
            typed = replace(inner, typing=around.typing or is_type_checking(node.test))
            node.body, node.orelse = (
                _without(node.body, is_dead, typed),
                _without(node.orelse, is_dead, inner),
            )
        elif isinstance(node, ast.Try):
            inner = replace(around, branch=True, handlers=(*around.handlers, *node.handlers))
            node.body = _without(node.body, is_dead, inner)
        elif is_dead(node, around, last):
            continue
        kept.append(node)
    return kept


def drop_unused(tree: ast.Module, context: Context) -> None:
    """Remove module-level flags with an exact value that nobody reads, then imports of
    predicates.
    """
    while _drop_flags(tree, context):
        # One may have been the last to read another that stands above it.
        pass
    is_used = _usage(tree, context)

    def is_dead_import(node: ast.stmt, around: _Around, last: bool) -> bool:
        if not isinstance(node, Import) or any(map(catches_import_error, around.handlers)):
            return False
        return not _keep_import(node, context, is_used, runs=not around.typing, last=last)

    tree.body = _without(tree.body, is_dead_import)


def _drop_flags(tree: ast.Module, context: Context) -> bool:
    is_used, edits = _usage(tree, context), len(context.edits)

    def is_dead_flag(node: ast.stmt, around: _Around, last: bool) -> bool:
        # Where a handler waits only what raises nothing goes.
        quiet = not around.handlers or isinstance(getattr(node, "value", None), ast.Constant)
        return quiet and not last and _is_dead_flag(node, context, is_used)

    tree.body = _without(tree.body, is_dead_flag)
    return len(context.edits) > edits


def _usage(tree: ast.Module, context: Context) -> Callable[[str], bool]:
    """Tells whether the module itself reads a name, as it is now, or another module may.

    Few names are asked for, and a statement that folding has not touched reads none that its text
    does not hold.
    """
    exports, environment = exported(tree), context.environment
    body, reads = (
        [statement for statement in tree.body if not is_export(statement)],
        cache(reads_in),
    )

    def is_used(name: str) -> bool:
        elsewhere = (
            context.module,
            name,
        ) in environment.imported or context.module in environment.starred
        if elsewhere or name in exports:
            return True
        lines = context.source.holding((name,))
        return any(
            name in reads(node) for node in body if context.is_edited(node) or meets(lines, node)
        )

    return is_used


def _keep_import(
    node: Import,
    context: Context,
    is_used: Callable[[str], bool],
    *,
    runs: bool = True,
    loaded: frozenset[str] | None = None,
    last: bool = False,
) -> bool:
    """Drop the names of an import whose every use was folded away; False when the whole statement
    goes.

    Args:
        is_used: whether a name bound by the import is used, wherever it can be.
        runs: False for what only a type checker runs.
        loaded: inside a function, what the module level loads before.
        last: True for the only statement that is left of a block.
    """
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return True
    names = names_of(node, context.package)
    source = names[0][0] if isinstance(node, ast.ImportFrom) else ""
    environment, before = context.environment, loaded or frozenset()
    gone: list[tuple[ast.alias, frozenset[str]]] = []
    unproven: list[ast.alias] = []
    stays: list[ast.alias] = []
    for alias, (module, imported, name) in zip(node.names, names, strict=True):
        if name not in context.touched or is_used(name):
            continue
        rules = _decided_by(source, alias.name, context) if source else frozenset()
        # What is read as `module.name` elsewhere stays, unless every such read is folded too.
        lost = loaded is not None or name not in environment.read
        # The import is gone with what importing does, unless that is done anyway.
        perhaps = {f"{module}.{imported}"} if imported not in ("", "*") else set()
        parts = {each for each in perhaps if each in environment.modules}
        # Of a module of the tree it is certain that any other name is no module.
        outside = perhaps if module.partition(".")[0] not in environment.packages else set()
        idle = not runs or before.issuperset({module} | parts | outside)
        if (idle or (source and parts <= before)) and (rules or lost):
            gone.append((alias, rules or frozenset({"unused"})))
            if not idle:
                unproven.append(alias)
                # A module that is imported for its predicates only needs no proof.
                if not rules:
                    stays.append(alias)
    if len(gone) == len(node.names):
        if not stays and source in context.needed:
            stays = [gone[0][0]]
        gone = [(alias, rules) for alias, rules in gone if alias not in stays]
        if last and len(gone) == len(node.names):
            gone.pop()
    context.forget(*(alias for alias, _ in gone))
    if len(gone) < len(node.names):
        context.drop_aliases(node, gone)
        return True
    if runs and source in environment.modules and unproven:
        context.unproven_imports.add(source)
    whole = span(node)
    # Some of its names may have gone before.
    context.edits = [
        e
        for e in context.edits
        if not (isinstance(e, DropElement) and whole < e.span < whole.after)
    ]
    context.sweep(node, "import", frozenset().union(*(rules for _, rules in gone)))
    return False


def _decided_by(source: str, name: str, context: Context) -> frozenset[str]:
    """Return rules that make every use of an imported name foldable: a predicate or a flag."""
    value = context.environment.resolve(source, name)
    if isinstance(value, Ref):
        called = context.environment.called(value.name)
        return frozenset() if called is None else called.rules
    return value.rules if isinstance(value, Known) and value.exact else frozenset()


def _is_dead_flag(node: ast.stmt, context: Context, is_used: Callable[[str], bool]) -> bool:
    name, given = _named_value(node)
    environment = context.environment
    if given is None or is_used(name) or name in environment.shown:
        return False
    if environment.lists_names(context.module):
        # What lists the names of the module reads this one, too.
        return False
    value = environment.resolve(context.module, name)
    if not (isinstance(value, Known) and value.rules):
        return False
    if isinstance(given, ast.Constant) and value.exact:
        if not isinstance(given.value, bool):
            return False  # A number or a text is a setting, not a flag.
    else:
        # Reads of an exact constant have all become literals. Of another one only the tests are
        # gone: none may be left here or elsewhere, and asking must have no effect.
        if name in environment.read or not is_pure(
            given, ModuleScope(environment, context.module, context.decided)
        ):
            return False
        context.forget(given)
    context.sweep(node, "flag", value.rules)
    return True


def _named_value(node: ast.stmt) -> tuple[str, ast.expr | None]:
    """Return the name that an assignment without an annotation binds alone, and its value."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return name, value
    return "", None


# In functions


def drop_unused_locals(tree: ast.Module, context: Context) -> None:
    """In functions, too: imports of predicates, and names of constants, when nothing reads them any
    more.
    """
    imports = (names_of(node, context.package) for node in tree.body if isinstance(node, Import))
    # Loaded before any function of the module runs, with the packages around.
    loaded = with_packages(
        (context.package, *(module for names in imports for module, _, _ in names))
    )
    literals = context.literals()
    for node in functions(tree):
        if context.is_edited(node):
            _clean_function(node, context, literals, loaded)


def _local_reads(function: Function) -> set[str]:
    """Return names that a function may read."""
    names = reads_in(function)
    for statement in statements(function):
        match statement:
            case ast.Nonlocal(names=declared):
                names.update(declared)
            case ast.AugAssign(target=ast.Name(id=name)):
                names.add(name)
    return names


def _clean_function(
    function: Function, context: Context, literals: set[Span], loaded: frozenset[str]
) -> None:
    # Few functions have something to ask about.
    reads = cache(_local_reads)

    def is_read(name: str) -> bool:
        return name in reads(function) or not READ_ALL_LOCALS.isdisjoint(reads(function))

    def is_dead(node: ast.stmt, last: bool) -> bool:
        if isinstance(node, Import):
            return not _keep_import(node, context, is_read, loaded=loaded, last=last)
        name, value = _named_value(node)
        if last or value is None or name not in context.touched:
            return False
        if not (isinstance(value, ast.Constant) or span(value) in literals) or is_read(name):
            return False
        if context.environment.reads_frames():
            # A caller or a traceback may hand the local out.
            return False
        context.sweep(node, "flag", {"unused"})
        return True

    stack: list[ast.AST] = [function]
    while stack:
        node = stack.pop()
        for field in BLOCKS_OF[node.__class__]:
            body = getattr(node, field)
            if (
                isinstance(node, ast.Try)
                and field == "body"
                and any(map(catches_import_error, node.handlers))
            ):
                # The handler tells whether the import works.
                continue
            stack.extend(body)
            if isinstance(node, ast.ClassDef) or field in ("handlers", "cases"):
                continue
            kept: list[ast.stmt] = []
            for index, statement in enumerate(body):
                # A block is never emptied: its last statement stays when it is the only one left.
                if not is_dead(statement, index == len(body) - 1 and not kept):
                    kept.append(statement)
            setattr(node, field, kept)
