"""The logical lines of a file without line numbers: one regular expression over the whole text.

`tokenize` would take two thirds of the time of the level *form*; this takes a sixth of that. It gives up
(`None`) on any text in which it meets something that it does not know, or brackets that do not close; the
caller then takes `tokenize`. Its tests compare both over the standard library.
"""

from __future__ import annotations

import re

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
_LAYOUT = frozenset({"(", "[", "{", ")", "]", "}", "\n", "\r\n", ""})
_KNOWN = re.compile(rf"(?:{_STRING}|\w+|\r?\n|#[^\r\n]*|{_NUMBER}|{_OPERATOR})?", re.DOTALL)


def fast_lines(text: str) -> list[tuple[str, ...]] | None:
    """Tokens of each logical line; `None` when this lexer is not sure of the text."""
    tokens = _TOKEN.findall(text)
    # Whatever only the last alternative (one character of any kind) took has length one.
    if any(len(token) == 1 and _KNOWN.fullmatch(token) is None for token in set(tokens)):
        return None
    lines: list[tuple[str, ...]] = []
    current: list[str] = []
    depth = 0
    for token in tokens:
        if token not in _LAYOUT:
            current.append(token)
        elif token in {"(", "[", "{"}:
            depth += 1
            current.append(token)
        elif token in {")", "]", "}"}:
            depth -= 1
            current.append(token)
            if depth < 0:
                return None
        elif depth == 0 and current:
            lines.append(tuple(current))
            current = []
    return None if depth else lines
