"""Modules of one tree as syntax, and what their names are bound to; nothing is imported, no fact is asked."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping

from shrinker.syntax.bindings import Binding, collect
from shrinker.syntax.parsing import parsed
from shrinker.syntax.walk import children

_MOST_HOPS = 20
"""Re-exports that are followed before a name is given up as bound in a circle."""


class Marks:
    """Lines of a file that hold what is looked for."""

    def __init__(self, lines: list[int]) -> None:
        """
        Args:
            lines: 1-based, ascending.
        """
        self._lines = lines

    def within(self, node: ast.AST) -> bool:
        """True when one of the lines is a line of the node, or of its decorators; what has no lines may hold them."""
        first = getattr(node, "lineno", None)
        if first is None:
            return True
        first = min([first, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        at = bisect_left(self._lines, first)
        return at < len(self._lines) and self._lines[at] <= (getattr(node, "end_lineno", None) or first)

    def nodes(self, tree: ast.AST) -> Iterator[ast.AST]:
        """Nodes below a tree that hold such a line, each after those around it."""
        stack = [tree]
        while stack:
            for node in children(stack.pop()):
                if self.within(node):
                    yield node
                    stack.append(node)


def marked(text: bytes, pattern: re.Pattern[bytes]) -> Marks | None:
    """Lines of a text that hold a match; None where there is none."""
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    lines: list[int] = []
    line, start = 1, 0
    for found in pattern.finditer(text):
        line += text.count(b"\n", start, found.end())
        start = found.end()
        lines.append(line)
    return Marks(lines) if lines else None


class Syntax:
    """Modules of a tree, parsed when they are asked for."""

    def __init__(self, paths: Mapping[str, str], read: Callable[[str], bytes]) -> None:
        """Nothing is read yet.

        Args:
            paths: dotted module to path.
            read: bytes of a path.
        """
        self.paths = paths
        self._read = read
        self._trees: dict[str, ast.Module | None] = {}
        self._bound: dict[str, dict[str, list[Binding]]] = {}
        self._marks: dict[tuple[str, re.Pattern[bytes]], Marks] = {}

    def matching(self, *patterns: re.Pattern[bytes], among: Iterable[str] | None = None) -> tuple[list[str], ...]:
        """Modules whose text holds a match, for each pattern, sorted; each file is read once and none is held.

        Args:
            among: the only modules that may; those that are not in the tree do not.
        """
        found: tuple[list[str], ...] = tuple([] for _ in patterns)
        for module in sorted(self.paths if among is None else self.paths.keys() & among):
            text = self._read(self.paths[module])
            for pattern, modules in zip(patterns, found, strict=True):
                if pattern.search(text) is not None:
                    modules.append(module)
        return found

    def marks(self, module: str, pattern: re.Pattern[bytes]) -> Marks:
        """Where a module's text holds a match: only the statements around it need be looked at."""
        known = self._marks.get((module, pattern))
        if known is None:
            text = self._read(self.paths[module]) if module in self.paths else b""
            known = self._marks[module, pattern] = marked(text, pattern) or Marks([])
        return known

    def tree(self, module: str) -> ast.Module | None:
        """Syntax of a module; None when it is not in the tree or does not parse."""
        if module not in self._trees:
            self._trees[module] = parsed(self._read(self.paths[module])) if module in self.paths else None
        return self._trees[module]

    def find(self, module: str, name: str) -> tuple[str, ast.expr | ast.ClassDef] | None:
        """Where a name of a module is bound, and to what; None when it is bound in several ways, or outside the tree."""
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

    def _names(self, module: str) -> dict[str, list[Binding]]:
        if module not in self._bound:
            tree = self.tree(module)
            package = module if self.paths.get(module, "").endswith("/__init__.py") else module.rpartition(".")[0]
            self._bound[module] = collect(tree.body if tree is not None else (), package, walrus=False).names
        return self._bound[module]


def values_of(body: Iterable[ast.stmt]) -> dict[str, ast.expr]:
    """What the names of a function or class are bound to, of those that one plain assignment binds."""
    names = collect(body, "", walrus=False).names
    once = {name: found[0].value for name, found in names.items() if len(found) == 1 and found[0].kind == "value"}
    return {name: value for name, value in once.items() if value is not None}
