"""Texts that may be no Python: who tells of that is another."""

from __future__ import annotations

import ast
import warnings


def parsed(data: bytes | str, path: str = "<unknown>") -> ast.Module | None:
    """The tree of a file; None for one that is no Python. What Python warns of is nobody's business here."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data, path)
    except (SyntaxError, ValueError, RecursionError):
        return None
