"""Attributes with one value, as propagation found them: reads that are that literal, and stores that nobody reads."""

import ast
from collections import defaultdict

from shrinker.facts.lattice import Decided, Known
from shrinker.fold.context import Context, filled
from shrinker.syntax.names import assigned
from shrinker.syntax.walk import BLOCKS_OF, Function, walk

_RULE = "attribute-constant"


def decide_attributes(tree: ast.Module, attributes: frozenset[tuple[str, str, str]], decided: Decided) -> None:
    """Note on each read of such an attribute (class, name, literal) what it is; folding acts on it."""
    by_class: defaultdict[str, dict[str, Known]] = defaultdict(dict)
    for owner, name, text in attributes:
        by_class[owner][name] = Known(ast.literal_eval(text), True, frozenset({_RULE}))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in by_class:
            for method in node.body:
                if isinstance(method, Function) and method.args.args:
                    _decide_in(method, by_class[node.name], decided)


def _decide_in(method: Function, values: dict[str, Known], decided: Decided) -> None:
    own, parts = method.args.args[0], [*walk(method)]
    bases: set[ast.expr] = set()
    for part in parts:
        match part:
            case ast.Name(id=own.arg, ctx=ast.Store()):
                return
            case ast.arg(arg=own.arg) if part is not own:
                return
            case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Call(func=value):
                # `self.a.b`: not for the sake of writing `None.b`.
                bases.add(value)
    for part in parts:
        match part:
            case ast.Attribute(value=ast.Name(id=own.arg), attr=name, ctx=ast.Load()) if part not in bases:
                if name in values:
                    decided[part] = values[name]


def drop_stores(tree: ast.Module, context: Context, names: frozenset[str]) -> None:
    """Delete the assignments of a constant to these attributes."""
    stack: list[ast.AST] = [tree] if names else []
    while stack:
        node = stack.pop()
        for field in BLOCKS_OF[node.__class__]:
            body = getattr(node, field)
            stack.extend(body)
            stores = [s for s in body if field not in ("handlers", "cases") and _is_store(s, names)]
            if not stores or (len(stores) == len(body) and not isinstance(node, ast.FunctionDef | ast.ClassDef)):
                continue
            for statement in stores:
                context.forget(statement)
                context.sweep(statement, "attribute", {_RULE})
            setattr(node, field, filled([s for s in body if s not in stores]))


def _is_store(node: ast.stmt, names: frozenset[str]) -> bool:
    match assigned(node):
        case ast.Attribute(value=ast.Name(), attr=name), ast.Constant():
            return name in names
    return False
