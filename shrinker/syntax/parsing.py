"""Texts that may be no Python: who tells of that is another."""

from __future__ import annotations

import ast
import warnings


def parse(data: bytes | str, path: str = "<unknown>") -> ast.Module:
    """The tree of a file. What Python warns of is nobody's business here.

    Raises:
        SyntaxError, ValueError, RecursionError: it is no Python.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(data, path)


def parsed(data: bytes | str, path: str = "<unknown>") -> ast.Module | None:
    """The same; None for a file that is no Python."""
    try:
        return parse(data, path)
    except (SyntaxError, ValueError, RecursionError):
        return None
