"""A file whose edits emission could not write: it stays as upstream wrote it, with all that it names.

Folding decided too much for it, so that nothing of it is used: what it imports stays, removed modules included.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from shrinker.fold.context import Context
from shrinker.fold.whole import import_needs
from shrinker.syntax.walk import walk
from shrinker.values.folded import Uncertain

WHY = "folding decided an edit that cannot be written"
"""How the reason starts."""


def leave(tree: ast.Module, context: Context, reasons: Iterable[str]) -> None:
    """Record that a module is left whole, and which removed modules it needs.

    Args:
        tree: the module as upstream wrote it.
        context: of the module.
        reasons: what emission said.
    """
    context.uncertain.extend(Uncertain(context.path, 0, f"{WHY}: {reason}") for reason in sorted(reasons))
    for node in walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            import_needs(node, context)
