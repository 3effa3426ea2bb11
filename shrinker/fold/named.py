"""Named expressions: `if (cfg := model.config):` binds a name, and binding counts as an effect.

Where the facts decide the test and nothing that still runs reads the name, there is nothing to bind it for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from shrinker.facts.effects import is_pure
from shrinker.facts.evaluate import truth
from shrinker.facts.lattice import Known
from shrinker.facts.world import ValueScope
from shrinker.fold.context import Context
from shrinker.syntax.control import READ_ALL_LOCALS, leaves
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


def has_no_effect(node: ast.expr, scope: ValueScope, context: Context) -> bool:
    """True when an expression may go whole: evaluating it has no effect, and no name that it binds is read without it.

    Args:
        node: the expression, whose truth the facts decide.
        scope: where its names are looked up.
        context: of the module; it knows the function around the place.
    """
    if is_pure(node, scope):
        return True
    named = [part for part in walk(node) if isinstance(part, ast.NamedExpr)]
    if not named or is_read({part.target.id for part in named}, node, scope, context):
        return False
    scope.decided.set_unread(named, True)
    if is_pure(node, scope):
        return True
    scope.decided.set_unread(named, False)
    return False


def is_read(names: set[str], gone: ast.AST, scope: ValueScope, context: Context) -> bool:
    """True when code beside `gone` that may run reads one of the names, which are bound in it."""
    if not names:
        return False
    function = context.bodies[-1] if context.bodies else None
    # In a module or class a name is an attribute, which others may read.
    return function is None or bool(_reads(function, scope, gone) & (READ_ALL_LOCALS | names))


def _reads(function: ast.FunctionDef | ast.AsyncFunctionDef, scope: ValueScope, gone: ast.AST) -> set[str]:
    """Names that a function's own body and the functions in it read, branches that the facts refute left out."""
    found: set[str] = set()
    for part in running(function.body, scope, gone):
        found.update(_named_by(part))
    return found


def running(body: Iterable[ast.stmt], scope: ValueScope, gone: ast.AST | None = None) -> Iterator[ast.AST]:
    """Every node of a block, and of the functions in it, but for what stands in branches that the facts refute.

    Args:
        body: the block.
        scope: where its names are looked up.
        gone: a part to leave out.
    """
    stack: list[ast.AST] = list(_block(body, scope))
    while stack:
        part = stack.pop()
        if part is gone:
            continue
        if isinstance(part, _SCOPES):
            # Its names are looked up elsewhere: nothing is left out.
            yield from walk(part)
            continue
        yield part
        stack.extend(_reached(part, scope))


def _named_by(node: ast.AST) -> Iterable[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Load() | ast.Del()) | ast.AugAssign(target=ast.Name(id=name)):
            return (name,)
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return names
        case _:
            return ()


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
