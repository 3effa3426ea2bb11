"""A file as the lines that can be executed: which statement each is, and of which function."""

from __future__ import annotations

import ast
import bisect
from collections import Counter
from dataclasses import dataclass

from shrinker.check.tokens import Tokens, logical_lines
from shrinker.syntax.walk import BLOCKS_OF, Definition, statements

Scope = tuple[str, ...]
"""Names of the classes and functions around a line, the outermost first."""


@dataclass(frozen=True, slots=True)
class Line:
    """One logical line that is no comment."""

    number: int
    """Of its first token, 1-based."""
    tokens: Tokens
    scope: Scope
    function: Scope
    """The outermost function whose body it belongs to; empty in the body of a module or class."""
    statement: ast.stmt | None
    """What starts there, of a decorator what it decorates; None for `else`, `finally`, `except`."""


@dataclass(frozen=True, slots=True)
class Source:
    """The lines of a file, in order."""

    lines: tuple[Line, ...]
    scopes: dict[Scope, list[Line]]
    """The same by the innermost function or class."""
    functions: dict[Scope, list[Line]]
    """Those of functions' bodies by the outermost function, what is nested in it included."""
    definitions: dict[Scope, list[ast.stmt]]
    """Outermost functions: several where a condition chooses among them."""

    @staticmethod
    def read(text: str) -> Source:
        """Raises SyntaxError or tokenize.TokenError when the text is not Python."""
        tree = ast.parse(text)
        owners, definitions = _owners(tree, text.count("\n") + 2)
        starting: dict[int, ast.stmt] = {}
        # An outer one comes before what it holds.
        for node in statements(tree):
            for start in (node, *getattr(node, "decorator_list", ())):
                starting.setdefault(start.lineno, node)
        lines: list[Line] = []
        scopes: dict[Scope, list[Line]] = {}
        functions: dict[Scope, list[Line]] = {}
        for number, tokens in ((line.number, line.tokens) for line in logical_lines(text)):
            if len(tokens) == 1 and tokens[0].startswith("#"):
                continue
            scope, function = owners[number]
            line = Line(number, tokens, scope, function, starting.get(number))
            lines.append(line)
            scopes.setdefault(scope, []).append(line)
            if function:
                functions.setdefault(function, []).append(line)
        return Source(tuple(lines), scopes, functions, definitions)

    def of(self, numbers: frozenset[int]) -> Counter[int]:
        """How many of these physical lines each logical line holds, by its first number."""
        starts = [line.number for line in self.lines]
        places = (bisect.bisect_right(starts, number) - 1 for number in numbers)
        return Counter(starts[place] for place in places if place >= 0)


def _owners(tree: ast.Module, count: int) -> tuple[list[tuple[Scope, Scope]], dict[Scope, list[ast.stmt]]]:
    """For each line, the innermost body that it stands in, and the outermost function of that; these functions."""
    owners: list[tuple[Scope, Scope]] = [((), ())] * (count + 1)
    definitions: dict[Scope, list[ast.stmt]] = {}

    def enter(node: ast.AST, scope: Scope, function: Scope) -> None:
        for child in (part for name in BLOCKS_OF[type(node)] for part in getattr(node, name)):
            if not isinstance(child, Definition):
                enter(child, scope, function)
                continue
            inner = (*scope, child.name)
            outermost = function or (() if isinstance(child, ast.ClassDef) else inner)
            if outermost and not function:
                definitions.setdefault(inner, []).append(child)
            first = child.body[0]
            start = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", ()))])
            for number in range(start, (child.end_lineno or start) + 1):
                owners[number] = inner, outermost
            enter(child, inner, outermost)

    enter(tree, (), ())
    return owners, definitions
