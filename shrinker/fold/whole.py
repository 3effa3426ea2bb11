"""What code needs that stays as upstream wrote it: the removed modules that it names stay, too."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from shrinker.facts.bound import removed_names
from shrinker.fold.context import Context
from shrinker.syntax.imports import absolute
from shrinker.syntax.walk import walk
from shrinker.values.folded import Uncertain

UNWRITABLE = "what folding decides cannot be written"
"""How the reason starts for a module that is left whole."""


def _import_needs(node: ast.Import | ast.ImportFrom, context: Context) -> None:
    """Record what an import needs that is left as it is."""
    environment = context.environment
    source = absolute(node.module, node.level, context.package) if isinstance(node, ast.ImportFrom) else ""
    parts = ((alias, environment.removed_module(f"{source}.{alias.name}")) for alias in node.names if source)
    for alias, removed in (*removed_names(node, source, environment), *parts):
        if removed is not None and removed.module:
            context.escape(alias, removed)


def leave_module(tree: ast.Module, context: Context, reasons: Iterable[str]) -> None:
    """Record that a module is left whole, since what folding decides cannot be written, and which removed modules it needs.

    Args:
        tree: the module as upstream wrote it.
        context: of the module.
        reasons: why, by folding or emission.
    """
    context.uncertain.extend(Uncertain(context.path, 0, f"{UNWRITABLE}: {reason}") for reason in sorted(reasons))
    for node in walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            _import_needs(node, context)
