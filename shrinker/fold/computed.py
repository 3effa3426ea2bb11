"""Strings that a module puts together: f-strings, sums and joins."""

import ast
import re
from collections.abc import Iterator
from itertools import chain

from shrinker.fold.reading import Reading
from shrinker.syntax.names import last_name
from shrinker.syntax.unroll import Unroller


def computed_strings(reading: Reading, unroller: Unroller) -> Iterator[tuple[ast.expr, str]]:
    """Computed strings, each computed part written ``*``; where loops spell them out, what they are."""
    joins = (call for call in reading.calls if last_name(call.func) == "join")
    for node in chain(reading.joined, reading.sums, joins):
        pattern = pattern_of(node)
        if pattern != "*":
            exact = unroller.texts(node) if "*" in pattern else None
            yield from ((node, text) for text in ((pattern,) if exact is None else exact))


def pattern_of(node: ast.AST) -> str:
    """The text of a string expression, each computed part written ``*``; that alone where nothing of it is known."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=values):
            return _squeeze("".join(str(v.value) if isinstance(v, ast.Constant) else "*" for v in values))
        case ast.BinOp(left=one, op=ast.Add() | ast.Div() as op, right=other):
            return _joined([pattern_of(one), pattern_of(other)], "/" if isinstance(op, ast.Div) else "")
        case ast.BinOp(left=one, op=ast.Mod()):
            return _squeeze(re.sub(r"%[sdr]", "*", pattern_of(one)))
        case ast.Call(func=ast.Attribute(attr="join"), args=[_, _, *_] as parts):
            return _joined(list(map(pattern_of, parts)), "/")
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as text), attr="format")):
            return _squeeze(re.sub(r"\{[^}]*\}", "*", text))
    return "*"


def _joined(parts: list[str], by: str) -> str:
    return _squeeze(by.join(parts)) if any(part != "*" for part in parts) else "*"


def _squeeze(text: str) -> str:
    return re.sub(r"\*+", "*", text) if "**" in text else text
