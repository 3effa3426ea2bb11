"""Texts that may be no Python: who tells of that is another."""

import ast
import io
import tokenize
import warnings


def decode(data: bytes) -> tuple[str, str]:
    """Return the text of a file of Python without a byte-order mark, and its encoding, as the
    compiler takes them: by that mark, its coding line, else UTF-8. Raises SyntaxError: unknown
    encoding; UnicodeDecodeError: the bytes are not in the encoding that the file declares.
    """
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode(encoding), encoding


def parse(data: bytes | str, path: str = "<unknown>") -> ast.Module:
    """Return the tree of a file.

    What Python warns of is nobody's business here. Raises SyntaxError, ValueError, RecursionError:
    it is no Python.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(data, path)


def parsed(data: bytes | str, path: str = "<unknown>") -> ast.Module | None:
    """Return the same; None for a file that is no Python."""
    try:
        return parse(data, path)
    except (SyntaxError, ValueError, RecursionError):
        return None
