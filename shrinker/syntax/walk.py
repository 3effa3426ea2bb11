"""Walk syntax trees fast: the whole package is walked several times a run, and `ast.walk` is a
third of the cost.
"""

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef
T = TypeVar("T")

_LEAVES = frozenset(["identifier", "string", "int", "constant", "expr_context"])
"""Types of the grammar that hold no node that is of use."""
_DECLARED = re.compile(r"(\w+)[?*]? (\w+)")


class _OfKind(dict[type[ast.AST], T]):
    """Something of each class, found when it is first asked for."""

    def __init__(self, find: Callable[[type[ast.AST]], T]) -> None:
        self._find = find

    def __missing__(self, kind: type[ast.AST]) -> T:
        found = self[kind] = self._find(kind)
        return found


def _holders(kind: type[ast.AST]) -> tuple[str, ...]:
    # The grammar, which each class of `ast` has as its documentation, tells what a field may hold.
    grammar = next(
        base.__doc__ for base in kind.__mro__ if base.__module__ == "ast" and base.__doc__
    )
    leaves = {name for held, name in _DECLARED.findall(grammar) if held in _LEAVES}
    return tuple(name for name in kind._fields if name not in leaves)


HOLDERS = _OfKind(_holders)
"""The fields of each class that hold nodes: most nodes are names, constants and attributes, with
one or none.
"""
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields of a node that hold statements, or clauses that hold them."""
BLOCKS_OF = _OfKind(lambda kind: tuple(name for name in BLOCKS if name in kind._fields))
"""Those of each class: most statements have none."""


class ByClass(dict[type[ast.AST], T]):
    """Functions by the classes of nodes that they are for."""

    def of(self, *kinds: type[ast.AST]) -> Callable[[T], T]:
        """Register a function for some classes."""

        def register(function: T) -> T:
            self.update(dict.fromkeys(kinds, function))
            return function

        return register


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the node and everything below it, in no particular order."""
    stack: list[Any] = [node]
    pop, push, known = stack.pop, stack.append, HOLDERS
    while stack:
        current = pop()
        # Of an element that is not written there is None: ``{**rest}``, a parameter without a
        # default.
        if current is not None:
            yield current
            fields = known[current.__class__]
            if fields:
                values = current.__dict__
                for name in fields:
                    value = values.get(name)
                    if value.__class__ is list:
                        stack += value
                    else:
                        push(value)


def children(node: ast.AST) -> Iterator[ast.AST]:
    """Direct children in field order."""
    values = node.__dict__
    for name in HOLDERS[node.__class__]:
        value = values.get(name)
        if value.__class__ is list:
            for item in value:
                if item is not None:
                    yield item
        elif value is not None:
            yield value


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield every statement below a node, nested functions and classes included; expressions are
    not entered.
    """
    stack: list[ast.AST] = [node]
    known = BLOCKS_OF
    while stack:
        current = stack.pop()
        for name in known[current.__class__]:
            for item in getattr(current, name):
                if isinstance(item, ast.stmt):
                    yield item
                if known[item.__class__]:
                    stack.append(item)


def functions(node: ast.AST) -> Iterator[Function]:
    """Yield functions below a module or class, on any branch but not within functions."""
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef):
            yield current
        else:
            for name in BLOCKS_OF[current.__class__]:
                stack.extend(getattr(current, name))


def definitions(node: ast.AST, around: str = "") -> Iterator[tuple[str, Definition]]:
    """Yield functions and classes below a module or class, on any branch but not within functions,
    by their names with those `around`.
    """
    for child in children(node):
        if isinstance(child, Definition):
            name = f"{around}.{child.name}" if around else child.name
            yield name, child
            if isinstance(child, ast.ClassDef):
                yield from definitions(child, name)
        elif isinstance(child, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            yield from definitions(child, around)


def evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the node and all below it but the bodies of lambdas, which are run later."""
    stack = [node]
    while stack:
        part = stack.pop()
        yield part
        stack.extend(children(part.args if isinstance(part, ast.Lambda) else part))


def own_nodes(definition: Definition | ast.Lambda) -> Iterator[ast.AST]:
    """Yield every node of the body of a function, class or lambda, but for what stands in functions
    and classes within it.
    """
    stack: list[ast.AST] = (
        [definition.body] if isinstance(definition, ast.Lambda) else list(definition.body)
    )
    while stack:
        part = stack.pop()
        yield part
        if not isinstance(part, Definition | ast.Lambda):
            stack.extend(children(part))
