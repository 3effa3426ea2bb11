"""Attributes that a folded module gives a value."""

from __future__ import annotations

import ast

from shrinker.fold.reading import Reading
from shrinker.syntax.walk import statements, walk
from shrinker.values.edits import Span
from shrinker.values.summary import Store


def attribute_stores(reading: Reading) -> set[Store]:
    """Attributes that are given a value."""
    stores = {Store(target.attr, _literal(value)) for target, value in reading.stores}
    alone = {id(target) for target, _ in reading.stores}
    for found in (reading.plain, reading.typing):
        for attribute in found.attributes:
            if attribute.ctx.__class__ is not ast.Load and id(attribute) not in alone:
                stores.add(Store(attribute.attr))
        stores.update(Store(k.arg) for call in found.calls for k in call.keywords if k.arg is not None)
    return stores


def _span(node: ast.expr) -> Span:
    return Span(node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)


def _literal(value: ast.expr | None) -> str:
    if isinstance(value, ast.Constant) and (value.value is None or isinstance(value.value, bool)):
        return repr(value.value)
    return ""


def class_fields(tree: ast.Module, stores: set[Store], literals: set[Span]) -> tuple[set[tuple[str, str]], set[str]]:
    """Attributes that classes set for certain, and those that folding gave a literal; class bodies add to `stores`."""
    fields: set[tuple[str, str]] = set()
    decided: set[str] = set()
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        for statement in statements(node):
            if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
                place = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
                if (
                    isinstance(place, ast.Attribute)
                    and isinstance(statement.value, ast.Constant)
                    and _span(statement.value) in literals
                ):
                    decided.add(place.attr)
        for statement in node.body:
            match statement:
                case ast.Assign(targets=targets, value=value):
                    if len(targets) == 1 and isinstance(targets[0], ast.Name) and _span(value) in literals:
                        decided.add(targets[0].id)
                    for target in targets:
                        for name in walk(target):
                            if isinstance(name, ast.Name):
                                kind = _literal(value) if name is target else ""
                                stores.add(Store(name.id, kind))
                                if kind:
                                    fields.add((node.name, name.id))
                case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
                    stores.add(Store(name))
                case ast.FunctionDef(name="__init__"):
                    for inner in statement.body:
                        own = (
                            inner.targets[0]
                            if isinstance(inner, ast.Assign) and len(inner.targets) == 1
                            else inner.target
                            if isinstance(inner, ast.AnnAssign) and inner.value is not None
                            else None
                        )
                        if isinstance(own, ast.Attribute) and isinstance(own.value, ast.Name):
                            fields.add((node.name, own.attr))
                case ast.If() | ast.Try() | ast.For() | ast.With():
                    for inner in statements(statement):
                        for part in ast.iter_child_nodes(inner):
                            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                                stores.add(Store(part.id))
    return fields, decided
