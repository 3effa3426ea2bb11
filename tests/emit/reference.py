"""What edits mean, written a second time: on `ast` alone, as plainly as possible."""

import ast
from collections.abc import Iterable
from typing import TypeVar

from shrinker.values.edits import (
    DropElement,
    DropElse,
    DropStatement,
    DropTail,
    Edit,
    Literal,
    LoadModule,
    Raise,
    Span,
    TakeBlock,
    TakeOperand,
)


def span(node: ast.AST) -> Span:
    """Span of a node."""
    return Span(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


Node = TypeVar("Node", bound=ast.AST)


class Reference:
    """Applies edits to the tree of a program."""

    def __init__(self, edits: Iterable[Edit]) -> None:
        self.of: dict[Span, list[Edit]] = {}
        for edit in edits:
            self.of.setdefault(edit.span, []).append(edit)

    def edits(self, node: object) -> list[Edit]:
        """Those that name a node, or another one in its place."""
        return (
            self.of.get(span(node), [])
            if isinstance(node, ast.AST) and hasattr(node, "lineno")
            else []
        )

    def gone(self, node: object) -> bool:
        """True when an element is dropped."""
        return any(isinstance(edit, DropElement) for edit in self.edits(node))

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """A block after the edits; may be empty."""
        out: list[ast.stmt] = []
        for node in body:
            edits = self.edits(node)
            raised = [e for e in edits if isinstance(e, Raise)]
            taken = [e for e in edits if isinstance(e, TakeBlock)]
            # Of edits on one statement the one that deletes most counts.
            if raised:
                out.extend(ast.parse(f"raise RuntimeError({raised[0].message!r})").body)
                break
            if any(isinstance(e, DropTail) for e in edits):
                break
            if any(isinstance(e, DropStatement) for e in edits):
                continue
            if loads := [e for e in edits if isinstance(e, LoadModule)]:
                out.extend(ast.parse(f"import {loads[0].module}").body)
                continue
            if taken:
                name, _, number = taken[0].block.partition(":")
                clauses = {"handler": "handlers", "case": "cases"}
                if number:
                    found = getattr(node, clauses[name])[int(number)].body
                else:
                    found = getattr(node, name)
                # An emptied block has its `pass` before it is taken.
                out.extend(
                    self.block(found) or ([ast.Pass()] if found and not is_elif(node, name) else [])
                )
                continue
            for edit in edits:
                if isinstance(edit, DropElse):
                    node.orelse = []  # type: ignore[attr-defined]
            out.append(self.children(node))
        return out

    def children(self, node: Node) -> Node:
        """Edits inside a node."""
        if isinstance(node, ast.Dict):
            rows = [
                row for row in zip(node.keys, node.values, strict=True) if not self.gone(row[1])
            ]
            node.keys, node.values = [key for key, _ in rows], [value for _, value in rows]
        for name, value in list(ast.iter_fields(node)):
            match value:
                case [ast.stmt(), *_]:
                    left: object = self.block(value) or (
                        [] if is_elif(node, name) else [ast.Pass()]
                    )
                case list():
                    left = [self.part(item) for item in value if not self.gone(item)]
                case ast.AST() if name in ("annotation", "returns") and self.gone(value):
                    left = None
                case _:
                    left = self.part(value)
            setattr(node, name, left)
        return node

    def part(self, node: object) -> object:
        """A child after the edits."""
        if not isinstance(node, ast.expr):
            return self.children(node) if isinstance(node, ast.AST) else node
        edits = [] if isinstance(node, ast.JoinedStr) else self.edits(node)
        for edit in edits:
            if isinstance(edit, Literal):
                return ast.parse(edit.text, mode="eval").body
        for edit in edits:
            if isinstance(edit, TakeOperand):
                return self.part(getattr(node, edit.child))
        self.children(node)
        return node.values[0] if isinstance(node, ast.BoolOp) and len(node.values) == 1 else node


def is_elif(node: ast.AST, name: str) -> bool:
    """True when an `if`'s `orelse` may be an `elif`: same column as far as `ast` can tell."""
    if not (isinstance(node, ast.If) and name == "orelse" and len(node.orelse) == 1):
        return False
    arm = node.orelse[0]
    return isinstance(arm, ast.If) and arm.col_offset == node.col_offset


def apply(source: str, edits: Iterable[Edit]) -> ast.Module:
    """The tree of `source` after `edits`."""
    tree = ast.parse(source)
    tree.body = Reference(edits).block(tree.body)
    return tree
