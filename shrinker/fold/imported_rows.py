"""Loops of the module level that import what rows name: ``for name in NAMES: import_module(f"{__name__}.{name}")``.

A row that names a module which a rule removes goes, as the row of any other table: the loop would import what is not there.
"""

import ast
from collections.abc import Iterator

from shrinker.facts.lattice import Removed
from shrinker.fold.context import Context
from shrinker.syntax.names import last_name
from shrinker.syntax.unroll import Display, bind, rows_of, tables_of, text_of
from shrinker.syntax.walk import walk

LOADED = "loaded row"
"""Kind of the decisions."""
_IMPORTING = frozenset({"import_module", "__import__"})


def drop_removed_rows(tree: ast.Module, context: Context) -> None:
    """Delete the rows of such loops that name a removed module, as long as one stays."""
    if context.source.words.isdisjoint(_IMPORTING):
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
        asked = list(_imported(node))
        found = [(row, _removed(row, node, asked, context)) for row in display.elts]
        kept = [row for row, removed in found if removed is None]
        if not kept:
            # What follows the loop may read the name that it binds.
            continue
        for row, removed in found:
            if removed is not None:
                context.forget(row)
                context.drop_element(row, type(display).__name__, LOADED, {removed.rule})
        display.elts = kept


def _imported(loop: ast.For) -> Iterator[ast.expr]:
    """What the loop hands to `import_module`."""
    for part in loop.body:
        for node in walk(part):
            if isinstance(node, ast.Call) and node.args and last_name(node.func) in _IMPORTING:
                yield node.args[0]


def _removed(row: ast.expr, loop: ast.For, asked: list[ast.expr], context: Context) -> Removed | None:
    """The removed module that the loop would import for a row."""
    bound: dict[str, ast.expr | None] = {}
    bind(loop.target, row, bound)
    texts = (text_of(name, bound, context.module, context.package) for name in asked)
    removed = (context.environment.removed_module(text) for text in texts if text is not None)
    return next((each for each in removed if each is not None), None)
