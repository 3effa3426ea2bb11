"""CMake's language: commands and their arguments, with the lines that they stand on.

No decisions.
"""

import re
from collections import Counter
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
      \#\[(?P<level>=*)\[.*?\](?P=level)\] | \#[^\n]*
    | (?P<parenthesis>[()])
    | "(?P<quoted>(?:\\.|[^"\\])*)(?:"|\Z)
    | \[(?P<equals>=*)\[(?P<bracket>.*?)\](?P=equals)\]
    | (?P<word>(?:\\.|[^\s()\#"\\])+)
    """,
    re.VERBOSE | re.DOTALL,
)
"""Comments in brackets and of a line, which have no name here, then what counts."""


class Argument(NamedTuple):
    """One argument of a command."""

    text: str
    """Without its quotes; variables are left as they are written."""
    line: int
    alone: bool
    """True when nothing but a comment stands beside it on its line."""


class Command(NamedTuple):
    """``name(arguments)``."""

    name: str
    """In lower case, as CMake compares it."""
    line: int
    arguments: tuple[Argument, ...]


class _Token(NamedTuple):
    kind: str
    text: str
    lines: range


def read_cmake(text: str) -> tuple[Command, ...]:
    """Return commands of a build list, in their order; what cannot be read ends the list."""
    tokens: list[_Token] = []
    for match in _TOKEN.finditer(text):
        if match.lastgroup not in (None, "level"):
            first = text.count("\n", 0, match.start()) + 1
            lines = range(first, first + match[0].count("\n") + 1)
            tokens.append(_Token(match.lastgroup or "", match[match.lastgroup or 0], lines))
    beside = Counter(line for token in tokens for line in token.lines)
    found: list[Command] = []
    rest = iter(tokens)
    for name, opening in zip(rest, rest, strict=False):
        if name.kind != "word" or opening.text != "(":
            break
        depth = 1
        arguments: list[Argument] = []
        for token in rest:
            if token.kind == "parenthesis":
                depth += 1 if token.text == "(" else -1
            else:
                line = token.lines[0]
                arguments.append(
                    Argument(token.text, line, len(token.lines) == 1 and beside[line] == 1)
                )
            if not depth:
                found.append(Command(name.text.lower(), name.lines[0], tuple(arguments)))
                break
    return tuple(found)
