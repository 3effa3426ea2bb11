"""The tokens of a program, and what an output may hold that its input does not."""

from __future__ import annotations

import io
import tokenize

_LAYOUT = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING}
_ALLOWED = {"pass", "True", "False", "None", "else", "if", ","}


def tokens(source: str) -> list[str]:
    """Texts of the tokens, comments included, layout left out."""
    found = tokenize.generate_tokens(io.StringIO(source).readline)
    return [t.string for t in found if t.type not in _LAYOUT]


def additions(before: str, after: str) -> list[str]:
    """Tokens of `after` that are neither left from `before`, in order, nor in the closed list.

    A token of the closed list never uses up one of `before`: that leaves the most for the others.
    """
    old, new = tokens(before), tokens(after)
    found: list[str] = []
    position = index = 0
    while index < len(new):
        if new[index : index + 3] == ["raise", "RuntimeError", "("] and new[index + 4] == ")":
            index += 5
            continue
        text = new[index]
        index += 1
        if text in _ALLOWED:
            continue
        try:
            position = old.index(text, position) + 1
        except ValueError:
            found.append(text)
    return found
