"""Definitions whose every mention was folded away: functions, classes and methods.

By name: one mention anywhere, in a string or by a computed name, keeps all definitions of the name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from shrinker.facts.hierarchy import CALLED_BY_TORCH
from shrinker.fold.context import Context, written_pass
from shrinker.fold.exports import Exports
from shrinker.fold.propagate.loading import Loading
from shrinker.fold.propagate.refinement import Refinement
from shrinker.fold.propagate.world import World
from shrinker.syntax.ranges import extent, span
from shrinker.values.edits import DropStatement
from shrinker.values.folded import FoldedModule

_RULE = "orphan"


def find_orphans(world: World, loading: Loading, banned: frozenset[str]) -> Iterator[tuple[str, Refinement]]:
    """Definitions that may go: ``function``, ``Class`` or ``Class.method``."""
    found: dict[str, list[tuple[FoldedModule, str]]] = {}
    fixed: set[str] = set()
    for module in world.modules:
        fixed.update(module.summary.fixed)
        for qualified in module.summary.free:
            name = qualified.rpartition(".")[2]
            if name in world.lost and name not in banned and not world.mentions(name):
                found.setdefault(name, []).append((module, qualified))
    for name, places in found.items():
        if name not in fixed and name not in world.public and all(_may_go(world, m, q) for m, q in places):
            for module, qualified in places:
                yield module.path, Refinement(orphans=frozenset({qualified}))


def _may_go(world: World, module: FoldedModule, qualified: str) -> bool:
    owner, _, name = qualified.rpartition(".")
    if not owner:
        return not world.is_found_by_its_base(f"{module.module}.{name}")
    if owner in world.public_classes and not name.startswith("_"):
        return False
    if name in world.lost_own and name not in CALLED_BY_TORCH:
        # Code of the tree called it on itself: a protocol of the tree's own.
        return True
    return name not in CALLED_BY_TORCH and not world.hierarchy.is_called_from_outside(f"{module.module}.{owner}")


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
