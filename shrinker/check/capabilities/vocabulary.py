"""What a profile drops, in words, and tests as formulas over what they speak of: all that is known of an atom are its identifiers and short texts."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from shrinker.ruleset.models import Dropped
from shrinker.syntax.names import last_name

_LONGEST = 80
"""Characters of a text that still names something; a longer one is a message."""
_NEGATED = (ast.NotEq, ast.NotIn, ast.IsNot)

_OF_ARGUMENTS = frozenset(
    {"all", "any", "endswith", "get", "getattr", "hasattr", "isinstance", "issubclass", "len", "startswith"}
)
"""Calls that ask what their arguments say."""
_PART = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class Atom:
    """What holds or not, and the identifiers and texts in it."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    of: Formula


@dataclass(frozen=True, slots=True)
class Each:
    """A chain of `and` or `or`."""

    of: tuple[Formula, ...]
    every: bool
    """True for `and`."""


Formula = Atom | Not | Each | bool


def formula(node: ast.expr) -> Formula:
    """Of a test of Python. A comparison with some texts, or with some classes, is one with each of them."""
    match node:
        case ast.Constant():
            return bool(node.value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return Not(formula(operand))
        case ast.BoolOp(op=op, values=values):
            return Each(tuple(map(formula, values)), isinstance(op, ast.And))
        case ast.NamedExpr(value=value) | ast.Call(func=ast.Name(id="bool"), args=[value], keywords=[]):
            return formula(value)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            found = _comparison(left, right)
            return Not(found) if isinstance(op, _NEGATED) else found
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[what, ast.Tuple(elts=classes)]):
            return Each(tuple(Atom((*words(what), *words(one))) for one in classes), False)
        case ast.Call(func=func) if last_name(func) not in _OF_ARGUMENTS:
            # What it is asked of says nothing of what it asks.
            return Atom(tuple(words(func)))
    return Atom(tuple(words(node)))


def words(node: ast.AST) -> Iterator[str]:
    """Identifiers and short texts anywhere in a piece of syntax."""
    for each in ast.walk(node):
        match each:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Constant(value=str(text)) if len(text) < _LONGEST:
                yield text
            case ast.alias(name=name, asname=other):
                yield from (name, other) if other else (name,)
            case ast.ImportFrom(module=str(name)):
                yield name


def _comparison(left: ast.expr, right: ast.expr) -> Formula:
    match right:
        case ast.Constant(value=None | False):
            return Not(formula(left))
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items) if items:
            return Each(tuple(Atom((*words(left), *words(item))) for item in items), False)
    return Atom((*words(left), *words(right)))


class Vocabulary:
    """Patterns of how parts of identifiers begin: those that something dropped goes by, and those that always hold."""

    def __init__(self, dropped: Iterable[Dropped]) -> None:
        self._rows = rows = tuple(dropped)
        self._dropped = [(row.id, _pattern(row.words)) for row in rows if row.words]
        self._holding = [(row.id, _pattern(row.holds)) for row in rows if row.holds]
        said = repr([(r.id, r.words, r.holds) for r in rows])
        self.digest = hashlib.sha256(said.encode()).hexdigest()
        """Equal ones say the same."""
        self._said: dict[tuple[str, bool], str | None] = {}

    def whole(self, name: str) -> str | None:
        """The row by which anything may be gone from a function or class of this qualified name."""
        around = ((row.id, f"{one}.") for row in self._rows for one in row.inside)
        return next((row for row, start in around if f"{name}.".startswith(start)), None)

    def permits(self, test: Formula, value: bool) -> bool:
        """Whether words alone let a test have this value, whatever all else in it is."""
        return self.reason(test, value) is not None

    def reason(self, test: Formula, value: bool) -> str | None:
        """The row whose words let a test have this value; of several the first one. None for none."""
        match test:
            case bool():
                return "a constant" if test is value else None
            case Not(of=inner):
                return self.reason(inner, not value)
            case Each(of=parts, every=every):
                reasons = [self.reason(part, value) for part in parts]
                found = [reason for reason in reasons if reason is not None]
                return found[0] if found and (every is not value or len(found) == len(reasons)) else None
            case Atom(words=words):
                return next((row for word in words if (row := self._row(word, value)) is not None), None)

    def _row(self, word: str, value: bool) -> str | None:
        """The row that says that what this word stands for has this value."""
        key = word, value
        if key not in self._said:
            rows = self._holding if value else self._dropped
            # Where a part of it begins: `input` is nothing of an `npu`, and `vlModel` something of a `vl`.
            forms = word.lower(), _PART.sub("_", word).lower()
            self._said[key] = next((row for row, pattern in rows if any(map(pattern.search, forms))), None)
        return self._said[key]


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?<![a-z])(?:{word})" for word in words))
