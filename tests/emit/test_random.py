"""Random programs, random edits that leave valid Python: the output means what the edits say, and only deletes."""

import ast
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields

import libcst as cst
from hypothesis import HealthCheck, assume, given, note, reject, settings
from hypothesis import strategies as st

from shrinker.check.capabilities.alignment import is_part
from shrinker.emit.rewrite import rewrite_file
from shrinker.values.edits import (
    DropBlock,
    DropElement,
    DropStatement,
    DropTail,
    Edit,
    Literal,
    Raise,
    TakeBlock,
    TakeOperand,
)
from tests.emit.generator import Generator
from tests.emit.reference import additions, apply, is_elif, span

Chance = Callable[[], float]
"""A number from 0 to 1."""


def pick(items: Sequence[ast.AST], chance: Chance, rate: float, *, spare: bool) -> list[ast.AST]:
    """Some of the items; never all of them with `spare`."""
    found = [item for item in items if chance() < rate and not isinstance(item, ast.GeneratorExp)]
    return found[1:] if spare and len(found) == len(items) else found


class RandomEdits(ast.NodeVisitor):
    """Collects edits; `rate` is the share of sites that are edited."""

    def __init__(self, chance: Chance, rate: float, kinds: frozenset[str] | None = None) -> None:
        self.chance = chance
        self.rate = rate
        self.kinds = kinds
        self.edits: list[Edit] = []

    def add(self, edit: Edit) -> None:
        """Collect an edit when its kind is wanted."""
        if self.kinds is None or type(edit).__name__ in self.kinds:
            self.edits.append(edit)

    def hit(self, factor: float = 1.0) -> bool:
        """True for the share of sites that are edited."""
        return self.chance() < self.rate * factor

    def generic_visit(self, node: ast.AST) -> None:
        """Children, but for what no edit may name."""
        match node:
            case ast.JoinedStr() | ast.pattern():
                return
            case ast.stmt():
                self.statement(node)
            case ast.comprehension():
                for part in pick(node.ifs, self.chance, self.rate, spare=False):
                    self.add(DropElement(span(part), "comprehension"))
            case ast.arg() if node.annotation is not None and self.hit():
                self.add(DropElement(span(node.annotation), "annotation"))
            case ast.Subscript() if isinstance(node.slice, ast.Tuple):
                self.expression(node)
                for part in pick(node.slice.elts, self.chance, self.rate, spare=True):
                    if not isinstance(part, ast.Slice | ast.Starred):
                        self.add(DropElement(span(part), "Tuple"))
                for part in node.slice.elts:
                    self.visit(part)
                self.visit(node.value)
                return
            case ast.expr():
                self.expression(node)
        super().generic_visit(node)

    def statement(self, node: ast.stmt) -> None:
        """Edits of a statement."""
        if self.hit(0.3):
            self.add(DropStatement(span(node)))
        elif self.hit(0.1):
            self.add(DropTail(span(node)))
        elif self.hit(0.1):
            self.add(Raise(span(node), 'gone: "x" \\ é'))
        match node:
            case ast.If() if self.hit():
                self.add(TakeBlock(span(node), "body" if self.chance() < 0.5 else "orelse"))
            case ast.While() if self.hit():
                self.add(TakeBlock(span(node), "body"))
            case ast.Try() if self.hit() and node.handlers:
                last = len(node.handlers) - 1
                self.add(TakeBlock(span(node), "body" if self.chance() < 0.5 else f"handler:{last}"))
        if isinstance(node, ast.If | ast.While | ast.For | ast.AsyncFor | ast.Try) and node.orelse and self.hit():
            self.add(DropBlock(span(node), "orelse"))
        if isinstance(node, ast.Try) and len(node.handlers) > 1 and self.hit():
            self.add(DropBlock(span(node), "handler:0"))
        if isinstance(node, ast.Import | ast.ImportFrom):
            for part in pick(node.names, self.chance, self.rate, spare=True):
                self.add(DropElement(span(part), "alias"))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for part in pick(node.decorator_list, self.chance, self.rate, spare=False):
                self.add(DropElement(span(part), "decorator"))
        if isinstance(node, ast.ClassDef):
            for part in pick([*node.bases, *node.keywords], self.chance, self.rate, spare=False):
                self.add(DropElement(span(part), "ClassDef"))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None and self.hit():
            self.add(DropElement(span(node.returns), "returns"))

    def expression(self, node: ast.expr) -> None:
        """Edits of an expression."""
        if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return
        if not isinstance(node, ast.Starred | ast.Slice | ast.GeneratorExp) and self.hit(0.2):
            self.add(Literal(span(node), ("True", "False", "None")[int(self.chance() * 2.99)]))
        match node:
            case ast.BoolOp():
                for part in pick(node.values, self.chance, self.rate, spare=True):
                    self.add(DropElement(span(part), "BoolOp"))
            case ast.IfExp() if self.hit():
                self.add(TakeOperand(span(node), "body" if self.chance() < 0.5 else "orelse"))
            case ast.Subscript() if self.hit(0.3) and not isinstance(node.value, ast.Constant):
                self.add(TakeOperand(span(node), "value"))
            case ast.Tuple() | ast.List() | ast.Set():
                # A tuple without parentheses must keep an element; `ast` does not say which has them.
                spare = not isinstance(node, ast.List)
                for part in pick(node.elts, self.chance, self.rate, spare=spare):
                    self.add(DropElement(span(part), type(node).__name__))
            case ast.Dict():
                for part in pick(node.values, self.chance, self.rate, spare=False):
                    self.add(DropElement(span(part), "Dict"))


