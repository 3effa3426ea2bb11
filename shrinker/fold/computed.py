"""Strings that a module puts together: f-strings, sums and joins."""

from __future__ import annotations

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
        if pattern is not None and pattern != "*":
            exact = unroller.texts(node) if "*" in pattern else None
            yield from ((node, text) for text in ((pattern,) if exact is None else exact))


def pattern_of(node: ast.AST) -> str | None:
    """The text of a string expression, each computed part written ``*``."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=values):
            return _squeeze("".join(str(v.value) if isinstance(v, ast.Constant) else "*" for v in values))
        case ast.BinOp(left=one, op=ast.Add() | ast.Div() as op, right=other):
            left, right = pattern_of(one), pattern_of(other)
            if left is None or right is None or (left == "*" and right == "*"):
                return None
            return _squeeze(left + ("/" if isinstance(op, ast.Div) else "") + right)
        case ast.BinOp(left=one, op=ast.Mod()):
            left = pattern_of(one)
            return None if left is None else _squeeze(re.sub(r"%[sdr]", "*", left))
        case ast.Call(func=ast.Attribute(attr="join"), args=[_, _, *_] as parts):
            texts = [pattern_of(part) or "*" for part in parts]
            return _squeeze("/".join(texts)) if any(text != "*" for text in texts) else None
    return "*"


def _squeeze(text: str) -> str:
    return re.sub(r"\*+", "*", text) if "**" in text else text
