"""``__all__``: what a star import takes, and the entries that go with their definitions."""

import ast
from collections.abc import Iterable, Iterator

from shrinker.fold.context import Context
from shrinker.syntax.ranges import span
from shrinker.syntax.walk import walk
from shrinker.values.edits import Span


def is_export(node: ast.stmt) -> bool:
    """True for an assignment to ``__all__``, augmented ones included."""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return isinstance(target, ast.Name) and target.id == "__all__"


def exported(tree: ast.Module) -> set[str]:
    """Names in ``__all__``, as far as they are spelled out."""
    values = (node.value for node in tree.body if isinstance(node, ast.Assign | ast.AugAssign) and is_export(node))
    constants = (part for value in values for part in walk(value) if isinstance(part, ast.Constant))
    return {part.value for part in constants if isinstance(part.value, str)}


def _items(tree: ast.Module) -> Iterator[tuple[str, ast.Constant, ast.List | ast.Tuple]]:
    """Each name that is spelled out, with its place and what holds it."""
    for node in tree.body:
        value = getattr(node, "value", None) if is_export(node) else None
        if isinstance(value, ast.List | ast.Tuple):
            for item in value.elts:
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    yield item.value, item, value


def entries(tree: ast.Module) -> tuple[tuple[str, Span], ...]:
    """Names in ``__all__`` whose entry can be deleted, with its place."""
    return tuple((name, span(item)) for name, item, _ in _items(tree))


def fixed_entries(tree: ast.Module) -> set[str]:
    """Names in ``__all__`` whose entry cannot be deleted."""
    return exported(tree).difference(name for name, _ in entries(tree))


def drop_entries(tree: ast.Module, context: Context, gone: Iterable[str]) -> None:
    """Delete the entries of names whose definitions go."""
    items = list(_items(tree))
    for name in sorted(set(gone)):
        for item, container in ((item, container) for each, item, container in items if each == name):
            container.elts = [other for other in container.elts if other is not item]
            context.drop_element(item, type(container).__name__, "export", {"unused"})
