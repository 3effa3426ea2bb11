"""A file and what goes of it: lines, margins of lines, and ranges of characters with what takes their place."""

from __future__ import annotations

import ast
import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from shrinker.emit.rewrite.errors import RewriteError, UnappliedEdit
from shrinker.emit.rewrite.positions import Source, indent_of
from shrinker.emit.rewrite.tokens import Tokens, read_tokens
from shrinker.values.edits import DropAlias, DropElement, Edit, Literal, Span, TakeOperand


@dataclass
class Draft:
    """The file that is being rewritten."""

    source: Source
    edits: Sequence[Edit]
    cuts: list[tuple[int, int, str]] = field(default_factory=list)
    lost: set[int] = field(default_factory=set)
    """Lines that go."""
    margins: dict[int, tuple[int, str]] = field(default_factory=dict)
    """How many characters a line begins with otherwise, and how."""

    def __post_init__(self) -> None:
        self.text = self.source.text
        self.offsets = [0]
        for line in self.source.lines:
            self.offsets.append(self.offsets[-1] + len(line))
        self.pending = dict.fromkeys(self.edits)
        self._starts = sorted(self.offset(e.span.line, e.span.col) for e in self.edits)
        self._statements: dict[tuple[int, int], list[Edit]] = {}
        self._expressions: dict[Span, Literal | TakeOperand] = {}
        for edit in self.pending:
            match edit:
                case Literal():
                    self._expressions[edit.span] = edit
                case TakeOperand():
                    self._expressions.setdefault(edit.span, edit)
                case DropElement() | DropAlias():
                    pass
                case _:
                    self._statements.setdefault((edit.span.line, edit.span.col), []).append(edit)

    # Places

    def line(self, number: int) -> str:
        """Text of a line, the first being 1."""
        return self.source.lines[number - 1]

    def offset(self, line: int, column: int) -> int:
        """Offset of a position of `ast`."""
        return self.offsets[min(line, len(self.offsets)) - 1] + self.source.point(line, column)[1]

    def range(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias | ast.pattern) -> tuple[int, int]:
        """Offsets of a node."""
        end = self.offset(node.end_lineno or 0, node.end_col_offset or 0)
        return self.offset(node.lineno, node.col_offset), end

    def whole(self, tokens: Tokens, node: ast.expr | ast.pattern) -> tuple[int, int]:
        """Offsets of an expression with its parentheses."""
        return [self.range(node), *tokens.groups(*self.range(node))][-1]

    def begin(self, node: ast.stmt) -> int:
        """Offset at which a statement begins, decorators included."""
        decorators = getattr(node, "decorator_list", None)
        return self.text.rindex("@", 0, self.range(decorators[0])[0]) if decorators else self.range(node)[0]

    def begins_line(self, node: ast.stmt) -> bool:
        """True for a statement with nothing before it on its line."""
        return not self.text[self.offsets[node.lineno - 1] : self.range(node)[0]].strip()

    def is_blank(self, line: int) -> bool:
        """True for a line without a comment."""
        return not self.line(line).strip()

    def is_space(self, line: int) -> bool:
        """True for a line without code, if it is no part of a statement."""
        stripped = self.line(line).strip()
        return not stripped or stripped.startswith("#")

    def indent(self, line: int) -> str:
        """What a line begins with in the end."""
        length, text = self.margins.get(line, (0, ""))
        return text + indent_of(self.line(line))[length:]

    def tokens(self, start: int, end: int) -> Tokens:
        """Tokens between two offsets, the first of which begins a statement, a decorator or a clause."""
        return read_tokens(self.source.lines, self.offsets, start, end)

    # Edits

    def within(self, start: int, end: int) -> bool:
        """True when an edit begins between two offsets."""
        at = bisect.bisect_left(self._starts, start)
        return at < len(self._starts) and self._starts[at] < end

    def statement(self, node: ast.stmt) -> list[Edit]:
        """Edits of a statement."""
        return self._statements.get((node.lineno, node.col_offset), [])

    def expression(self, node: ast.expr) -> Literal | TakeOperand | None:
        """The edit that replaces an expression; a literal wins over an operand."""
        return self._expressions.get(span(node))

    def element(self, container: str, where: Span) -> bool:
        """True when an element goes."""
        return self._take(DropElement(where, container))

    def has_element(self, container: str, node: ast.expr) -> bool:
        """The same, and nothing is crossed off."""
        return DropElement(span(node), container) in self._all

    def alias(self, node: ast.alias) -> bool:
        """True when a name of an import goes."""
        return self._take(DropAlias(span(node)))

    def _take(self, edit: Edit) -> bool:
        if edit in self.pending:
            self.applied(edit)
        return edit in self._all

    @cached_property
    def _all(self) -> frozenset[Edit]:
        return frozenset(self.edits)

    def applied(self, edit: Edit) -> None:
        """Cross an edit off."""
        self.pending.pop(edit, None)

    def error(self, node: ast.AST, reason: str) -> RewriteError:
        """An error that names a node's place."""
        return RewriteError(f"line {getattr(node, 'lineno', 0)}, column {getattr(node, 'col_offset', 0)}: {reason}")

    # Changes

    def cut(self, start: int, end: int, text: str = "") -> None:
        """Put something in the place of a range."""
        self.cuts.append((start, end, text))

    def lose(self, lines: Iterable[int]) -> None:
        """Let lines go."""
        self.lost.update(lines)

    def render(self, start: int, end: int) -> str:
        """Text of a range as it is now, lines and margins left out."""
        out: list[str] = []
        at = start
        for begin, stop, text in sorted(self.cuts, key=_order):
            if begin >= at and start <= begin and stop <= end:
                out += [self.text[at:begin], text]
                at = stop
        return "".join(out) + self.text[at:end]

    def result(self) -> str:
        """The new text.

        Raises:
            UnappliedEdit: an edit names a place where no node of its kind is.
        """
        for number, (length, text) in self.margins.items():
            if number not in self.lost:
                self.cut(self.offsets[number - 1], self.offsets[number - 1] + length, text)
        for number in self.lost:
            self.cut(self.offsets[number - 1], self.offsets[number])
        self.cuts.sort(key=_order)
        for edit in self.pending:
            offset = self.offset(edit.span.line, edit.span.col)
            if not any(start <= offset < end for start, end, _ in self.cuts):
                raise UnappliedEdit(edit)
        out: list[str] = []
        at = 0
        for start, end, text in self.cuts:
            if start >= at:
                out += [self.text[at:start], text]
            at = max(at, end)
        return "".join(out) + self.text[at:]


def _order(cut: tuple[int, int, str]) -> tuple[int, bool, int]:
    """What is only put in comes first, then what holds the others."""
    start, end, _ = cut
    return start, end > start, -end


def span(node: ast.expr | ast.stmt | ast.alias | ast.keyword | ast.pattern) -> Span:
    """The span of a node."""
    return Span(node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)


def name_span(node: ast.arg) -> Span:
    """The span of a parameter's name."""
    return replace(Span(node.lineno, node.col_offset, node.lineno, 0), end_col=node.col_offset + len(node.arg.encode()))
