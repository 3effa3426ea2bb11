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


def _spans(source: str, text: str, of: type | tuple[type, ...]) -> list[Span]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, of):
            segment = ast.get_source_segment(source, node) or ""
            if isinstance(node, ast.stmt):
                segment = segment.split("\n")[0]
            if segment == text:
                found.append(span(node))
    return sorted(found)


def _span(source: str, text: str, of: type | tuple[type, ...], nth: int) -> Span:
    found = _spans(source, text, of)
    assert len(found) > nth, f"{text!r} occurs {len(found)} times"
    return found[nth]


def drop(text: str, nth: int = 0) -> Maker:
    """DropStatement on the statement whose first line is `text`."""
    return lambda source: kinds.DropStatement(_span(source, text, ast.stmt, nth))


def tail(text: str, nth: int = 0) -> Maker:
    """DropTail."""
    return lambda source: kinds.DropTail(_span(source, text, ast.stmt, nth))


def take(text: str, block: str, nth: int = 0) -> Maker:
    """TakeBlock."""
    return lambda source: kinds.TakeBlock(_span(source, text, ast.stmt, nth), block)


def drop_block(text: str, block: str, nth: int = 0) -> Maker:
    """DropBlock."""
    return lambda source: kinds.DropBlock(_span(source, text, ast.stmt, nth), block)


def raises(text: str, message: str, nth: int = 0) -> Maker:
    """Raise."""
    return lambda source: kinds.Raise(_span(source, text, ast.stmt, nth), message)


def literal(text: str, value: str, nth: int = 0) -> Maker:
    """Literal."""
    return lambda source: kinds.Literal(_span(source, text, ast.expr, nth), value)


def operand(text: str, child: str, nth: int = 0) -> Maker:
    """TakeOperand."""
    return lambda source: kinds.TakeOperand(_span(source, text, ast.expr, nth), child)


def element(text: str, container: str, nth: int = 0) -> Maker:
    """DropElement."""
    return lambda source: kinds.DropElement(_span(source, text, (ast.expr, ast.keyword), nth), container)


def alias(text: str) -> Maker:
    """DropAlias."""
    return lambda source: kinds.DropAlias(_span(source, text, ast.alias, 0))


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
