"""Constants and collections of constants that only code which was folded away had read."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from shrinker.fold.context import Context
from shrinker.fold.exports import Exports
from shrinker.syntax.control import READ_ALL_LOCALS
from shrinker.syntax.names import dotted, reads_in
from shrinker.syntax.ranges import extent
from shrinker.syntax.walk import BLOCKS, HOLDERS, Function, statements, walk

_RULE = "unread-constant"
_BUILDERS = frozenset({"frozenset", "set", "tuple", "list"})
_WORDS = re.compile(r"\w+")


def drop_tables(tree: ast.Module, context: Context) -> None:
    """Delete what nothing reads any more: in functions, and at module level what a round found unused."""
    if not context.lost:
        return
    for function in _edited_functions(tree, context):
        _clean(function, context)
    if not context.unused.isdisjoint(n for n, _ in _assigned(tree.body)):
        _clean_module(tree, context)


def _edited_functions(tree: ast.Module, context: Context) -> Iterator[Function]:
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.stmt):
            if not context.is_edited(node):
                continue
            if isinstance(node, Function):
                yield node
        for name in HOLDERS[node.__class__]:
            if name in BLOCKS:
                stack.extend(getattr(node, name))


def _clean_module(tree: ast.Module, context: Context) -> None:
    exported = Exports(tree, context).names
    stored = Counter(n.id for n in walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    read = reads_in(tree)
    gone = {
        id(node)
        for name, node in _assigned(tree.body)
        if name in context.unused
        and name in context.lost
        and stored[name] == 1
        and name not in exported
        and name not in read
        and name not in context.environment.shown
    }
    tree.body = _without(tree.body, gone, context)


def _clean(function: Function, context: Context) -> None:
    found = {name for name, _ in _everywhere(function)} & context.lost
    if not found:
        return
    read = reads_in(function)
    if not read.isdisjoint(READ_ALL_LOCALS):
        return
    outer: set[str] = set()
    stored: Counter[str] = Counter()
    for part in walk(function):
        if isinstance(part, ast.Global | ast.Nonlocal):
            outer.update(part.names)
        elif isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            outer.add(part.target.id)
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            stored[part.id] += 1
    found -= read | outer
    if not found:
        return
    # What upstream itself never read stays.
    said = Counter(_WORDS.findall("\n".join(context.lines[function.lineno : function.end_lineno])))
    found = {name for name in found if said[name] > stored[name]}
    gone = {id(node) for name, node in _everywhere(function) if name in found}
    for node in (function, *statements(function)):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if body.__class__ is list and not isinstance(node, ast.ClassDef):
                setattr(node, field, _without(body, gone, context))


def _without(body: list[ast.stmt], gone: set[int], context: Context) -> list[ast.stmt]:
    kept = [s for s in body if id(s) not in gone]
    if not kept:
        # A block is never emptied.
        return body
    for node in body:
        if id(node) in gone:
            context.forget(node)
            context.sweep(node)
            context.decide(node, "constant", {_RULE}, "removed", extent([node]))
    return kept


def _everywhere(function: Function) -> Iterator[tuple[str, ast.stmt]]:
    stack: list[ast.AST] = [function]
    while stack:
        node = stack.pop()
        for field in BLOCKS:
            body = getattr(node, field, None)
            if body.__class__ is list:
                stack.extend(s for s in body if not isinstance(s, Function | ast.ClassDef))
                yield from _assigned(body)


def _assigned(body: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """Statements of a block that only give one name a constant value."""
    for node in body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ) if _is_constant(value):
                yield name, node


def _is_constant(node: ast.expr | None) -> bool:
    match node:
        case ast.Constant() | ast.Name():
            return True
        case ast.Attribute(value=value):
            return _is_constant(value)
        case ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            return all(_is_constant(e) for e in elements)
        case ast.Dict(keys=keys, values=values):
            return all(k is not None and _is_constant(k) for k in keys) and all(_is_constant(v) for v in values)
        case ast.Call(args=arguments, keywords=[]):
            return dotted(node.func) in _BUILDERS and all(_is_constant(a) for a in arguments)
        case _:
            return False
