"""What generated programs are made with, and how they are written down: indentation, one-line suites, semicolons, comments."""

from dataclasses import dataclass
from random import Random
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Compound:
    """A compound statement: each clause is its header without the colon, and its body."""

    clauses: tuple[tuple[str, tuple["str | Compound", ...]], ...]
    decorators: tuple[str, ...] = ()


Block = tuple[str | Compound, ...]


@dataclass(frozen=True, slots=True)
class Style:
    """How one module is laid out."""

    indent: str = "    "
    one_line: bool = False
    """Simple bodies stand on the line of their header."""
    semicolons: bool = False
    """Two simple statements share a line."""
    comments: bool = False
    blank_lines: bool = False
    continued: bool = False
    """`and` and `or` outside brackets start a new line after a backslash."""


def write(block: Block, style: Style) -> str:
    """Source text of a module."""
    return "".join(f"{line}\n" for line in _lines(block, style, ""))


def _simple(item: str | Compound) -> bool:
    return isinstance(item, str) and "\n" not in item


def _lines(block: Block, style: Style, indent: str) -> list[str]:
    lines: list[str] = []
    index = 0
    while index < len(block):
        item = block[index]
        index += 1
        if style.comments and index % 2 == 0:
            lines.append(f"{indent}# about what follows, number {index}")
        if isinstance(item, Compound):
            lines += _compound(item, style, indent)
            if style.blank_lines:
                lines.append("")
            continue
        if style.semicolons and index < len(block) and _simple(item) and _simple(block[index]):
            item = f"{item}; {block[index]}"
            index += 1
        comment = "  # on the line" if style.comments and "\n" not in item else ""
        lines.append(f"{indent}{item}{comment}")
    return lines


def _compound(node: Compound, style: Style, indent: str) -> list[str]:
    lines = [f"{indent}@{decorator}" for decorator in node.decorators]
    for header, body in node.clauses:
        if style.continued and not header.startswith(("class", "def", "for", "with")):
            header = header.replace(" and ", f" and \\\n{indent}{style.indent}{style.indent}")
        if (
            style.one_line
            and len(body) <= 2
            and all(_simple(item) for item in body)
            and not header.startswith(("class", "match"))
        ):
            lines.append(f"{indent}{header}: {'; '.join(str(item) for item in body)}")
            continue
        lines.append(f"{indent}{header}:")
        if style.comments:
            lines.append(f"{indent}{style.indent}# inside: {header.split()[0]}")
        lines += _lines(body, style, indent + style.indent)
        if style.comments:
            lines.append(f"{indent}{style.indent}# after the last")
    return lines


Item = str | Compound


class Maker(Protocol):
    """Makes the parts of one place."""

    @property
    def random(self) -> Random:
        """Where choices come from."""

    @property
    def function(self) -> bool:
        """True inside a function."""

    def condition(self) -> str:
        """An expression."""

    def block(self, most: int = 3) -> Block:
        """A body."""

    def leaving(self) -> str:
        """A statement after which nothing comes."""


def together(*block: Item) -> Compound:
    """Several statements where one is asked for."""
    return Compound((("if True", block),))


def one(header: str, *body: Item) -> Compound:
    """A statement with one clause."""
    return Compound(((header, body),))


DECIDED = ("_is_hip", "is_npu()", "not is_cuda()", "_off", "derived and _is_hip")
"""False wherever they stand."""
DECIDED_LOCALLY = (*DECIDED, "thing.is_npu", 'device == "npu"')
"""False in a function with the parameters of `f`."""
