"""A test as a formula over what it speaks of: all that is known of an atom are its identifiers and short texts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from shrinker.syntax.names import last_name

_LONGEST = 80
"""Characters of a text that still names something; a longer one is a message."""
_NEGATED = (ast.NotEq, ast.NotIn, ast.IsNot)

_OF_ARGUMENTS = frozenset(
    {"all", "any", "endswith", "get", "getattr", "hasattr", "isinstance", "issubclass", "len", "startswith"}
)
"""Calls that ask what their arguments say."""


@dataclass(frozen=True, slots=True)
class Atom:
    """What holds or not, and the identifiers and texts in it."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    of: Formula


@dataclass(frozen=True, slots=True)
class Each:
    """A chain of `and` or `or`."""

    of: tuple[Formula, ...]
    every: bool
    """True for `and`."""


Formula = Atom | Not | Each | bool


def formula(node: ast.expr) -> Formula:
    """Of a test of Python. A comparison with some texts, or with some classes, is one with each of them."""
    match node:
        case ast.Constant():
            return bool(node.value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return Not(formula(operand))
        case ast.BoolOp(op=op, values=values):
            return Each(tuple(map(formula, values)), isinstance(op, ast.And))
        case ast.NamedExpr(value=value) | ast.Call(func=ast.Name(id="bool"), args=[value], keywords=[]):
            return formula(value)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            found = _comparison(left, right)
            return Not(found) if isinstance(op, _NEGATED) else found
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[what, ast.Tuple(elts=classes)]):
            return Each(tuple(Atom((*words(what), *words(one))) for one in classes), False)
        case ast.Call(func=func) if last_name(func) not in _OF_ARGUMENTS:
            # What it is asked of says nothing of what it asks.
            return Atom(tuple(words(func)))
    return Atom(tuple(words(node)))


def words(node: ast.AST) -> Iterator[str]:
    """Identifiers and short texts anywhere in a piece of syntax."""
    for each in ast.walk(node):
        match each:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Constant(value=str(text)) if len(text) < _LONGEST:
                yield text
            case ast.alias(name=name, asname=other):
                yield from (name, other) if other else (name,)
            case ast.ImportFrom(module=str(name)):
                yield name


def _comparison(left: ast.expr, right: ast.expr) -> Formula:
    match right:
        case ast.Constant(value=None | False):
            return Not(formula(left))
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items) if items:
            return Each(tuple(Atom((*words(left), *words(item))) for item in items), False)
    return Atom((*words(left), *words(right)))