def random_edits(tree: ast.Module, chance: Chance, rate: float, kinds: frozenset[str] | None = None) -> list[Edit]:
    """Edits for a tree."""
    collector = RandomEdits(chance, rate, kinds)
    collector.visit(tree)
    return collector.edits


__all__ = ["is_elif", "random_edits"]


def _program(seed: int) -> str:
    return Generator(random.Random(seed)).program()


@settings(max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32), st.sampled_from([0.05, 0.2, 0.5]), st.integers(0, 2**32))
def test_random_edits(seed: int, rate: float, choice: int) -> None:
    check(_program(seed), rate, choice)


def check(source: str, rate: float, choice: int) -> None:
    """Rewrite and compare with the reference."""
    tree = ast.parse(source)
    edits = random_edits(tree, random.Random(choice).random, rate)
    assume(edits)
    note(source)
    note("\n".join(map(str, edits)))
    wanted = ast.dump(apply(source, edits))
    out = rewrite_file(source.encode(), edits).decode()
    note(out)
    assert ast.dump(ast.parse(out)) == wanted
    assert additions(source, out) == []
    # Blank lines do not pile up, and no line gains trailing blanks.
    blank = max((len(m) for m in re.findall(r"\n+", source)), default=0)
    assert max((len(m) for m in re.findall(r"\n+", out)), default=0) <= max(blank, 3)


def lines(node: object) -> Iterator[cst.SimpleStatementLine]:
    """Statements of one line, as LibCST reads them. Its own visitors make each node anew and refuse some valid whitespace."""
    if isinstance(node, cst.SimpleStatementLine):
        yield node
    elif isinstance(node, cst.CSTNode):
        for field in fields(node):
            yield from lines(getattr(node, field.name))
    elif isinstance(node, Sequence) and not isinstance(node, str):
        for each in node:
            yield from lines(each)


def behind(text: str) -> dict[str, str]:
    """By comment behind a statement the text of the statement, as LibCST attaches them; a program that it refuses is left out."""
    try:
        module = cst.parse_module(text)
    except (cst.CSTValidationError, cst.ParserSyntaxError):
        reject()
    return {
        line.trailing_whitespace.comment.value: "".join(map(module.code_for_node, line.body))
        for line in lines(module)
        if line.trailing_whitespace.comment
    }


@settings(max_examples=100, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32), st.integers(0, 2**32))
def test_a_comment_stays_behind_its_statement(seed: int, choice: int) -> None:
    source = numbered(_program(seed))
    edits = [e for e in random_edits(ast.parse(source), random.Random(choice).random, 0.2) if not isinstance(e, Raise)]
    assume(edits)
    out = rewrite_file(source.encode(), edits).decode()
    note(source)
    note(out)
    before = behind(source)
    for comment, left in behind(out).items():
        # Behind `if x: y` it is the whole line's. A tuple of one keeps a comma.
        whole = before.get(comment, left).replace(",", " ")
        assert is_part(left.replace(",", " "), whole), (comment, left)


def numbered(text: str) -> str:
    """The same program with a number in each comment of its own, so that none is taken for another one."""
    count = iter(range(10**6))
    return re.sub(r"# (\w+)$", lambda found: f"# {found[1]} {next(count)}", text, flags=re.MULTILINE)


@settings(max_examples=30, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32), st.integers(0, 2**32))
def test_order_and_repetition_do_not_matter(seed: int, choice: int) -> None:
    source = _program(seed)
    edits = random_edits(ast.parse(source), random.Random(choice).random, 0.2)
    assume(edits)
    out = rewrite_file(source.encode(), edits)
    mixed = edits * 2
    random.Random(choice).shuffle(mixed)
    assert rewrite_file(source.encode(), mixed) == out


@settings(max_examples=30, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32), st.integers(0, 2**32))
def test_line_ends_are_kept(seed: int, choice: int) -> None:
    source = _program(seed)
    edits = random_edits(ast.parse(source), random.Random(choice).random, 0.2)
    assume(edits)
    out = rewrite_file(source.encode(), edits)
    assert rewrite_file(source.replace("\n", "\r\n").encode(), edits) == out.replace(b"\n", b"\r\n")
