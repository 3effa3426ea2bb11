"""CMake's language: commands and their arguments, with the lines that they stand on. No decisions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a command."""

    text: str
    """Without its quotes; variables are left as they are written."""
    line: int
    alone: bool
    """True when nothing but a comment stands beside it on its line."""


@dataclass(frozen=True, slots=True)
class Command:
    """``name(arguments)``."""

    name: str
    """In lower case, as CMake compares it."""
    line: int
    last: int
    """Line of the closing parenthesis."""
    arguments: tuple[Argument, ...]


def read_cmake(text: str) -> tuple[Command, ...]:
    """Commands of a build list, in their order; what cannot be read ends the list."""
    return tuple(_commands([*_tokens(text)]))


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    """``(``, ``)``, ``word`` or ``quoted``."""
    text: str
    start: int
    end: int
    line: int
    last: int


def _tokens(text: str) -> Iterator[_Token]:
    at, line = 0, 1
    while at < len(text):
        char = text[at]
        if char == "\n":
            line += 1
            at += 1
        elif char.isspace():
            at += 1
        elif char == "#":
            end = _bracket(text, at + 1) or text.find("\n", at)
            end = len(text) if end < 0 else end
            line += text.count("\n", at, end)
            at = end
        elif char in "()":
            yield _Token(char, char, at, at + 1, line, line)
            at += 1
        else:
            kind, inner, end = _argument(text, at)
            last = line + text.count("\n", at, end)
            yield _Token(kind, inner, at, end, line, last)
            at, line = end, last


def _argument(text: str, at: int) -> tuple[str, str, int]:
    """Kind, content and end of the argument that starts here."""
    if text[at] == '"':
        end = at + 1
        while end < len(text) and text[end] != '"':
            end += 2 if text[end] == "\\" else 1
        return "quoted", text[at + 1 : end], end + 1
    closed = _bracket(text, at)
    if closed:
        width = text.index("[", at + 1) - at + 1
        return "quoted", text[at + width : closed - width], closed
    end = at
    while end < len(text) and not text[end].isspace() and text[end] not in '()#"':
        end += 2 if text[end] == "\\" else 1
    end = max(end, at + 1)
    return "word", text[at:end], end


def _bracket(text: str, at: int) -> int:
    """End of the bracket argument ``[==[ … ]==]`` that starts here; 0 where none does."""
    equals = at + 1
    while equals < len(text) and text[equals] == "=":
        equals += 1
    if text[at : at + 1] != "[" or text[equals : equals + 1] != "[":
        return 0
    closing = "]" + "=" * (equals - at - 1) + "]"
    end = text.find(closing, equals)
    return end + len(closing) if end >= 0 else 0


def _commands(tokens: list[_Token]) -> Iterator[Command]:
    beside: dict[int, int] = {}
    for token in tokens:
        for line in range(token.line, token.last + 1):
            beside[line] = beside.get(line, 0) + 1
    at = 0
    while at + 1 < len(tokens):
        name = tokens[at]
        if name.kind != "word" or tokens[at + 1].kind != "(":
            return
        depth, end = 1, at + 2
        arguments: list[Argument] = []
        while end < len(tokens) and depth:
            token = tokens[end]
            if token.kind in "()":
                depth += 1 if token.kind == "(" else -1
            else:
                alone = token.line == token.last and beside[token.line] == 1
                arguments.append(Argument(token.text, token.line, alone))
            end += 1
        if depth:
            return
        yield Command(name.text.lower(), name.line, tokens[end - 1].line, tuple(arguments))
        at = end
