"""Attributes with one value, as propagation found them: reads that are that literal, and stores that nobody reads."""

import ast

from shrinker.facts.lattice import Decided, Known
from shrinker.fold.context import Context, written_pass
from shrinker.syntax.names import assigned
from shrinker.syntax.walk import BLOCKS_OF, walk

_RULE = "attribute-constant"
_LITERALS: dict[str, bool | None] = {"True": True, "False": False, "None": None}


def decide_attributes(tree: ast.Module, attributes: frozenset[tuple[str, str, str]], decided: Decided) -> None:
    """Note on each read of such an attribute what it is; folding acts on it."""
    by_class: dict[str, dict[str, Known]] = {}
    for owner, name, text in attributes:
        by_class.setdefault(owner, {})[name] = Known(_LITERALS[text], True, frozenset({_RULE}))
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or node.name not in by_class:
            continue
        for method in node.body:
            if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and method.args.args:
                _decide_in(method, method.args.args[0].arg, by_class[node.name], decided)


def _decide_in(
    method: ast.FunctionDef | ast.AsyncFunctionDef, own: str, values: dict[str, Known], decided: Decided
) -> None:
    reads: list[ast.Attribute] = []
    bases: set[int] = set()
    for part in walk(method):
        match part:
            case ast.Name(ctx=ast.Store()) if part.id == own:
                return
            case ast.arg(arg=name) if name == own and part is not method.args.args[0]:
                return
            case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Call(func=value):
                # `self.a.b`: not for the sake of writing `None.b`.
                bases.add(id(value))
        if (
            isinstance(part, ast.Attribute)
            and isinstance(part.ctx, ast.Load)
            and isinstance(part.value, ast.Name)
            and part.value.id == own
            and part.attr in values
        ):
            reads.append(part)
    for read in reads:
        if id(read) not in bases:
            decided.note(read, values[read.attr])


def drop_stores(tree: ast.Module, context: Context, names: frozenset[str]) -> None:
    """Delete the assignments of a constant to these attributes."""
    if not names:
        return
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        for field in BLOCKS_OF[node.__class__]:
            body = getattr(node, field)
            stack.extend(body)
            if field in ("handlers", "cases"):
                continue
            kept = [s for s in body if not _is_store(s, names)]
            if len(kept) == len(body):
                continue
            if not kept and not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            for statement in body:
                if _is_store(statement, names):
                    context.forget(statement)
                    context.sweep(statement, "attribute", {_RULE})
            setattr(node, field, kept or [written_pass()])


def _is_store(node: ast.stmt, names: frozenset[str]) -> bool:
    target, value = assigned(node)
    named = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.attr in names
    return named and isinstance(value, ast.Constant)
