"""Logical lines of a Python file as tuples of token texts, the same on every Python version.

White space, line breaks and indentation are left out; comments are in. A logical line is one simple
statement, one header of a compound statement with what follows it on the same line, or one comment
that stands alone. From Python 3.12 on `tokenize` splits f-strings; here they are one token again, as
before 3.12, so that both give the same answer.
"""

from __future__ import annotations

import io
import token
import tokenize
from collections.abc import Iterable
from typing import NamedTuple

from shrinker.check.lexer import fast_lines

Tokens = tuple[str, ...]
"""Texts of the tokens of one logical line."""


class Line(NamedTuple):
    """One logical line, as `tokenize` sees it."""

    tokens: Tokens
    number: int
    """1-based line of its first token."""


def is_subsequence(some: Iterable[str], whole: Iterable[str]) -> bool:
    """Whether some texts stand in others in their order, whatever is between them."""
    rest = iter(whole)
    return all(text in rest for text in some)


_STARTS = frozenset({getattr(token, "FSTRING_START", -1), getattr(token, "TSTRING_START", -1)} - {-1})
_ENDS = frozenset({getattr(token, "FSTRING_END", -1), getattr(token, "TSTRING_END", -1)} - {-1})
_LAYOUT = frozenset({token.INDENT, token.DEDENT, token.ENDMARKER, token.ENCODING})


def split(text: str) -> list[Tokens]:
    """The logical lines of a file, by the fast lexer where it is sure, else by `tokenize`.

    Raises:
        SyntaxError, tokenize.TokenError: the text is not Python.
    """
    lines = fast_lines(text)
    return lines if lines is not None else [line.tokens for line in logical_lines(text)]


def logical_lines(text: str) -> list[Line]:
    """The logical lines of a file with their line numbers.

    Raises:
        SyntaxError, tokenize.TokenError: the text is not Python.
    """
    lines: list[Line] = []
    current: list[str] = []
    number = 0
    code = False
    nested = 0
    started = (0, 0)
    rows: list[str] | None = None
    for kind, string, start, end, _ in tokenize.generate_tokens(io.StringIO(text).readline):
        if nested:
            nested += (kind in _STARTS) - (kind in _ENDS)
            if nested == 0:
                rows = rows if rows is not None else text.split("\n")
                current.append(_between(rows, started, end))
                code = True
        elif kind in _STARTS:
            nested, started = 1, start
            number = number if current else start[0]
        elif kind == token.NEWLINE or (kind == token.NL and not code):
            if current:
                lines.append(Line(tuple(current), number))
                current = []
            code = False
        elif kind != token.NL and kind not in _LAYOUT:
            if not current:
                number = start[0]
            current.append(string)
            code = code or kind != token.COMMENT
    if current:
        lines.append(Line(tuple(current), number))
    return lines


def _between(rows: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    if start[0] == end[0]:
        return rows[start[0] - 1][start[1] : end[1]]
    middle = rows[start[0] : end[0] - 1]
    return "\n".join([rows[start[0] - 1][start[1] :], *middle, rows[end[0] - 1][: end[1]]])
