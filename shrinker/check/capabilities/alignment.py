"""Which statement of upstream became which of the generated tree: statements only go, get shorter,
or take the place of what was around them.

Each list of statements is aligned by dynamic programming: as many statements as can be have a
partner, and of such alignments the one that needs the fewest tests with a value that nobody
explains. A statement may pair with one of its kind whose tokens are some of its own; the suite of
an `if`, `try` or `with` may stand where the statement stood.
"""

import ast
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from operator import itemgetter
from typing import TypeAlias, TypeVar

from shrinker.check.subsequence import is_subsequence
from shrinker.syntax.names import assigned, last_name
from shrinker.syntax.side_effects import bound_by
from shrinker.syntax.walk import BLOCKS_OF, Definition

_TOKEN = re.compile(r"\w+|[^\w\s]")
_WRITTEN = frozenset({"None", "False", "True", "pass", ","})
"""Tokens that may stand in the place of others, or are written where nothing is left but one
element.
"""
Pairs = dict[int, ast.stmt]
"""By the identity of a statement of upstream, its partner."""


def _only_binds(node: ast.stmt) -> bool:
    """Tell whether a statement binds names and files nothing."""
    match node:
        case ast.Pass() | ast.Import() | ast.ImportFrom():
            return True
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            # A decorator that files what it is given does so by its name.
            return not any(
                "regist" in last_name(each).lower() for each in map(_maker, node.decorator_list)
            )
    return isinstance(assigned(node)[0], ast.Name)


def _maker(decorator: ast.expr) -> ast.expr:
    """Return what is called where a decorator is a call, else the decorator."""
    return decorator.func if isinstance(decorator, ast.Call) else decorator


class Aligner:
    """Aligns bodies of one file with each other."""

    def __init__(self, explained: Callable[[ast.expr, bool], bool], names: Collection[str]) -> None:
        """`explained` says whether a test of upstream may have a value, as far as anybody knows;
        the generated file reads these `names`.
        """
        self._explained = explained
        self._names = names
        self.head = cache(_head)
        """A statement without its suites, as text."""
        # No `cache` of a method: it would hold this object, which holds it, and workers collect no
        # garbage.
        self._keys: dict[ast.stmt, tuple[object, ...]] = {}

    def is_idle(self, body: Sequence[ast.stmt]) -> bool:
        """Tell whether a suite does nothing but to bind names that the generated file does not
        read.
        """
        return all(map(_only_binds, body)) and bound_by(*body).isdisjoint(self._names)

    def key(self, node: ast.stmt) -> tuple[object, ...]:
        """Return equal for statements that are the same, with all that is in them but for
        definitions' bodies.
        """
        if node not in self._keys:
            self._keys[node] = (
                self.head(node),
                tuple(tuple(map(self.key, suite)) for suite in suites_of(node)),
            )
        return self._keys[node]

    def _alike(self, one: ast.stmt, other: ast.stmt) -> bool:
        """Tell whether the head of the second may be what is left of the first's."""
        if type(one) is not type(other):
            return False
        whole, left = self.head(one), self.head(other)
        # What two definitions are called is not all the same.
        return whole == left or (not isinstance(one, Definition) and is_part(left, whole))

    def align(self, ours: Sequence[ast.stmt], theirs: Sequence[ast.stmt], found: Pairs) -> int:
        """Pair what can be paired of a body in upstream (`ours`) and what is left of it, on every
        level below definitions. Gives how many have a partner, less what the others cost.
        """
        first = 0
        while first < min(len(ours), len(theirs)) and self.key(ours[first]) == self.key(
            theirs[first]
        ):
            first += 1
        alike = _same(ours[:first], theirs[:first])
        found |= alike
        ours, theirs = ours[first:], theirs[first:]
        if not ours or not theirs:
            return _EQUAL * len(alike)
        cells: list[_Cell] = []
        start = self._file(ours, 0, cells)
        width = len(theirs)
        best: list[list[_Best]] = [[(0, None)] * (width + 1)]
        together = cache(self._within)
        for node, following, suites in cells:
            after = best[following]
            row: list[_Best] = [(0, None)] * (width + 1)
            gone = (
                isinstance(node, ast.If)
                and not self.is_idle(node.body)
                and not self._explained(node.test, False)
            )
            for j in range(width, -1, -1):
                ways: list[_Best] = []
                if j < width and self._alike(node, theirs[j]):
                    within, pairs = together(node, theirs[j])
                    ways.append(
                        (within + after[j + 1][0], (node, theirs[j], pairs, after[j + 1][1]))
                    )
                ways.append((after[j][0] - gone, after[j][1]))
                ways += ((best[suite][j][0] - price, best[suite][j][1]) for suite, price in suites)
                if j < width:
                    ways.append(row[j + 1])
                row[j] = max(ways, key=itemgetter(0))
            best.append(row)
        score, chain = best[start][0]
        while chain is not None:
            one, other, pairs, chain = chain
            found |= {id(one): other, **pairs}
        return _EQUAL * len(alike) + score

    def _file(self, body: Sequence[ast.stmt], following: int, cells: "list[_Cell]") -> int:
        """Append statements, the last one first, so that what follows has its place by then; place
        0 is the end. The place of the first.
        """
        for node in reversed(body):
            starts: list[tuple[int, int]] = []
            may_be_taken = isinstance(node, ast.If | ast.Try | ast.With | ast.Match)
            for at, suite in enumerate(suites_of(node) if may_be_taken else ()):
                if suite:
                    price = isinstance(node, ast.If) and not self._explained(node.test, at == 0)
                    starts.append((self._file(suite, following, cells), price))
            cells.append((node, following, starts))
            following = len(cells)
        return following

    def _within(self, one: ast.stmt, other: ast.stmt) -> tuple[int, Pairs]:
        """Return the score of two partners with all that is in them."""
        if self.key(one) != self.key(other):
            pairs: Pairs = {}
            score = _EQUAL if self.head(one) == self.head(other) else _PARTNER
            return score + sum(
                self.align(mine, its, pairs) for mine, its in _matching_suites(one, other)
            ), pairs
        if isinstance(one, Definition) and isinstance(other, Definition):
            # Of several of one name the one with most of the body in common.
            return _EQUAL + self.align(one.body, other.body, {}), {id(one): other}
        pairs = _same([one], [other])
        return _EQUAL * len(pairs), pairs


