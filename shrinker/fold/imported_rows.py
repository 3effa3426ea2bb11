"""Loops of the module level that import what rows name: ``for name in NAMES: import_module(f"{__name__}.{name}")``.

A row that names a module which a rule removes goes, as the row of any other table: the loop would import what is not there.
"""

import ast
from collections.abc import Iterator

from shrinker.facts.lattice import Removed
from shrinker.fold.context import Context
from shrinker.syntax.unroll import Display, bind, rows_of, tables_of, text_of
from shrinker.syntax.walk import walk

LOADED = "loaded row"
"""Kind of the decisions."""
_IMPORTING = frozenset({"import_module", "__import__"})


def drop_removed_rows(tree: ast.Module, context: Context) -> None:
    """Delete the rows of such loops that name a removed module, as long as one stays.

    Args:
        tree: the module, which is changed.
        context: takes the edits and decisions.
    """
    if context.source.words.isdisjoint(_IMPORTING):
        return
    tables = tables_of(tree)
    done: set[int] = set()
    for node in tree.body:
        if not isinstance(node, ast.For):
            continue
        display = tables.get(node.iter.id) if isinstance(node.iter, ast.Name) else node.iter
        if not isinstance(display, Display) or id(display) in done or rows_of(display, {}) is None:
            continue
        done.add(id(display))
        asked = list(_imported(node))
        gone = {
            id(row): removed for row in display.elts if (removed := _removed(row, node, asked, context)) is not None
        }
        if not gone or len(gone) == len(display.elts):
            # What follows the loop may read the name that it binds.
            continue
        for row in display.elts:
            if (found := gone.get(id(row))) is not None:
                context.forget(row)
                context.drop_element(row, type(display).__name__, LOADED, {found.rule})
        display.elts = [row for row in display.elts if id(row) not in gone]


def _imported(loop: ast.For) -> Iterator[ast.expr]:
    """What the loop hands to `import_module`."""
    for part in loop.body:
        for node in walk(part):
            if isinstance(node, ast.Call) and node.args:
                name = getattr(node.func, "attr", "") or getattr(node.func, "id", "")
                if name in _IMPORTING:
                    yield node.args[0]


def _removed(row: ast.expr, loop: ast.For, asked: list[ast.expr], context: Context) -> Removed | None:
    """The removed module that the loop would import for a row."""
    bound: dict[str, ast.expr | None] = {}
    bind(loop.target, row, bound)
    for name in asked:
        text = text_of(name, bound, context.module, context.package)
        removed = context.environment.removed_module(text) if text is not None else None
        if removed is not None:
            return removed
    return None
