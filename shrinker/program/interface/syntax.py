"""Modules of one tree as syntax, and what their names are bound to; nothing is imported, no fact is asked."""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping

from shrinker.syntax.imports import absolute
from shrinker.syntax.walk import children

Bound = ast.expr | ast.ClassDef | tuple[str, str]
"""What a name is bound to: an expression, a class, or a name of another module."""

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
        self._bound: dict[str, dict[str, list[Bound]]] = {}
        self._members: dict[ast.ClassDef, dict[str, list[Bound]]] = {}
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
            tree: ast.Module | None = None
            if module in self.paths:
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        tree = ast.parse(self._read(self.paths[module]))
                except (SyntaxError, ValueError, RecursionError):
                    tree = None
            self._trees[module] = tree
        return self._trees[module]

    def find(self, module: str, name: str) -> tuple[str, ast.expr | ast.ClassDef] | None:
        """Where a name of a module is bound, and to what; None when it is bound in several ways, or outside the tree."""
        for _ in range(_MOST_HOPS):
            bound = self._names(module).get(name, [])
            if len(bound) != 1:
                return None
            (what,) = bound
            if not isinstance(what, tuple):
                return module, what
            module, name = what
        return None

    def member(self, node: ast.ClassDef, name: str) -> ast.expr | None:
        """What the body of a class assigns to a name; None when it is not one thing."""
        members = self._members.get(node)
        if members is None:
            members = self._members[node] = {}
            for bound, what in bindings(node.body):
                members.setdefault(bound, []).append(what)
        found = members.get(name, [])
        return found[0] if len(found) == 1 and isinstance(found[0], ast.expr) else None

    def _names(self, module: str) -> dict[str, list[Bound]]:
        if module not in self._bound:
            tree = self.tree(module)
            package = module if self.paths.get(module, "").endswith("/__init__.py") else module.rpartition(".")[0]
            found: dict[str, list[Bound]] = {}
            for name, what in bindings(tree.body if tree is not None else (), package):
                found.setdefault(name, []).append(what)
            self._bound[module] = found
        return self._bound[module]


def bindings(body: Iterable[ast.stmt], package: str = "") -> Iterator[tuple[str, Bound]]:
    """Names that statements bind, those in their blocks included, functions left out."""
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
            case ast.ClassDef():
                yield node.name, node
            case ast.ImportFrom():
                origin = absolute(node.module, node.level, package)
                for alias in node.names:
                    yield alias.asname or alias.name, (origin, alias.name)
            case ast.If() | ast.Try() | ast.With():
                for field in ("body", "handlers", "orelse", "finalbody"):
                    for part in getattr(node, field, ()):
                        yield from bindings(part.body if isinstance(part, ast.ExceptHandler) else [part], package)