def _same(ours: Sequence[ast.stmt], theirs: Sequence[ast.stmt]) -> Pairs:
    """Return the pairs of statements that are the same, with those within them."""
    return {id(one): other for one, other in zip(below(ours), below(theirs), strict=True)}


_Cell = tuple[ast.stmt, int, list[tuple[int, int]]]
"""A statement, the place of what follows it, and of the first ones of suites that may stand where
it stood, with the price.
"""
_Chain: TypeAlias = "tuple[ast.stmt, ast.stmt, Pairs, _Chain] | None"
"""Two partners, those within them, and what follows."""
_Best = tuple[int, _Chain]
"""The best score from a statement of upstream and one of the generated tree on, and the partners
that make it.
"""
_PARTNER, _EQUAL = 1000, 2000
"""What a partner is worth of which something is gone, and one that is whole: more than all prices
of a function.
"""


def is_part(text: str, whole: str) -> bool:
    """Tell whether what is written may be what is left of the whole, by the tokens; literals may
    stand in the place of others.
    """
    return is_subsequence((token for token in _split(text) if token not in _WRITTEN), _split(whole))


@lru_cache(maxsize=65536)
def _split(text: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(text))


def suites_of(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Lists of statements within one that is no definition, empty ones too, in an order of their
    own for each kind.
    """
    for name in () if isinstance(node, Definition) else BLOCKS_OF[node.__class__]:
        held = getattr(node, name)
        yield from (clause.body for clause in held) if name in ("handlers", "cases") else (held,)


def below(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a body, those of suites within them included."""
    for node in body:
        yield node
        for suite in suites_of(node):
            yield from below(suite)


def _matching_suites(
    one: ast.stmt, other: ast.stmt
) -> Iterator[tuple[list[ast.stmt], list[ast.stmt]]]:
    match one, other:
        case ast.Match(), ast.Match():
            rest = {ast.dump(case.pattern): case.body for case in other.cases}
            yield from (
                (case.body, rest[dumped])
                for case in one.cases
                if (dumped := ast.dump(case.pattern)) in rest
            )
        case ast.Try(), ast.Try():
            yield from (
                (one.body, other.body),
                (one.orelse, other.orelse),
                (one.finalbody, other.finalbody),
            )
            left = {_caught(handler): handler.body for handler in other.handlers}
            yield from ((h.body, left[_caught(h)]) for h in one.handlers if _caught(h) in left)
        case _:
            yield from zip(suites_of(one), suites_of(other), strict=False)


def _caught(handler: ast.ExceptHandler) -> str:
    return ast.dump(handler.type) if handler.type else ""


def _head(node: ast.stmt) -> str:
    match node:
        case ast.If(test=test) | ast.While(test=test):
            return f"{type(node).__name__} {ast.unparse(test)}"
        case ast.For(target=target, iter=items) | ast.AsyncFor(target=target, iter=items):
            return f"for {ast.unparse(target)} in {ast.unparse(items)}"
        case ast.With(items=managers) | ast.AsyncWith(items=managers):
            return "with " + ", ".join(map(ast.unparse, managers))
        case ast.Match(subject=subject):
            return f"match {ast.unparse(subject)}"
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return f"definition {name}"
    return "try" if isinstance(node, ast.Try) else ast.unparse(node)


_Node = TypeVar("_Node", bound=ast.AST)


def matched(
    ours: Sequence[_Node], theirs: Sequence[ast.AST]
) -> Iterator[tuple[_Node, ast.AST | None]]:
    """Yield each of upstream's with what is left of it: equal ones in their order; between these
    whatever may be left of it by its tokens.
    """
    if len(ours) == len(theirs):
        yield from zip(ours, theirs, strict=True)
        return
    one, other = [ast.dump(n) for n in ours], [ast.dump(n) for n in theirs]
    for tag, a, b, c, d in SequenceMatcher(None, one, other, False).get_opcodes():
        rest = list(theirs[c:d])
        for node in ours[a:b]:
            near = (
                rest[0]
                if rest and (tag == "equal" or is_part(ast.unparse(rest[0]), ast.unparse(node)))
                else None
            )
            rest = rest[1:] if near is not None else rest
            yield node, near


def likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """Return how much of two texts, or of two lists of them, stands in both in one order: 1 for
    all.
    """
    return SequenceMatcher(None, one, other, False).ratio()
