"""Walk syntax trees fast: the whole package is walked several times a run, and `ast.walk` is a third of the cost."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_LEAVES = frozenset(
    ["ctx", "id", "attr", "asname", "level", "kind", "type_comment", "conversion", "is_async", "simple"]
)
"""Fields that hold no node that is of use; in no class of the grammar does one of these names hold another."""


class _Holders(dict[type, tuple[str, ...]]):
    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        found = self[kind] = tuple(name for name in kind._fields if name not in _LEAVES)
        return found


HOLDERS = _Holders()
"""The other fields of each class: most nodes are names, constants and attributes, with one or none."""


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """The node and everything below it, in no particular order."""
    stack = [node]
    pop, push, known = stack.pop, stack.append, HOLDERS
    while stack:
        current = pop()
        yield current
        names = known[current.__class__]
        if names:
            values = current.__dict__
            for name in names:
                value = values.get(name)
                if value.__class__ is list:
                    for item in value:
                        if isinstance(item, ast.AST):
                            push(item)
                elif isinstance(value, ast.AST):
                    push(value)


def children(node: ast.AST) -> Iterator[ast.AST]:
    """Direct children in field order."""
    values = node.__dict__
    for name in HOLDERS[node.__class__]:
        value = values.get(name)
        if value.__class__ is list:
            for item in value:
                if isinstance(item, ast.AST):
                    yield item
        elif isinstance(value, ast.AST):
            yield value


BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields of a node that hold statements, or clauses that hold them."""


class _Blocks(dict[type, tuple[str, ...]]):
    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        found = self[kind] = tuple(name for name in BLOCKS if name in kind._fields)
        return found


_BLOCKS_OF = _Blocks()
"""Those of each class: most statements have none."""


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Every statement below a node, nested functions and classes included; expressions are not entered."""
    stack: list[ast.AST] = [node]
    known = _BLOCKS_OF
    while stack:
        current = stack.pop()
        for name in known[current.__class__]:
            for item in getattr(current, name):
                if isinstance(item, ast.stmt):
                    yield item
                if known[item.__class__]:
                    stack.append(item)
