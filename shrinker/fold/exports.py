"""Lists of a module's own names, of which entries go with their definitions: ``__all__``, which a
star import takes, and lists that a loop goes through to give each name that is there something
else. And rows that a loop imports: ``for name in NAMES: import_module(f"{__name__}.{name}")``; one
that names a module which a rule removes goes, as the row of any other table: the loop would import
what is not there.
"""

import ast
from collections.abc import Iterable, Iterator
from operator import itemgetter

from shrinker.facts.lattice import Removed
from shrinker.fold.context import Context
from shrinker.syntax.ranges import span
from shrinker.syntax.side_effects import bound_by
from shrinker.syntax.unroll import IMPORTING, Display, imported_for, rows_of, tables_of
from shrinker.syntax.walk import walk
from shrinker.values.edits import Span

LOADED = "loaded row"
"""Kind of the decisions about rows that a loop imports."""


def is_export(node: ast.stmt) -> bool:
    """True for an assignment to ``__all__``, augmented ones included."""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return isinstance(target, ast.Name) and target.id == "__all__"


def exported(tree: ast.Module) -> set[str]:
    """Return names in ``__all__``, as far as they are spelled out."""
    values = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AugAssign) and is_export(node)
    )
    return {text for value in values for text, _ in _texts(walk(value))}


def replaces_own(node: ast.stmt) -> bool:
    """True for ``for x in NAMES: if x in globals(): globals()[x] = wrap(globals()[x], f"a.{x}")``:
    it names nothing that is not there.
    """
    match node:
        case ast.For(
            ast.Name(name),
            ast.Name(),
            [ast.If(test, [ast.Assign([target], ast.Call(ast.Name(), args, []))], [])],
            [],
        ):
            own = f"globals()[{name}]"
            plain = (argument for argument in args if not _is_label(argument, name))
            return ast.unparse(test) == f"{name} in globals()" and {
                *map(ast.unparse, (target, *plain))
            } == {own}
    return False


def _is_label(node: ast.expr, name: str) -> bool:
    """``f"a.{name}"``."""
    match node:
        case ast.JoinedStr([ast.Constant(str() as before), ast.FormattedValue(ast.Name(shown))]):
            return before.endswith(".") and shown == name
    return False


def replaced_names(tree: ast.Module) -> frozenset[str]:
    """Lists of texts that only such loops read and that are deleted in the end: nothing else can
    ask for one of their texts.
    """
    loops = [node for node in tree.body if replaces_own(node)]
    if not loops or "globals" in bound_by(*tree.body):
        return frozenset()
    looped = {node.iter for node in loops if isinstance(node, ast.For)}
    found: dict[ast.AST, str] = {}
    deleted: dict[ast.AST, str] = {}
    for node in tree.body:
        match node:
            case ast.Assign([ast.Name(name) as target], ast.List(texts)) if len(
                _texts(texts)
            ) == len(texts):
                found[target] = name
            case ast.Delete([ast.Name(name) as target]):
                deleted[target] = name
    allowed = looped | found.keys() | deleted.keys()
    others = {part.id for part in walk(tree) if isinstance(part, ast.Name) and part not in allowed}
    return frozenset(found.values()) & frozenset(deleted.values()) - others


def _texts(nodes: Iterable[ast.AST]) -> list[tuple[str, ast.Constant]]:
    """Return each text among some nodes, with its node."""
    return [
        (node.value, node)
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def _items(tree: ast.Module) -> Iterator[tuple[str, ast.Constant, list[ast.expr]]]:
    """Yield each name that is spelled out, with its place and all that stand beside it."""
    replaced = replaced_names(tree)
    for node in tree.body:
        listed = is_export(node) or (
            isinstance(node, ast.Assign) and not replaced.isdisjoint(bound_by(node))
        )
        value = getattr(node, "value", None) if listed else None
        if isinstance(value, ast.List | ast.Tuple):
            yield from ((text, item, value.elts) for text, item in _texts(value.elts))


def entries(tree: ast.Module) -> tuple[tuple[str, Span], ...]:
    """Return names whose entry can be deleted, with its place."""
    return tuple((name, span(item)) for name, item, _ in _items(tree))


def drop_entries(tree: ast.Module, context: Context, gone: Iterable[str]) -> None:
    """Delete the entries of names whose definitions go."""
    names = set(gone)
    for _, item, beside in sorted(
        (each for each in _items(tree) if each[0] in names), key=itemgetter(0)
    ):
        context.drop_item(item, beside, "export", {"unused"})


# Rows that a loop imports


def drop_removed_rows(tree: ast.Module, context: Context) -> None:
    """Delete the rows of such loops that name a removed module, as long as one stays."""
    if context.source.words.isdisjoint(IMPORTING):
        return
    tables = tables_of(tree)
    done: set[ast.expr] = set()
    for node in tree.body:
        if not isinstance(node, ast.For):
            continue
        display = tables.get(node.iter.id) if isinstance(node.iter, ast.Name) else node.iter
        if not isinstance(display, Display) or display in done or rows_of(display, {}) is None:
            continue
        done.add(display)
        found = [(row, _removed(row, node, context)) for row in display.elts]
        if all(removed is not None for _, removed in found):
            # What follows the loop may read the name that it binds.
            continue
        for row, removed in found:
            if removed is not None:
                context.forget(row)
                context.drop_item(row, display.elts, LOADED, {removed.rule})


def _removed(row: ast.expr, loop: ast.For, context: Context) -> Removed | None:
    """Return the removed module that the loop would import for a row."""
    names = imported_for(row, loop, context.module, context.package)
    return next(filter(None, map(context.environment.removed_module, names)), None)
