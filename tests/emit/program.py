"""Small programs and edits written by the source text they name."""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from shrinker.emit.rewrite import rewrite_file
from shrinker.values import edits as kinds
from shrinker.values.edits import Edit, Span
from tests.emit.reference import apply, span

Maker = Callable[[str], Edit]


def _span(source: str, text: str, of: type | tuple[type, ...], nth: int) -> Span:
    """The span of the nth node with this text, of a statement its first line."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, of):
            segment = ast.get_source_segment(source, node) or ""
            if (segment.partition("\n")[0] if isinstance(node, ast.stmt) else segment) == text:
                found.append(span(node))
    assert len(found) > nth, f"{text!r} occurs {len(found)} times"
    return sorted(found)[nth]


def _edit(kind: Callable[..., Edit], of: type | tuple[type, ...]) -> Callable[..., Maker]:
    """How a case says one kind of edit: the text that it names, what else the edit holds, and of several such texts which."""

    def named(text: str, *more: str, nth: int = 0) -> Maker:
        return lambda source: kind(_span(source, text, of, nth), *more)

    return named


drop = _edit(kinds.DropStatement, ast.stmt)
tail = _edit(kinds.DropTail, ast.stmt)
take = _edit(kinds.TakeBlock, ast.stmt)
drop_block = _edit(kinds.DropBlock, ast.stmt)
raises = _edit(kinds.Raise, ast.stmt)
literal = _edit(kinds.Literal, ast.expr)
operand = _edit(kinds.TakeOperand, ast.expr)
element = _edit(kinds.DropElement, (ast.expr, ast.keyword))
alias = _edit(lambda where: kinds.DropElement(where, "alias"), ast.alias)


def rewrite(source: str, *makers: Maker) -> str:
    """The program after the edits; checks it against the reference."""
    edits = [make(source) for make in makers]
    out = rewrite_file(source.encode(), edits).decode()
    assert ast.dump(ast.parse(out)) == ast.dump(apply(source, edits)), f"not what the edits mean:\n{out}"
    return out


@dataclass(frozen=True)
class Case:
    """A program of `rewrites.txt`."""

    title: str
    edits: tuple[Maker, ...]
    before: str
    after: str


def read_cases() -> list[Case]:
    """`rewrites.txt`: `== TITLE`, the edits on one line, and what they do, as the lines of a comparison."""
    cases = []
    text = (Path(__file__).parent / "rewrites.txt").read_text("utf-8")
    for case in text.removeprefix("== ").split("\n== "):
        title, edits, *lines = case.splitlines()
        before, after = ("".join(f"{line[1:]}\n" for line in lines if line[:1] != other) for other in "+-")
        cases.append(Case(title, eval(f"({edits},)"), before, after))
    return cases
