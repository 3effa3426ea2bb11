"""Attributes with one value, as propagation found them: reads that are that literal, and stores that nobody reads."""

import ast
from collections import defaultdict

from shrinker.facts.lattice import Decided, Known
from shrinker.fold.cleanup import Around, without
from shrinker.fold.context import Context, filled
from shrinker.syntax.names import assigned
from shrinker.syntax.walk import Function, functions, walk

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

    def is_dead(node: ast.stmt, around: Around, last: bool) -> bool:
        match assigned(node):
            case ast.Attribute(value=ast.Name(), attr=name), ast.Constant() if name in names and not last:
                context.forget(node)
                context.sweep(node, "attribute", {_RULE})
                return True
        return False

    for function in functions(tree) if names else ():
        function.body = filled(without(function.body, is_dead, Around(local=True)))
