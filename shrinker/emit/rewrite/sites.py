"""The edits of one file, looked up by where their nodes stand; and what goes of it by them, what comes in its place, and which lines are
dedented: collected first, then written at once.

What can go wrong is always a fault of shrinker itself, never of the input.
"""

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from shrinker.emit.rewrite.source import Place, Source
from shrinker.syntax.ranges import Placed, first_line, meets, span
from shrinker.values import edits
from shrinker.values.edits import refusal_line
from shrinker.values.relations import grouped

_OPENS, _CLOSES = (getattr(tokenize, f"FSTRING_{name}", -1) for name in ("START", "END"))
"""From Python 3.12 on."""


class Patches:
    """The changes of one file. What lies within something that goes, goes with it."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._patches: list[tuple[int, int, str]] = []
        self._dedents: dict[int, list[tuple[str, str]]] = {}
        """What lines begin with and what they are to begin with instead, by where they begin."""

    def replace(self, start: int, end: int, text: str) -> None:
        """Put a text where another one stood; at one place, insert it."""
        if start < end or text:
            self._patches.append((start, end, text))

    def drop(self, start: int, end: int, but: Iterable[Place] = ()) -> None:
        """Drop a part of the file, but for some of it, given in order."""
        for first, last in but:
            self.replace(start, first, "")
            start = last
        self.replace(start, end, "")

    def drop_lines(self, lines: Iterable[int]) -> None:
        """Drop whole lines."""
        # Lines that follow each other go as one, and with them what was to come in the place of a part of them.
        for _, run in groupby(enumerate(sorted(lines)), lambda pair: pair[1] - pair[0]):
            numbers = [line for _, line in run]
            self.replace(self.source.starts[numbers[0]], self.source.starts[numbers[-1] + 1], "")

    def replace_lines(self, first: int, last: int, text: str) -> None:
        """Put other lines, with indentation and line ends, where lines stood; at the end of a file it keeps to have no line end."""
        if not self.source.lines[last - 1].endswith(("\n", "\r")):
            text = text.rstrip("\r\n")
        self.replace(self.source.starts[first], self.source.starts[last + 1], text)

    def dedent(self, body: Sequence[ast.stmt], lines: Iterable[int], old: str, new: str) -> None:
        """Give the lines of a block that begin with one indentation another one; not those that a string or a backslash continues."""
        within = {*_lines_in_strings(body, self.source)}
        for line in lines:
            if line not in within and not self.source.lines[line - 2].rstrip("\r\n").endswith("\\"):
                self._dedents.setdefault(self.source.starts[line], []).append((old, new))

    def drops(self, place: int) -> bool:
        """True when the character at a place goes."""
        return any(start <= place < end for start, end, _ in self._patches)

    def render(self, start: int = 0, end: int | None = None) -> str:
        """The new text of a part of the file, of all of it by default."""
        text = self.source.text
        end = len(text) if end is None else end
        found = [patch for patch in self._patches if start <= patch[0] and patch[1] <= end]
        for place, dedents in self._dedents.items():
            if start <= place < end:
                # What stands deepest first: it comes to stand where the next one begins.
                dedents.sort(key=lambda dedent: -len(dedent[0]))
                old = next((old for old, _ in dedents if text.startswith(old, place)), "")
                found.append((place, place + len(old), old))
        out: list[str] = []
        for first, last, new in sorted(
            found, key=lambda patch: (patch[0], patch[0] != patch[1], -patch[1], not patch[2])
        ):
            if first >= start or last > start:
                rows = (_dedented(row, self._dedents.get(first, ())) for row in new.splitlines(keepends=True))
                out += [text[start:first], *rows]
                start = last
        return "".join(out) + text[start:end]


def _dedented(text: str, dedents: Iterable[tuple[str, str]]) -> str:
    for old, new in dedents:
        if text.startswith(old):
            text = new + text[len(old) :]
    return text


def _lines_in_strings(body: Sequence[ast.stmt], source: Source) -> Iterator[int]:
    """Lines of a block that begin within a string."""
    first = first_line(body[0])
    # Within parentheses, so that any indentation may come first.
    text = f"({source.text[source.starts[first] : source.place(body[-1])[1]]}\n)"
    opened: list[int] = []
    for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
        if token.type == _OPENS:
            opened.append(token.start[0])
        elif token.type in (_CLOSES, tokenize.STRING):
            begins = opened.pop() if token.type == _CLOSES else token.start[0]
            yield from range(first + begins, first + token.end[0])


Kind = TypeVar("Kind", bound=edits.Edit)


class RewriteError(RuntimeError):
    """An edit that cannot be written as Python; the message names line and column of the file."""


class Sites:
    """Where the edits of a file go."""

    def __init__(self, decided: Iterable[edits.Edit], source: Source) -> None:
        self.source = source
        self.patches = Patches(source)
        given = frozenset(decided)
        added = {edit for edit in given if isinstance(edit, edits.Refuse | edits.Guard)}
        for where, line in sorted((edit.span, refusal_line(edit)) for edit in added):
            start = source.starts[where.line]
            self.patches.replace(start, start, f"{source.indent(where.line)}{line}{source.newline}")
        self._pending = dict.fromkeys(sorted(given - added, key=lambda edit: edit.span))
        self._at = grouped((edit.span, edit) for edit in self._pending)
        self._lines = sorted({where.line for where in self._at})

    def touched(self, node: Placed) -> bool:
        """True when an edit begins on a line of the node."""
        return meets(self._lines, node)

    def decisive(self, node: Placed, *kinds: type[Kind]) -> Kind | None:
        """The edit of some kinds that settles a node when several name it: of the first kind; the others are void."""
        found = [edit for kind in kinds for edit in self._at.get(span(node), ()) if isinstance(edit, kind)]
        for edit in found:
            self._pending.pop(edit, None)
        return found[0] if found else None

    def drops(self, node: Placed) -> bool:
        """True when an element is to be dropped; marks it as applied."""
        return self.decisive(node, edits.DropElement) is not None

    def finish(self) -> None:
        """Raise RewriteError when an edit is left whose node the file does not have; one in what goes is void."""
        for edit in self._pending:
            where = edit.span
            if where.line > len(self.source.lines) or not self.patches.drops(self.source.point(where.line, where.col)):
                raise RewriteError(f"line {where.line}, column {where.col}: no node to apply {edit!r} to")

    def error(self, node: Placed, reason: str) -> RewriteError:
        """An error that names the node's place in the file."""
        return RewriteError(f"line {node.lineno}, column {node.col_offset}: {reason}")
