"""What is known of nodes of one module besides what their names say: the table that folding owns and hands to its scopes."""

from __future__ import annotations

import ast
import copy
from typing import TypeVar

from shrinker.facts.lattice import Value
from shrinker.syntax.walk import walk

_Node = TypeVar("_Node", bound=ast.expr)


class Decided:
    """Values of nodes, by identity: what a round found out about them, or what folding wrote in the place of another node."""

    def __init__(self) -> None:
        # A node that is held here shares its number with no other one.
        self._values: dict[int, tuple[ast.expr, Value]] = {}

    def note(self, node: ast.expr, value: Value) -> None:
        """Say what a node is."""
        self._values[id(node)] = node, value

    def of(self, node: ast.expr) -> Value | None:
        """What a node is; None where nothing was said."""
        found = self._values.get(id(node))
        return None if found is None else found[1]

    def copied(self, node: _Node) -> _Node:
        """A copy of which the same is known."""
        made = copy.deepcopy(node)
        for part, other in zip(walk(node), walk(made), strict=True):
            found = self._values.get(id(part))
            if found is not None and isinstance(other, ast.expr):
                self.note(other, found[1])
        return made


NOTHING_DECIDED = Decided()
"""Of code that is not being folded."""
