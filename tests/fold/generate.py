"""Programs over the facts: several modules, made of `grammar.txt` from one seed, and how they are
laid out.
"""

import warnings
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.grammar import Grammar
from tests.small import read_archive

_HERE = Path(__file__).parent
_GRAMMAR = Grammar(_HERE / "grammar.txt")
_AROUND = read_archive(_HERE / "surroundings.txtar")
"""By path; what is generated follows the text of `main` and of `flags`."""
_PARTS = ("part0", "part1")
"""Functions of the module that are always asked in the same way, or nearly."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a module is laid out."""

    indent: str
    one_line: bool
    """Simple bodies stand on the line of their header."""
    semicolons: bool
    """Two simple statements share a line."""
    comments: bool
    blank_lines: bool
    continued: bool
    """`and` outside brackets starts a new line after a backslash."""


def laid_out(text: str, style: Style) -> str:
    """The same program in a style."""
    rows = [(len(row) - len(row.lstrip()), row.strip()) for row in text.splitlines()]
    lines: list[str] = []
    at, quoted = 0, False
    while at < len(rows):
        (depth, row), at = rows[at], at + 1
        if quoted or '"""' in row:
            # A text of several lines is what it is.
            lines.append(text.splitlines()[at - 1] if quoted else style.indent * (depth // 4) + row)
            quoted = quoted is not (row.count('"""') == 1)
            continue
        margin = style.indent * (depth // 4)
        body = rows[
            at : next((end for end in range(at, len(rows)) if rows[end][0] <= depth), len(rows))
        ]
        simple = all(inner[0] == depth + 4 and _simple(inner[1]) for inner in body)
        if (
            style.one_line
            and 0 < len(body) <= 2
            and simple
            and not row.startswith(("class", "match"))
        ):
            row, at = f"{row} {'; '.join(inner[1] for inner in body)}", at + len(body)
        elif (
            style.semicolons
            and _simple(row)
            and at < len(rows)
            and rows[at][0] == depth
            and _simple(rows[at][1])
        ):
            row, at = f"{row}; {rows[at][1]}", at + 1
        elif (
            style.continued
            and row.endswith(":")
            and not row.startswith(("class", "def", "for", "with"))
        ):
            row = row.replace(" and ", f" and \\\n{margin}{style.indent}{style.indent}")
        if style.comments and at % 2 == 0:
            lines.append(f"{margin}# about what follows, number {at}")
        lines.append(
            f"{margin}{row}{'  # on the line' if style.comments and not row.endswith(':') else ''}"
        )
        if style.comments and row.endswith(":"):
            lines.append(f"{margin}{style.indent}# inside: {row.split()[0]}")
        if at == len(rows) or rows[at][0] < depth:
            lines += [f"{margin}# after the last"] * style.comments + [""] * style.blank_lines
    return "\n".join([*lines, ""])


def _simple(row: str) -> bool:
    return not row.endswith(":") and not row.startswith("@") and '"""' not in row


def _compiles(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        try:
            compile(text, "block", "exec", dont_inherit=True)
        except SyntaxError:
            return False
    return True


def program(seed: int, functions: int = 1) -> dict[str, str]:
    """Files of the tree of a seed, whose `sglang.main` has ``f0(a, b, device, thing)``, ``f1`` and
    so on.

    Args:
        seed: decides everything.
        functions: how many examples it holds. They share the modules around them, whose folding
            costs more than theirs.
    """
    random = Random(seed)
    chances = (random.random() < 0.3 for _ in range(5))
    style = Style(random.choice(("    ", "    ", "  ", "\t")), *chances)

    def written(name: str, /, *places: str, less: int = 0, **values: str) -> str:
        # There may be no assignment expression in some places: in a comprehension of a class body,
        # say.
        while True:
            text = laid_out(_GRAMMAR.text(random, name, *places, less=less, **values), style)
            if _compiles(text):
                return text

    module = (
        written("statement", less=2) + written("statement", less=2) if random.random() < 0.5 else ""
    )
    calls = [
        row for part in _PARTS for row in _GRAMMAR.text(random, "calls", name=part).splitlines()
    ]
    parts = [written("part", name=part) for part in _PARTS]
    examples = [
        written("function", "function", name=f"f{n}", calls="\n".join(calls[n::functions]))
        for n in range(functions)
    ]
    enabled = "flags.enable()\n" if random.random() < 0.3 else ""
    more = {
        "python/sglang/main.py": "\n\n".join((module, *parts, *examples, enabled)),
        "python/sglang/flags.py": "\n\n" + _GRAMMAR.text(random, "flags"),
    }
    return _AROUND | {path: _AROUND[path] + text for path, text in more.items()}
