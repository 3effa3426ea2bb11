"""What code says in names and short texts; what a profile drops, in such words, and which value
these let a test have: no more is known of it.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import cached_property, partial

from shrinker.ruleset.models import Dropped
from shrinker.syntax.bindings import Binding
from shrinker.syntax.imports import is_type_checking
from shrinker.syntax.names import last_name
from shrinker.syntax.scopes import Scope, scope_of
from shrinker.syntax.side_effects import acts, bound_by
from shrinker.syntax.walk import Definition

_LONGEST = 80
"""Characters of a text that still names something; a longer one is a message."""
_CONSTANT = "a constant"
_STORED = "what is stored"
_NEGATED = (ast.NotEq, ast.NotIn, ast.IsNot)

_OF_ARGUMENTS = frozenset(
    {
        "all",
        "any",
        "endswith",
        "get",
        "getattr",
        "hasattr",
        "isinstance",
        "issubclass",
        "len",
        "startswith",
    }
)
"""Calls that ask what their arguments say."""
Around = tuple[ast.Module | Definition, ...]
"""A module, function or class, the last, and what it stands in, the module first."""
Always = Callable[[str, bool, bool], bool]
"""Whether an attribute always has a truth value, see `Stores.always`."""
_Seen = frozenset[str]
"""Names that were followed already."""
_PART = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def words(node: ast.AST) -> Iterator[str]:
    """Yield identifiers and short texts anywhere in a piece of syntax."""
    for each in ast.walk(node):
        match each:
            case (
                ast.Name(id=name)
                | ast.Attribute(attr=name)
                | ast.keyword(arg=str(name))
                | ast.arg(arg=name)
            ):
                yield name
            case (
                ast.FunctionDef(name)
                | ast.AsyncFunctionDef(name)
                | ast.ClassDef(name)
                | ast.ImportFrom(str(name))
            ):
                yield name
            case ast.Constant(value=str(text)) if len(text) < _LONGEST:
                yield text
            case ast.alias(name=name, asname=other):
                yield from (name, other) if other else (name,)


def entries_without_name(ours: ast.Module, theirs: ast.Module) -> frozenset[str]:
    """Return texts of upstream's lists (`ours`) that are only asked which of the module's own names
    they are (``for x in NAMES: if x in globals()``), and that the generated module (`theirs`) does
    not
    bind: nobody misses them.
    """
    reads, asked, said = Counter[str](), Counter[str](), Counter[object]()
    texts: dict[str, list[str]] = {}
    for node in ast.walk(ours):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                reads[name] += 1
            case ast.For(
                target=ast.Name(id=name),
                iter=ast.Name(id=listed),
                body=[ast.If(test=test, orelse=[])],
            ):
                asked[listed] += ast.unparse(test) == f"{name} in globals()"
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=listed), attr="append"))
            ):
                asked[listed] += 1
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.List(elts=elements)):
                texts[name] = [part.value for part in elements if isinstance(part, ast.Constant)]  # type: ignore[misc]
            case ast.Constant(value=value):
                said[value] += 1
    lists = (found for name, found in texts.items() if 0 < reads[name] == asked[name])
    return frozenset(text for found in lists for text in found if said[text] == 1) - bound_by(
        *theirs.body
    )


def names_read(node: ast.AST) -> Iterator[str]:
    """Return names that some code reads."""
    return (
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    )


class Vocabulary:
    """Patterns of how parts of identifiers begin: those that something dropped goes by, and those
    that always hold.
    """

    def __init__(self, dropped: Iterable[Dropped], always: Always | None = None) -> None:
        """Take the rows; and `always` where what is stored on attributes may explain, too."""
        self._rows = rows = tuple(dropped)
        self._always = always
        self._dropped = [(row.id, _pattern(row.words)) for row in rows if row.words]
        self._holding = [(row.id, _pattern(row.holds)) for row in rows if row.holds]
        self._said: dict[tuple[str, bool], str | None] = {}
        self._around: Around = ()

    def whole(self, name: str) -> str | None:
        """Return the row by which anything may be gone from a function or class of this qualified
        name.
        """
        around = ((row.id, f"{one}.") for row in self._rows for one in row.inside)
        return next((row for row, start in around if f"{name}.".startswith(start)), None)

    def within(self, around: Around) -> "Vocabulary":
        """Return the same of tests that stand in a function or class of upstream: a name of which
        no word speaks is what it is bound to there.
        """
        inner = copy(self)
        inner._around = around
        # A copy has what was worked out for the scope around, too.
        vars(inner).pop("_scope", None)
        return inner

    def reason(self, test: ast.expr, value: bool) -> str | None:
        """Return the row whose words let a test of Python have this value, whatever all else in it
        is; of several the first one. None for none. A comparison with some texts, or with some
        classes, is one with each of them.
        """
        return self._reason(test, value, None) or (
            self._reason(test, value, self._scope) if self._around else None
        )

    @cached_property
    def _scope(self) -> Scope | None:
        outer = None
        for node in self._around:
            outer = scope_of(node, "", outer)
        return outer

    def _reason(
        self, test: ast.expr, value: bool, scope: Scope | None, seen: _Seen = frozenset()
    ) -> str | None:
        ask = partial(self._reason, scope=scope, seen=seen)
        match test:
            case ast.Constant():
                return _CONSTANT if bool(test.value) is value else None
            case ast.Name() | ast.Attribute() if is_type_checking(test):
                return None if value else _CONSTANT
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ask(operand, not value)
            case ast.BoolOp(op=op, values=values):
                return self.of_all(
                    (ask(each, value) for each in values), isinstance(op, ast.And) is value
                )
            case (
                ast.NamedExpr(value=inner)
                | ast.Call(func=ast.Name(id="bool"), args=[inner], keywords=[])
            ):
                return ask(inner, value)
            case ast.Compare(
                left=left, ops=[op], comparators=[ast.Constant(value=None | False as right)]
            ):
                value = value is isinstance(op, _NEGATED)
                if right is None and isinstance(left, ast.Name):
                    return self._of_name(left.id, value, scope, seen, nothing=True)
                if right is None and isinstance(left, ast.Attribute):
                    return self._of_attribute(left, value, nothing=True)
                # False is not all that makes an attribute false.
                return (
                    self.of(words(left), value)
                    if isinstance(left, ast.Attribute)
                    else ask(left, value)
                )
            case ast.Compare(
                left=left, ops=[ast.Gt() | ast.LtE() as op], comparators=[ast.Constant(value=0)]
            ):
                return ask(left, value is isinstance(op, ast.Gt))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                value = value is not isinstance(op, _NEGATED)
                if isinstance(right, ast.List | ast.Tuple | ast.Set) and right.elts:
                    return self.of_all(
                        (self.of((*words(left), *words(one)), value) for one in right.elts),
                        not value,
                    )
                return self.of((*words(left), *words(right)), value)
            case ast.Call(
                func=ast.Name(id="isinstance" | "issubclass"), args=[what, ast.Tuple(elts=classes)]
            ):
                return self.of_all(
                    (self.of((*words(what), *words(one)), value) for one in classes), not value
                )
            case ast.Call(func=func) if last_name(func) not in _OF_ARGUMENTS:
                # What it is asked of says nothing of what it asks.
                said = self.of(words(func), value)
                return said or (
                    self._of_call(func.id, value, scope, seen)
                    if isinstance(func, ast.Name)
                    else None
                )
            case ast.Name(id=name):
                return self._of_name(name, value, scope, seen)
            case ast.Attribute():
                return self._of_attribute(test, value)
        return self.of(words(test), value)

    def _of_name(
        self, name: str, value: bool, scope: Scope | None, seen: _Seen, nothing: bool = False
    ) -> str | None:
        """By the words of the name, or of all that it is bound to.

        With `nothing` it is None that makes the test false.
        """
        said = self._row(name, value)
        owner = (
            scope.owner(name) if said is None and scope is not None and name not in seen else None
        )
        if owner is None:
            return said
        seen |= {name}
        reasons: list[str | None] = []
        for binding in owner.values(name) or ():
            tests = ((guard.test, not guard.polarity) for guard in binding.guards if guard.test)
            reason = next(
                filter(None, (self._reason(test, no, owner, seen) for test, no in tests)), None
            )
            plain = binding.value if binding.kind == "value" and reason is None else None
            # None is what makes the test false.
            if plain and not (
                nothing
                and not value
                and isinstance(plain, ast.Constant)
                and plain.value is not None
            ):
                reason = self._reason(plain, value, owner, seen)
            reasons.append(reason)
        said = self.of_all(sorted(reasons, key=lambda reason: reason == _CONSTANT), True)
        # Another module may set a name of this one.
        return None if isinstance(owner.node, ast.Module) and said == _CONSTANT else said

    def _of_attribute(self, node: ast.Attribute, value: bool, nothing: bool = False) -> str | None:
        """By the words of the attribute, or by what is stored on it.

        For `nothing` see `_of_name`.
        """
        said = self.of(words(node), value)
        if said is None and self._always is not None and self._always(node.attr, value, nothing):
            return _STORED
        return said

    def _of_call(self, name: str, value: bool, scope: Scope | None, seen: _Seen) -> str | None:
        """By what a function of the same file answers that does nothing else."""
        owner = scope.owner(name) if scope is not None and name not in seen else None
        match owner.values(name) if owner else None:
            case [
                Binding(
                    node=ast.FunctionDef(
                        body=[*before, ast.Return(value=ast.expr() as answer)]
                    ) as function
                )
            ]:
                if not any(map(acts, before)):
                    return self._reason(answer, value, scope_of(function, "", owner), seen | {name})
        return None

    def of(self, words: Iterable[str], value: bool) -> str | None:
        """Return the same of something of which nothing but these identifiers and texts is
        known.
        """
        return next((row for word in words if (row := self._row(word, value)) is not None), None)

    @staticmethod
    def of_all(reasons: Iterable[str | None], every: bool) -> str | None:
        """Return the first reason of several; None where there must be one for `every`, and
        is not.
        """
        given = [*reasons]
        found = [reason for reason in given if reason is not None]
        return found[0] if found and (not every or len(found) == len(given)) else None

    def _row(self, word: str, value: bool) -> str | None:
        """Return the row that says that what this word stands for has this value."""
        key = word, value
        if key not in self._said:
            rows = self._holding if value else self._dropped
            # Where a part of it begins: `input` is nothing of an `npu`, and `vlModel` something of
            # a `vl`.
            forms = word.lower(), _PART.sub("_", word).lower()
            self._said[key] = next(
                (row for row, pattern in rows if any(map(pattern.search, forms))), None
            )
        return self._said[key]


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?<![a-z])(?:{word})" for word in words))
