"""The tokens of a few lines of the file, and which parentheses group."""

from __future__ import annotations

import bisect
import keyword
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

_BLANK = frozenset(
    {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.COMMENT}
)
_NO_CALL = frozenset({"match", "case"})
"""Names after which a parenthesis is no call's where they begin a line."""


class Token(NamedTuple):
    """One token of a statement; comments are none."""

    text: str
    start: int
    end: int
    """Offsets in the file."""
    name: bool
    """True for a name or a literal, which a parenthesis behind it calls."""


@dataclass
class Tokens:
    """The tokens of one statement's own lines."""

    rows: list[Token]

    @cached_property
    def starts(self) -> list[int]:
        """Offsets at which tokens begin."""
        return [token.start for token in self.rows]

    @cached_property
    def closing(self) -> dict[int, int]:
        """Index of each opening bracket to that of the closing one."""
        found: dict[int, int] = {}
        opened: list[int] = []
        for index, token in enumerate(self.rows):
            if token.text in ("(", "[", "{"):
                opened.append(index)
            elif token.text in (")", "]", "}") and opened:
                found[opened.pop()] = index
        return found

    def at(self, offset: int) -> int:
        """Index of the first token at or behind an offset."""
        return bisect.bisect_left(self.starts, offset)

    def groups(self, start: int, end: int) -> list[tuple[int, int]]:
        """Ranges of the parentheses around an expression that are not a call's, the innermost first."""
        found: list[tuple[int, int]] = []
        left, right = self.at(start) - 1, self.at(end)
        while left >= 0 and right < len(self.rows) and self.rows[left].text == "(" and self.closing.get(left) == right:
            before = self.rows[left - 1] if left else None
            if before is not None and (before.name or before.text in (")", "]", "}")):
                break
            found.append((self.rows[left].start, self.rows[right].end))
            left, right = left - 1, right + 1
        return found


def read_tokens(lines: Sequence[str], offsets: Sequence[int], start: int, end: int) -> Tokens:
    """Tokens between two offsets.

    Args:
        lines: of the file.
        offsets: at which each begins.
        start: of a statement, a decorator or a clause.
    """
    first = bisect.bisect_right(offsets, start) - 1
    rows = [line.rstrip("\r\n") + "\n" for line in lines[first : bisect.bisect_left(offsets, end)]]
    indent = start - offsets[first]
    rows[0] = rows[0][indent:]
    read = iter(rows)
    found: list[Token] = []
    try:
        for kind, text, (line, at), (end_line, end_at), _ in tokenize.generate_tokens(lambda: next(read, "")):
            begin = offsets[first + line - 1] + at + (indent if line == 1 else 0)
            if begin >= end:
                break
            if kind not in _BLANK:
                word = kind == tokenize.NAME and (keyword.iskeyword(text) or (not found and text in _NO_CALL))
                stop = offsets[first + end_line - 1] + end_at + (indent if end_line == 1 else 0)
                found.append(Token(text, begin, stop, kind != tokenize.OP and not word))
    except (tokenize.TokenError, IndentationError):
        # A header without its block.
        pass
    return Tokens(found)
