"""Python files as the judge parses them where another level tells of one that is no Python."""

from __future__ import annotations

import ast
import warnings


def parsed(data: bytes, path: str) -> ast.Module | None:
    """The tree of a file; None for one that is no Python. What Python warns of is nobody's business here.

    Args:
        data: of the file.
        path: for messages of Python.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data, path)
    except (SyntaxError, ValueError, RecursionError):
        return None
