"""``__all__``: what a star import takes, and the entries that go with their definitions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from shrinker.fold.context import Context
from shrinker.fold.harvest import exported
from shrinker.syntax.ranges import span
from shrinker.values.edits import Span


def is_export(node: ast.stmt) -> bool:
    """True for an assignment to ``__all__``, augmented ones included."""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return isinstance(target, ast.Name) and target.id == "__all__"


def entries(tree: ast.Module) -> tuple[tuple[str, Span], ...]:
    """Names in ``__all__`` whose entry can be deleted, with its place."""
    return tuple((name, span(item)) for name, item, _ in _items(tree))


def _items(tree: ast.Module) -> Iterator[tuple[str, ast.Constant, ast.List | ast.Tuple]]:
    """Each name that is spelled out, with its place and what holds it."""
    for node in tree.body:
        value = getattr(node, "value", None) if is_export(node) else None
        if isinstance(value, ast.List | ast.Tuple):
            for item in value.elts:
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    yield item.value, item, value


class Exports:
    """The entries of a module's ``__all__``."""

    def __init__(self, tree: ast.Module, context: Context) -> None:
        self._context = context
        self._items: dict[str, list[tuple[ast.List | ast.Tuple, ast.expr]]] = {}
        self.names = exported(tree)
        """Every name in ``__all__``."""
        self._gone: set[str] = set()
        for name, item, container in _items(tree):
            self._items.setdefault(name, []).append((container, item))

    def holds(self, name: str) -> bool:
        """True when ``__all__`` names it in a way that cannot be deleted."""
        return name in self.names and name not in self._items

    def drop(self, name: str) -> None:
        """The definition of the name goes, and with it its entry."""
        self._gone.add(name)

    def finish(self) -> None:
        """Delete the entries of what went."""
        for name in sorted(self._gone):
            for container, item in self._items.get(name, ()):
                container.elts = [e for e in container.elts if e is not item]
                self._context.drop_element(item, type(container).__name__, "export", {"unused"})
