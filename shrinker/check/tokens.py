"""Logical lines of a Python file as tuples of token texts, the same on every Python version.

White space, line breaks and indentation are left out; comments are in. A logical line is one simple
statement, one header of a compound statement with what follows it on the same line, or one comment
that stands alone. From Python 3.12 on `tokenize` splits f-strings; here they are one token again, as
before 3.12, so that both give the same answer.

`tokenize` would take two thirds of the time of the level *form*; one regular expression over the whole text takes a sixth of that. It gives up
on any text in which it meets something that it does not know, or brackets that do not close. Tests compare both over the standard library.
"""

import io
import re
import token
import tokenize
from collections.abc import Iterable
from typing import NamedTuple

Tokens = tuple[str, ...]
"""Texts of the tokens of one logical line."""

_STRING = (
    r"(?:[rRbBuUfFtT]{0,2})(?:"
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
    r"|'[^'\\\n]*(?:\\.[^'\\\n]*)*')"
)
_NUMBER = (
    r"0[xXbBoO][\da-fA-F_]+"
    r"|(?:\d[\d_]*\.?(?:\d[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?[jJ]?"
)
_OPERATOR = r"\*\*=?|//=?|>>=?|<<=?|\.\.\.|->|:=|[-+*/%&|^@=!<>]=|[-+*/%&|^~@=<>()\[\]{},:;.]"
_TOKEN = re.compile(
    rf"[ \t\f]*(?:\\\r?\n[ \t\f]*)*({_STRING}|[^\W\d]\w*|\r?\n|#[^\r\n]*|{_NUMBER}|{_OPERATOR}|\Z|.)", re.DOTALL
)
_NESTING = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1, "\n": 0, "\r\n": 0, "": 0}
_KNOWN = re.compile(rf"(?:{_STRING}|\w+|\r?\n|#[^\r\n]*|{_NUMBER}|{_OPERATOR})?", re.DOTALL)

_STARTS = frozenset({getattr(token, "FSTRING_START", -1), getattr(token, "TSTRING_START", -1)} - {-1})
_ENDS = frozenset({getattr(token, "FSTRING_END", -1), getattr(token, "TSTRING_END", -1)} - {-1})
_LAYOUT = frozenset({token.INDENT, token.DEDENT, token.ENDMARKER, token.ENCODING})


class Line(NamedTuple):
    """One logical line, as `tokenize` sees it."""

    tokens: Tokens
    number: int
    """1-based line of its first token."""


def is_subsequence(some: Iterable[str], whole: Iterable[str]) -> bool:
    """Whether some texts stand in others in their order, whatever is between them."""
    rest = iter(whole)
    return all(text in rest for text in some)


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


def fast_lines(text: str) -> list[Tokens] | None:
    """Tokens of each logical line; `None` where the regular expression is not sure of the text."""
    found = _TOKEN.findall(text)
    # Whatever only the last alternative (one character of any kind) took has length one.
    if any(len(each) == 1 and _KNOWN.fullmatch(each) is None for each in set(found)):
        return None
    lines: list[Tokens] = []
    current: list[str] = []
    depth = 0
    for each in found:
        deeper = _NESTING.get(each)
        if deeper is None:
            current.append(each)
        elif deeper:
            depth += deeper
            current.append(each)
            if depth < 0:
                return None
        elif depth == 0 and current:
            lines.append(tuple(current))
            current = []
    return None if depth else lines
