"""Definitions that propagation found nobody to name: they go before the module is folded."""

from __future__ import annotations

import ast

from shrinker.fold.context import Context, written_pass
from shrinker.fold.exports import Exports
from shrinker.syntax.ranges import extent, span
from shrinker.values.edits import DropStatement

_RULE = "orphan"


def drop_orphans(tree: ast.Module, context: Context, names: frozenset[str]) -> None:
    """Delete these definitions from a module, before it is folded."""
    if not names:
        return
    exports = Exports(tree, context)
    names = frozenset(n for n in names if not exports.holds(n))
    tree.body = _without(tree.body, "", context, names)
    for name in names:
        exports.drop(name)
    exports.finish()
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            node.body = _without(node.body, f"{node.name}.", context, names) or [written_pass()]


def _without(body: list[ast.stmt], prefix: str, context: Context, names: frozenset[str]) -> list[ast.stmt]:
    kept: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and f"{prefix}{node.name}" in names:
            context.forget(node)
            context.edits.append(DropStatement(span(node)))
            context.decide(node, "definition", {_RULE}, "removed", extent([node]))
        else:
            kept.append(node)
    return kept
