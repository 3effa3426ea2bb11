"""What an attribute can be in the generated tree, by every statement of upstream that stores it.

A function that nothing names any more is no loss. What it alone stored, an attribute is no more: of

    class Recorder:
        def __init__(self):
            self.off = False

        def disable(self):
            self.off = True

        def record(self, event):
            if self.off:
                return
            self.events.append(event)

nothing of `if self.off:` is left where `disable` is gone, and no word has to explain that.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache as remembered
from itertools import chain

from shrinker.check.trees import Trees
from shrinker.syntax.parsing import parsed
from shrinker.syntax.side_effects import bound_by
from shrinker.syntax.walk import Function, children, definitions, walk


@dataclass(frozen=True, slots=True)
class Store:
    """A place that stores an attribute, of whatever object."""

    function: str
    """Qualified name, within the module, of the outermost function around it; empty outside of
    functions.
    """
    value: ast.expr | None
    """What is stored; None where no plain assignment says it."""


class Stores:
    """Asks both trees' texts, and nothing that was decided of them."""

    def __init__(self, trees: Trees) -> None:
        self._trees = trees
        self._constants = remembered(self._find)
        self._standing = remembered(self._definitions)

    def always(self, path: str, attribute: str, value: bool, is_none: bool) -> bool:
        """Tell whether an attribute that a file stores always has this truth value in the tree.

        With `is_none` it is being None that makes it false.
        """
        constants = self._constants(path, attribute)
        return bool(constants) and all(
            (c is not None if is_none else bool(c)) is value for c in constants
        )

    def _find(self, path: str, attribute: str) -> frozenset[object]:
        """Collect the constants that are stored.

        There are none where anything else may be stored, or where this file stores nothing.
        """
        found: set[object] = set()
        others = (other for other in self._trees.users.naming(attribute) if other != path)
        # The file itself first: most attributes get something there that is no constant.
        for each in chain([path], others):
            stored = self._stored_in(each, attribute)
            if stored is None:
                return frozenset()
            found |= stored
            if not found:
                return frozenset()
        return frozenset(found)

    def _stored_in(self, path: str, attribute: str) -> frozenset[object] | None:
        """Collect constants that what stands of a file stores; None where it may store others."""
        if path not in self._trees.python:
            return frozenset()
        tree = parsed(self._trees.source.read(path), path)
        if tree is None or any(_may_name(node, attribute) for node in walk(tree)):
            return None
        standing = [
            s
            for s in stores_of(tree, attribute)
            if not s.function or s.function in self._standing(path)
        ]
        if not all(isinstance(store.value, ast.Constant) for store in standing):
            return None
        return frozenset(
            store.value.value for store in standing if isinstance(store.value, ast.Constant)
        )

    def _definitions(self, path: str) -> frozenset[str]:
        """Collect the qualified names of what a generated file defines."""
        tree = parsed((self._trees.out / path).read_bytes(), path)
        return frozenset(name for name, _ in definitions(tree)) if tree is not None else frozenset()


def stores_of(
    node: ast.AST, attribute: str, around: str = "", function: str = ""
) -> Iterator[Store]:
    """Find the places below a piece of syntax that store an attribute."""
    match node:
        case ast.AnnAssign(target=ast.Attribute(attr=name), value=None) if name == attribute:
            return  # It says a type, and stores nothing.
        case ast.Assign(targets=targets, value=value) if any(
            _is_store(each, attribute) for each in targets
        ):
            yield Store(function, value if len(targets) == 1 else None)
            return
        case ast.AnnAssign(target=target, value=value) if _is_store(target, attribute):
            yield Store(function, value)
            return
        case ast.Attribute() if _is_store(node, attribute):
            yield Store(function, None)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            around = f"{around}.{name}".lstrip(".")
            function = function or (around if isinstance(node, Function) else "")
    for child in children(node):
        yield from stores_of(child, attribute, around, function)


def _is_store(node: ast.AST, attribute: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == attribute
        and not isinstance(node.ctx, ast.Load)
    )


def _may_name(node: ast.AST, attribute: str) -> bool:
    """Tell whether something names an attribute by a text or a keyword, or a class defines it."""
    match node:
        case ast.Constant(value=said) | ast.keyword(arg=said):
            return said == attribute
        case ast.ClassDef(body=body):
            return attribute in bound_by(*body)
    return False
