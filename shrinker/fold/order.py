"""Is something missing certainly evaluated, before anything that has an effect? Then its error may take the statement's place."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from shrinker.facts.effects import is_pure
from shrinker.facts.evaluate import evaluate
from shrinker.facts.lattice import Removed
from shrinker.facts.world import ValueScope


def fails_first(node: ast.stmt, scope: ValueScope) -> bool:
    """True when the first thing that a statement does, beside reading, is to fail for what is not installed."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    head = _head(node)
    return head is not None and _fails(head, scope) is True


def reads_surely(node: ast.stmt, name: str) -> bool:
    """True when running a statement cannot but read a name, whatever else it does before."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
        return True
    head = _head(node)
    stack = [] if head is None else [head]
    while stack:
        part = stack.pop()
        if isinstance(part, ast.Name) and part.id == name:
            return True
        stack.extend(_evaluated(part)[0])
    return False


def _head(node: ast.stmt) -> ast.expr | None:
    """The expression that a statement evaluates first, when it is a plain one."""
    head: ast.expr | None
    match node:
        case ast.Expr(value=head) | ast.Return(value=head) | ast.Assign(value=head) | ast.AnnAssign(value=head):
            pass
        case ast.If(test=head) | ast.While(test=head) | ast.Assert(test=head):
            pass
        case ast.For(iter=head) | ast.AsyncFor(iter=head) | ast.Raise(exc=head) | ast.Match(subject=head):
            pass
        case ast.With() | ast.AsyncWith():
            head = node.items[0].context_expr
        case ast.AugAssign(target=ast.Name(), value=head):
            pass
        case _:
            return None
    return head


def _fails(node: ast.expr, scope: ValueScope) -> bool | None:
    """True: it fails; False: it does something else before, perhaps; None: it only reads."""
    parts, rest = _evaluated(node)
    for part in parts:
        found = _fails(part, scope)
        if found is not None:
            return found
    if isinstance(node, ast.Name | ast.Attribute | ast.Call):
        value = evaluate(node, scope)
        if isinstance(value, Removed) and value.missing:
            return True
    if isinstance(node, ast.Call) and not is_pure(node, scope):
        return False
    return None if all(is_pure(part, scope) for part in rest) else False


def _evaluated(node: ast.expr) -> tuple[list[ast.expr], list[ast.expr]]:
    """Parts that are always evaluated, in their order, and the others."""
    always: Iterable[ast.expr | None] = ()
    rest: Iterable[ast.expr] = ()
    match node:
        case ast.Attribute() | ast.Starred() | ast.FormattedValue():
            always = (node.value,)
        case ast.Call():
            always = (node.func, *node.args, *(k.value for k in node.keywords))
        case ast.BinOp():
            always = (node.left, node.right)
        case ast.UnaryOp():
            always = (node.operand,)
        case ast.Compare():
            always, rest = (node.left, node.comparators[0]), node.comparators[1:]
        case ast.BoolOp():
            always, rest = node.values[:1], node.values[1:]
        case ast.IfExp():
            always, rest = (node.test,), (node.body, node.orelse)
        case ast.Subscript():
            always = (node.value, node.slice)
        case ast.Tuple() | ast.List() | ast.Set():
            always = node.elts
        case ast.JoinedStr():
            always = node.values
        case ast.Name() | ast.Constant() | ast.Lambda():
            pass
        case _:
            rest = (node,)
    return [part for part in always if part is not None], list(rest)
