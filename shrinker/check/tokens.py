"""Logical lines of a Python file as tuples of token texts, the same on every Python version.

White space, line breaks and indentation are left out; comments are in. A logical line is one simple statement, one header of a compound
statement with what follows it on the same line, or one comment that stands alone. An f-string is one token, with no quotes of its own kind in
it: upstream runs on Python before 3.12, too.

Not by `tokenize`, which would take two thirds of the time of the level *form*: one regular expression over the whole text takes a sixth of that.
A text in which it meets something that it does not know, or brackets that do not close, is refused. Tests compare both over the standard library.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
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


class Line(NamedTuple):
    """One logical line."""

    tokens: Tokens
    number: int
    """1-based line of its first token."""


def is_subsequence(some: Iterable[str], whole: Iterable[str]) -> bool:
    """Whether some texts stand in others in their order, whatever is between them."""
    rest = iter(whole)
    return all(text in rest for text in some)


def split(text: str) -> list[Tokens]:
    """The logical lines of a file. Raises SyntaxError: the text is not Python."""
    found = _TOKEN.findall(text)
    return [tuple(filter(str.strip, found[first:last])) for first, last in _bounds(found)]


def logical_lines(text: str) -> list[Line]:
    """The same with their line numbers."""
    found, starts = zip(*((match[1], match.start(1)) for match in _TOKEN.finditer(text)), strict=True)
    rows = ((found[first:last], starts[first]) for first, last in _bounds(found))
    return [Line(tuple(filter(str.strip, row)), text.count("\n", 0, start) + 1) for row, start in rows]


def _bounds(found: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Places of the first token of each logical line, and of the line end behind it; line ends within brackets lie between them."""
    # Whatever only the last alternative (one character of any kind) took has length one.
    unknown = [each for each in set(found) if len(each) == 1 and _KNOWN.fullmatch(each) is None]
    depth, first = 0, -1
    for at, each in enumerate(found):
        deeper = _NESTING.get(each)
        if deeper != 0:
            depth += deeper or 0
            first = at if first < 0 else first
        elif depth == 0 and first >= 0:
            yield first, at
            first = -1
        if depth < 0:
            break
    if unknown or depth:
        raise SyntaxError(f"what is {unknown[0]!r}?" if unknown else "brackets that do not close")
