"""Modules of one tree as syntax, and what their names are bound to; nothing is imported, no fact is
asked.
"""

import ast
import re
from collections.abc import Callable, Iterable, Mapping

from shrinker.syntax.bindings import Binding, collect
from shrinker.syntax.imports import package_of
from shrinker.syntax.parsing import parsed

_MOST_HOPS = 20
"""Re-exports that are followed before a name is given up as bound in a circle."""


class Syntax:
    """Modules of a tree, parsed when they are asked for."""

    def __init__(self, paths: Mapping[str, str], read: Callable[[str], bytes]) -> None:
        """Paths are by dotted module; nothing is read yet."""
        self.paths = paths
        self._read = read
        self._trees: dict[str, ast.Module | None] = {}
        self._bound: dict[str, dict[str, list[Binding]]] = {}

    def matching(
        self, *patterns: re.Pattern[bytes], among: Iterable[str] | None = None
    ) -> tuple[list[str], ...]:
        """Return modules of the tree, or `among` some, whose text holds a match, for each pattern,
        sorted; each file is read once and none is held.
        """
        modules = sorted(self.paths if among is None else self.paths.keys() & among)
        texts = ((module, self._read(self.paths[module])) for module in modules)
        found = [
            (module, [pattern.search(text) is not None for pattern in patterns])
            for module, text in texts
        ]
        return tuple(
            [module for module, matches in found if matches[n]] for n in range(len(patterns))
        )

    def tree(self, module: str) -> ast.Module | None:
        """Syntax of a module; None when it is not in the tree or does not parse."""
        if module not in self._trees:
            self._trees[module] = (
                parsed(self._read(self.paths[module])) if module in self.paths else None
            )
        return self._trees[module]

    def find(self, module: str, name: str) -> tuple[str, ast.expr | ast.ClassDef] | None:
        """Return where a name of a module is bound, and to what; None when it is bound in several
        ways, or outside the tree.
        """
        for _ in range(_MOST_HOPS):
            match self._names(module).get(name, []):
                case [Binding(kind="from", module=origin, name=imported)]:
                    module, name = origin, imported
                case [Binding(kind="value", value=ast.expr() as value)]:
                    return module, value
                case [Binding(kind="class", node=ast.ClassDef() as node)]:
                    return module, node
                case _:
                    return None
        return None

    def classes(self, module: str, named: Iterable[ast.expr]) -> list[tuple[str, ast.ClassDef]]:
        """Return classes of the tree that these names of a module are, each with its own module."""
        found = (self.find(module, node.id) for node in named if isinstance(node, ast.Name))
        return [
            (each[0], each[1])
            for each in found
            if each is not None and isinstance(each[1], ast.ClassDef)
        ]

    def _names(self, module: str) -> dict[str, list[Binding]]:
        if module not in self._bound:
            tree = self.tree(module)
            package = package_of(module, self.paths.get(module, "").endswith("/__init__.py"))
            self._bound[module] = collect(tree.body if tree is not None else (), package).names
        return self._bound[module]


def values_of(body: Iterable[ast.stmt]) -> dict[str, ast.expr]:
    """Return what the names of a function or class are bound to, of those that one plain
    assignment binds.
    """
    names = collect(body, "").names
    once = {
        name: found[0].value
        for name, found in names.items()
        if len(found) == 1 and found[0].kind == "value"
    }
    return {name: value for name, value in once.items() if value is not None}
