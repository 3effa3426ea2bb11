"""What code needs that stays as upstream wrote it: the removed modules that it names stay, too."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from shrinker.facts.bound import removed_names
from shrinker.facts.evaluate import evaluate
from shrinker.facts.lattice import Removed
from shrinker.facts.world import ValueScope
from shrinker.fold.context import Context
from shrinker.syntax.imports import absolute
from shrinker.syntax.walk import walk
from shrinker.values.folded import Uncertain

UNWRITABLE = "folding decided an edit that cannot be written"
"""How the reason starts for a module that is left whole."""


def function_needs(
    node: ast.FunctionDef | ast.AsyncFunctionDef, outer: ValueScope, inner: ValueScope, context: Context
) -> None:
    """Record the uses in a function that was left whole.

    Args:
        node: the function as upstream wrote it.
        outer: the scope around it, in which its header is evaluated.
        inner: the scope of its body.
        context: of the module.
    """
    header = [node.args, *node.decorator_list, *([node.returns] if node.returns is not None else [])]
    _names(header, outer, context)
    _names(node.body, inner, context)


def _names(parts: Iterable[ast.AST], scope: ValueScope, context: Context) -> None:
    for part in parts:
        for node in walk(part):
            # What the function itself imports is asked for where its feature is.
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                value = evaluate(node, scope)
                if isinstance(value, Removed) and value.module and value.eager:
                    context.escape(node, value)


def _import_needs(node: ast.Import | ast.ImportFrom, context: Context) -> None:
    """Record what an import needs that is left as it is."""
    environment = context.environment
    source = absolute(node.module, node.level, context.package) if isinstance(node, ast.ImportFrom) else ""
    parts = ((alias, environment.removed_module(f"{source}.{alias.name}")) for alias in node.names if source)
    for alias, removed in (*removed_names(node, source, environment), *parts):
        if removed is not None and removed.module:
            context.escape(alias, removed)


def leave_module(tree: ast.Module, context: Context, reasons: Iterable[str]) -> None:
    """Record that a module is left whole, since emission cannot write what folding decides, and which removed modules it needs.

    Args:
        tree: the module as upstream wrote it.
        context: of the module.
        reasons: what emission said.
    """
    context.uncertain.extend(Uncertain(context.path, 0, f"{UNWRITABLE}: {reason}") for reason in sorted(reasons))
    for node in walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            _import_needs(node, context)
