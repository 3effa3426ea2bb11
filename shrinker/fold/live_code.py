"""What of a block may run: branches that the facts refute are left out."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from shrinker.facts.evaluate import truth
from shrinker.facts.lattice import Known
from shrinker.facts.world import ValueScope
from shrinker.syntax.control import leaves
from shrinker.syntax.walk import walk

_SCOPES = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


def running(body: Iterable[ast.stmt], scope: ValueScope) -> Iterator[ast.AST]:
    """Every node of a block, and of the functions in it, but for what stands in branches that the facts refute.

    Args:
        body: the block.
        scope: where its names are looked up.
    """
    stack: list[ast.AST] = list(_block(body, scope))
    while stack:
        part = stack.pop()
        if isinstance(part, _SCOPES):
            # Its names are looked up elsewhere: nothing is left out.
            yield from walk(part)
            continue
        yield part
        stack.extend(_reached(part, scope))


def _reached(node: ast.AST, scope: ValueScope) -> Iterator[ast.AST]:
    """Parts of a node that may run."""
    if isinstance(node, ast.BoolOp):
        for operand in node.values:
            yield operand
            value = truth(operand, scope)
            if isinstance(value, Known) and value.rules and value.truth is isinstance(node.op, ast.Or):
                return
        return
    dead = _refuted(node, scope)
    for name, value in ast.iter_fields(node):
        if name == dead:
            continue
        if isinstance(value, ast.AST):
            yield value
        elif isinstance(value, list):
            yield from _block([part for part in value if isinstance(part, ast.AST)], scope)


def _block(parts: Iterable[ast.AST], scope: ValueScope) -> Iterator[ast.AST]:
    """The parts up to an `if` of which the facts take a block that leaves."""
    for part in parts:
        yield part
        if isinstance(part, ast.If):
            dead = _refuted(part, scope)
            live = part.body if dead == "orelse" else part.orelse
            if dead and live and leaves(live[-1]):
                return


def _refuted(node: ast.AST, scope: ValueScope) -> str:
    """The field of a statement or ternary that never runs; empty for none."""
    if not isinstance(node, ast.If | ast.IfExp | ast.While):
        return ""
    value = truth(node.test, scope)
    if value is None or not value.rules:
        return ""
    return "body" if not value.truth else "" if isinstance(node, ast.While) else "orelse"
