"""Apply edits to one Python file, token for token as upstream wrote it but for what the edits say.

Positions come from `ast`, and the text is cut there: no line without an edit is read a second time.
"""

import ast
from collections.abc import Sequence

from shrinker.emit.rewrite.sites import RewriteError, Sites
from shrinker.emit.rewrite.source import Source
from shrinker.emit.rewrite.statements import Statements
from shrinker.values.edits import Edit

__all__ = ["RewriteError", "rewrite_file"]


def rewrite_file(source: bytes, edits: Sequence[Edit], *, header: str | None = None) -> bytes:
    """Apply the edits of `values/edits.py` to a file.

    Args:
        source: the original file, in any encoding that it declares, with any line ends.
        edits: in any order. Edits inside a region that another edit drops are void.
        header: a comment line, without its line end, put before everything but a byte-order mark, a
            shebang and a coding line.

    Returns:
        The new file, in the encoding and with the line ends of the original. Lines of statements
        without edits are copied byte for byte.

    Raises:
        RewriteError: an edit names a place where no node of its kind is, or leaves no valid Python, as without the last name of an import.
        SyntaxError: the file does not parse.
    """
    file = Source.of(source)
    text = file.text
    if edits:
        sites = Sites(edits, file)
        Statements(sites).module(ast.parse(text))
        sites.finish()
        text = sites.patches.render()
    if header is not None:
        first = "".join(file.lines[: file.preamble])
        rest = text.removeprefix(first)
        if first and not first.endswith(("\n", "\r")):
            first += file.newline
        text = first + header + file.newline + rest
    return file.encode(text)
