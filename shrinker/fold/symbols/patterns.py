"""Texts that code puts together, each computed part written ``*``."""

from __future__ import annotations

import ast
import re


def pattern_of(node: ast.expr) -> str | None:
    """A computed text with each computed part written ``*``; None for what is no text."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=values):
            parts = [v.value if isinstance(v, ast.Constant) and isinstance(v.value, str) else "*" for v in values]
            return re.sub(r"\*+", "*", "".join(parts))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, other = pattern_of(left), pattern_of(right)
            if one is None and other is None:
                return None
            return re.sub(r"\*+", "*", f"{one or '*'}{other or '*'}")
        case ast.BinOp(left=ast.Constant(value=str() as text), op=ast.Mod()):
            return re.sub(r"%[sdr]", "*", text)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as text), attr="format")):
            return re.sub(r"\{[^}]*\}", "*", text)
    return None
