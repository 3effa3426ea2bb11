"""After folding: flags of the module level that nothing reads any more, in branches too."""

from __future__ import annotations

import ast
from collections.abc import Callable

from shrinker.facts.effects import is_pure
from shrinker.facts.lattice import Known
from shrinker.facts.scopes import ModuleScope
from shrinker.fold.context import Context
from shrinker.fold.exports import Exports
from shrinker.syntax.ranges import extent


def keep_flags(
    body: list[ast.stmt],
    context: Context,
    is_used: Callable[[str], bool],
    exports: Exports,
    *,
    outermost: bool = True,
    watched: bool = False,
) -> list[ast.stmt]:
    """What is left of a block of the module level once unread flags went.

    Args:
        body: the block.
        is_used: whether a name of the module is used, wherever it can be.
        exports: entries of ``__all__`` go with their flags.
        outermost: False in a branch, which is never emptied.
        watched: True where a handler waits for what the block raises: only what raises nothing goes there.
    """
    kept: list[ast.stmt] = []
    for index, node in enumerate(body):
        last = not outermost and index == len(body) - 1 and not kept
        if isinstance(node, ast.If):
            node.body = keep_flags(node.body, context, is_used, exports, outermost=False, watched=watched)
            node.orelse = keep_flags(node.orelse, context, is_used, exports, outermost=False, watched=watched)
        elif isinstance(node, ast.Try):
            inner = watched or bool(node.handlers)
            node.body = keep_flags(node.body, context, is_used, exports, outermost=False, watched=inner)
        elif (
            not last
            and (not watched or isinstance(getattr(node, "value", None), ast.Constant))
            and _is_dead_flag(node, context, is_used, exports)
        ):
            continue
        kept.append(node)
    return kept


def _is_dead_flag(node: ast.stmt, context: Context, is_used: Callable[[str], bool], exports: Exports) -> bool:
    if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
        return False
    name = node.targets[0].id
    if is_used(name) or name in context.environment.shown:
        return False
    value = context.environment.resolve(context.module, name)
    if not (isinstance(value, Known) and value.rules):
        return False
    if isinstance(node.value, ast.Constant) and value.exact:
        if not isinstance(node.value.value, bool):
            return False  # A number or a text is a setting, not a flag.
    else:
        # Reads of an exact constant have all become literals. Of another one only the tests are gone:
        # none may be left here or elsewhere, and asking must have no effect.
        if (name in context.environment.read and name not in context.unused) or not is_pure(
            node.value, ModuleScope(context.environment, context.module, context.decided)
        ):
            return False
        context.forget(node.value)
    exports.drop(name)
    context.sweep(node)
    context.decide(node, "flag", value.rules, "removed", extent([node]))
    return True
