"""A source file in characters: `ast` counts UTF-8 bytes."""

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_CODING = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")


@dataclass(frozen=True)
class Source:
    """A decoded file."""

    text: str
    """The whole file, without its byte-order mark."""
    encoding: str
    """``utf-8-sig`` where it begins with a byte-order mark."""

    @cached_property
    def lines(self) -> list[str]:
        """With their line ends. A form feed does not end a line."""
        return LINE.findall(self.text)

    @cached_property
    def newline(self) -> str:
        """The file's first line end; ``\\n`` when it has none."""
        found = re.search(r"\r\n|\r|\n", self.text)
        return found[0] if found else "\n"

    @cached_property
    def preamble(self) -> int:
        """How many lines must stay first: the shebang and the coding cookie."""
        remarks = takewhile(self.is_remark, range(1, 1 + len(self.lines[:2])))
        coding = (line for line in remarks if _CODING.match(self.lines[line - 1]))
        return next(coding, int(self.text.startswith("#!")))

    def column(self, line: int, column: int) -> int:
        """Turn a column that `ast` gives, in bytes, into characters."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if text.isascii():
            return column
        return len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace"))

    def indent(self, line: int) -> str:
        """Return the white space that a line begins with."""
        text = self.lines[line - 1]
        return text[: len(text) - len(text.lstrip(" \t\f"))]

    def is_remark(self, line: int) -> bool:
        """True for a blank line and for one with a comment alone."""
        stripped = self.lines[line - 1].lstrip()
        return not stripped or stripped.startswith("#")

    def is_blank(self, line: int) -> bool:
        """True for a line with white space alone."""
        return not self.lines[line - 1].strip()
