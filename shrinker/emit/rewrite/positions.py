"""Decode a source file and translate positions: `ast` counts UTF-8 bytes, LibCST counts characters."""

from __future__ import annotations

import ast
import codecs
import io
import re
import tokenize
from dataclasses import dataclass

from shrinker.values.edits import Edit, Span

Point = tuple[int, int]
"""1-based line, 0-based column in characters."""
Key = tuple[int, int, int, int]
"""Start and end of a node: line, column, line, column; columns in characters."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_CODING = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")


@dataclass(frozen=True, slots=True)
class Source:
    """A decoded file."""

    lines: tuple[str, ...]
    """With their line ends. A form feed does not end a line."""
    encoding: str
    bom: bytes
    newline: str
    """The file's first line end; ``\\n`` when it has none."""

    @property
    def text(self) -> str:
        """The whole file, without its byte-order mark."""
        return "".join(self.lines)

    def point(self, line: int, column: int) -> Point:
        """Translate a position of `ast`."""
        if line > len(self.lines):
            return line, column
        text = self.lines[line - 1]
        if text.isascii():
            return line, column
        return line, len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace"))

    def key(self, span: Span) -> Key:
        """Translate the span of an edit."""
        return (*self.point(span.line, span.col), *self.point(span.end_line, span.end_col))

    def encode(self, text: str) -> bytes:
        """Bytes in the file's own encoding, byte-order mark first."""
        return self.bom + text.encode(self.encoding, "backslashreplace")


def decode(data: bytes) -> Source:
    """Decode a Python file as the compiler does: byte-order mark, coding cookie, else UTF-8.

    Raises:
        SyntaxError: unknown encoding.
        UnicodeDecodeError: the bytes are not in the encoding that the file declares.
    """
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    bom = b""
    if encoding == "utf-8-sig":
        bom, data, encoding = codecs.BOM_UTF8, data[len(codecs.BOM_UTF8) :], "utf-8"
    lines = tuple(_LINE.findall(data.decode(encoding)))
    return Source(lines, encoding, bom, line_end(lines[0]) if lines else "\n")


def line_end(line: str) -> str:
    """How a line ends; ``\\n`` for a last line without an end."""
    if line.endswith("\r\n"):
        return "\r\n"
    return line[-1] if line.endswith(("\r", "\n")) else "\n"


def preamble(lines: tuple[str, ...]) -> int:
    """How many lines must stay first: the shebang and the coding cookie."""
    count = 1 if lines and lines[0].startswith("#!") else 0
    for index in range(min(2, len(lines))):
        if _CODING.match(lines[index]):
            return index + 1
        if lines[index].strip() and not lines[index].lstrip().startswith("#"):
            break
    return count


def start(edit: Edit) -> Point:
    """Where an edit begins, in `ast` units: good for sorting only."""
    return edit.span.line, edit.span.col


def indent_of(line: str) -> str:
    """The white space that a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t\f"))]


def sub_blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement, in the order of the source."""
    found: list[list[ast.stmt]] = [getattr(node, "body", [])]
    found.extend(handler.body for handler in getattr(node, "handlers", []))
    found.extend(case.body for case in getattr(node, "cases", []))
    found.append(getattr(node, "orelse", []))
    found.append(getattr(node, "finalbody", []))
    return [block for block in found if block]


def is_elif(node: ast.stmt, source: Source) -> bool:
    """True for the arm of a chain that `ast` gives as an `if` of its own."""
    line, column = source.point(node.lineno, node.col_offset)
    return isinstance(node, ast.If) and source.lines[line - 1].startswith("elif", column)
