"""Words of a file that is no module of the served package, and that may name something in it."""

import io
import re
import sys
import tokenize

_WORD = re.compile(r"[A-Za-z_]\w*")
_PLAIN = re.compile(r"^[ \t]*import[ \t]+([A-Za-z_]\w*)[ \t]*$", re.MULTILINE)
_LISTED = re.compile(
    r"^[ \t]*from[ \t]+[.\w]+[ \t]+import[ \t]+(?:\(([^)]*)\)|([^\n]*))", re.MULTILINE
)
_SETTING = re.compile(
    r"([A-Za-z_]\w*)[\"']?[ \t]*(?=[=:])|[=:\[,-][ \t]*[\"']?([A-Za-z_]\w*)[\"']?[ \t]*(?=[;,\]}\n]|$)"
)
_LOOKED = re.compile(r"[.\"']\s*([A-Za-z_]\w*)")
"""An attribute, or the start of a string."""


def words_of(path: str, text: str) -> frozenset[str]:
    """Return words by which a file may name something of a module that it loads.

    A module of the standard library that a Python file imports by itself (`import asyncio`) is read
    as the file's own name, unless the file also imports that name from somewhere, looks it up as an
    attribute, or spells it.
    """
    found = frozenset(_WORD.findall(text))
    if not path.endswith((".py", ".pyi")):
        return found
    own = sys.stdlib_module_names.intersection(_PLAIN.findall(text))
    if not own:
        return found
    listed = " ".join(f"{block} {line}" for block, line in _LISTED.findall(text))
    return found.difference(own.difference(_LOOKED.findall(text), _WORD.findall(listed)))


def looked_up(text: str) -> frozenset[str]:
    """Return words that a file may look up as attributes, or that begin a string."""
    return frozenset(_LOOKED.findall(text))


def names_in_data(data: bytes) -> frozenset[str]:
    """Find the names that a file of settings gives values to, and those that it gives as values."""
    text = data.decode("utf-8", "replace")
    return frozenset(name for row in _SETTING.findall(text) for name in row if name)


def without_comments(path: str, text: str) -> str:
    """Return the text of a Python file without its comments, which name nothing; of another file,
    or one that is no Python, all of it.
    """
    if not path.endswith((".py", ".pyi")) or "#" not in text:
        return text
    rows = text.splitlines(keepends=True)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start
                # To the end of its line, which stays.
                rows[line - 1] = rows[line - 1][:column] + rows[line - 1][token.end[1] :]
    except (tokenize.TokenError, SyntaxError, IndexError):
        return text
    return "".join(rows)
