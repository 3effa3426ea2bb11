"""What a generated file does not do any more that upstream's does, function by function, and what
the text says of it.

Only what stands around a loss is looked at: a test whose suite or operand is gone, an entry of a
table, a named error. What nothing names any more is no loss: whoever named it stood in one.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, takewhile

from shrinker.check.allowances import error_target, is_named_error
from shrinker.check.capabilities.alignment import (
    Aligner,
    Pairs,
    below,
    is_part,
    likeness,
    matched,
    suites_of,
)
from shrinker.check.capabilities.vocabulary import (
    Around,
    Vocabulary,
    entries_without_name,
    names_read,
    words,
)
from shrinker.syntax.control import is_main, leaves
from shrinker.syntax.imports import is_type_checking
from shrinker.syntax.ranges import one_line
from shrinker.syntax.side_effects import bound_by
from shrinker.syntax.walk import Definition
from shrinker.values.relations import grouped

_ELSEWHERE = frozenset({"body", "orelse", "finalbody", "handlers", "cases", "annotation"})
"""Fields that are looked at by themselves, or that nothing runs by."""
_SHOWN = 120  # Characters of a text.


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that upstream may do and the generated tree does not."""

    line: int
    """In upstream's file."""
    where: str
    """Qualified name of the function or class within the module."""
    reason: str | None
    """The row whose words explain it; None where what is around it may be right without it."""
    what: str


def losses(
    ours: ast.Module, theirs: ast.Module, vocabulary: Vocabulary, replaced: frozenset[str]
) -> list[Loss]:
    """Of a whole file, upstream's (`ours`) and the generated one.

    Where it may be read in several ways, the one with fewest losses counts that the vocabulary does
    not explain. `replaced` are texts that rules put in the place of upstream's.
    """
    named = (node for node in ast.walk(theirs) if isinstance(node, ast.Name | ast.Attribute))
    left, read = frozenset(chain.from_iterable(map(words, named))), frozenset(names_read(theirs))
    aligner = Aligner(lambda test, value: vocabulary.reason(test, value) is not None, left)
    unasked = entries_without_name(ours, theirs)
    return _Scope(vocabulary, aligner, read, replaced, unasked, (ours,), theirs.body).losses()


@dataclass(eq=False)
class _Scope:
    """One function, class body or module of both trees."""

    words: Vocabulary
    aligner: Aligner
    read: frozenset[str]
    """Names that the generated file reads."""
    replaced: frozenset[str]
    unasked: frozenset[str]
    """Entries that nobody misses."""
    around: Around
    """What it is in upstream."""
    theirs: list[ast.stmt]
    name: str = ""
    _pairs: Pairs = field(default_factory=dict, init=False)
    _found: list[Loss] = field(default_factory=list, init=False)
    _cut: set[int] = field(default_factory=set, init=False)
    """Statements of upstream in whose place a named error stands."""

    def losses(self) -> list[Loss]:
        """Return those of what stands in it, too."""
        self.words, ours = self.words.within(self.around), self.around[-1].body
        if [*map(self.aligner.key, ours)] != [*map(self.aligner.key, self.theirs)]:
            self.aligner.align(ours, self.theirs, self._pairs)
            self._errors(self.theirs, ours)
            self._walk(ours)
            self._out_of_place(ours)
        named = grouped((node.name, node) for node in below(ours) if isinstance(node, Definition))
        for left in below(self.theirs):
            if isinstance(left, Definition) and left.name in named:
                near, name = (
                    self._closest(left.body, named[left.name]),
                    f"{self.name}.{left.name}".lstrip("."),
                )
                self._found += replace(
                    self, around=(*self.around, near), theirs=left.body, name=name
                ).losses()
        return self._found

    def _closest(self, body: Sequence[ast.stmt], candidates: Sequence[Definition]) -> Definition:
        """Of several definitions of one name the one that this is left of."""
        if len(candidates) == 1:
            return candidates[0]
        heads = [*map(self.aligner.head, body)]
        return max(candidates, key=lambda one: likeness(heads, [*map(self.aligner.head, one.body)]))

    def _out_of_place(self, ours: Sequence[ast.stmt]) -> None:
        """Statements of upstream that stand in the generated file where they were not: an arm
        behind its chain of tests, say.
        """
        partners = {id(node) for node in self._pairs.values()}
        heads = {self.aligner.head(node) for node in below(ours)}
        for node in below(self.theirs):
            moved = (
                id(node) not in partners
                and not isinstance(node, ast.Pass)
                and self.aligner.head(node) in heads
            )
            if moved and self.replaced.isdisjoint(words(node)):
                self._lose(node, None, "out of its place stands", ast.unparse(node))

    def _stands(self, body: Sequence[ast.stmt]) -> bool:
        return any(id(node) in self._pairs for node in below(body))

    def _lose(self, node: ast.AST, reason: str | None, what: str, text: str) -> None:
        self._found.append(
            Loss(
                getattr(node, "lineno", 0), self.name, reason, f"{what} `{one_line(text, _SHOWN)}`"
            )
        )

    def _lose_words(self, what: str, *gone: ast.AST) -> None:
        """Something that its own words alone can explain."""
        said = self.words.of(chain.from_iterable(map(words, gone)), False)
        self._lose(gone[0], said, what, ", ".join(map(ast.unparse, gone)))

    def _walk(self, body: Sequence[ast.stmt]) -> bool:
        """Find what a suite lost; tell whether nothing behind the suite can run."""
        for node in body:
            if id(node) in self._cut:
                return True  # The named error stands here.
            partner = self._pairs.get(id(node))
            if partner is not None:
                self._within(node, partner)
            elif isinstance(node, ast.If):
                if self._decided(node):
                    return True
                continue
            elif not any(suites_of(node)):
                self._statement(node)
            if isinstance(node, ast.Try):
                self._lost_imports(node, partner)
            standing = [*filter(self._stands, _suites_that_run(node))]
            for suite in standing or ([] if partner else [*suites_of(node)][:1]):
                self._walk(suite)
        return bool(body) and leaves(body[-1])

    def _lost_imports(self, node: ast.Try, partner: ast.stmt | None) -> None:
        """What a `try` imports no more, so that a handler binds what is read."""
        if partner is None and not any(self._stands(handler.body) for handler in node.handlers):
            return
        for each in (each for each in node.body if isinstance(each, ast.Import | ast.ImportFrom)):
            left = self._pairs.get(id(each))
            gone = bound_by(each) - (bound_by(left) if left is not None else set())
            if partner is None or not gone.isdisjoint(self.read):
                self._lose_words("the import", each)

    def _statement(self, node: ast.stmt) -> None:
        """One that did something, and is gone although what is around it stands."""
        match node:
            case ast.Assert(test=test):
                self._lose(node, self.words.reason(test, True), "the check", ast.unparse(test))
            case (
                ast.Expr(value=ast.Call() | ast.Await())
                | ast.Return()
                | ast.Raise()
                | ast.Delete()
                | ast.AugAssign()
            ):
                self._lose_words("the statement", node)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() | ast.Await()) if (
                self.name
            ):
                # One of the module that is read and not bound is found by itself, a local one may
                # be bound in another branch.
                if any(name in names_read(each) for each in self.theirs):
                    self._lose_words("the value", node)

    def _decided(self, node: ast.If) -> bool:
        """Return what an `if` lost that is not there any more; whether nothing behind it
        can run.
        """
        body, other = self._stands(node.body), self._stands(node.orelse)
        text = ast.unparse(node.test)
        ends = False
        if body:
            ends = self._walk(node.body)
            # Without an `else` it is what follows when the test fails that is gone.
            if not other and not (node.orelse and self.aligner.is_idle(node.orelse)):
                self._lose(node, self.words.reason(node.test, True), "what runs unless", text)
        elif not self.aligner.is_idle(node.body):
            # Or all that runs speaks of something dropped.
            said = self.words.of_all(self._said(node.body), True)
            self._lose(node, self.words.reason(node.test, False) or said, "what runs if", text)
        if other:
            ends |= self._walk(node.orelse)
        return ends

    def _said(self, body: Sequence[ast.stmt]) -> Iterator[str | None]:
        """Of each thing that a suite does, the word that it says; an `if` that does not hold does
        nothing.
        """
        for node in body:
            unasked = (
                self.words.reason(node.test, False)
                if isinstance(node, ast.If) and not node.orelse
                else None
            )
            if unasked is not None or not any(suites_of(node)):
                yield unasked or self.words.of(words(node), False)
            else:
                yield from chain.from_iterable(map(self._said, suites_of(node)))

    def _errors(self, theirs: Sequence[ast.stmt], ours: Sequence[ast.stmt]) -> None:
        """Named errors: each stands for statements of upstream that must speak of something
        dropped.
        """
        if not any(map(is_named_error, below(theirs))):
            return
        order = list(below(ours))
        partners = {
            id(self._pairs[id(our)]): at for at, our in enumerate(order) if id(our) in self._pairs
        }
        before, ifs = -1, (node for node in below(theirs) if isinstance(node, ast.If))
        tests = grouped((id(node), each.test) for each in ifs for node in below(each.body))
        # Of programs that no root runs, and of what only type checkers read.
        idle = {id(node) for program in filter(is_main, theirs) for node in below(program.body)}
        idle |= {id(node) for suite in _unread_suites(theirs) for node in below(suite)}
        for node in (node for node in below(theirs) if id(node) not in idle):
            if id(node) in partners:
                before = partners[id(node)]
            elif is_named_error(node):
                after = takewhile(lambda our: id(our) not in self._pairs, order[before + 1 :])
                gone = [
                    our
                    for our in after
                    if not (isinstance(our, ast.Expr) and isinstance(our.value, ast.Constant))
                ]
                self._cut.update(map(id, gone[:1]))
                # Where nothing else is left it stands for the first one, or somebody took the whole
                # function away.
                meant = (self._not_decided(gone) or gone)[:1] if self._pairs else gone[:1]
                around = self.name.split(".")[:-1]
                target = [part for part in error_target(node) if part not in around]
                # Of a method that has more in it its own name alone: the class may do much that is
                # not dropped.
                named = self.name.rpartition(".")[2] if self._pairs else self.name
                spoken = (
                    *chain.from_iterable(map(self._spoken, meant)),
                    named,
                    *target,
                    *self._imported(target[-1:]),
                )
                asked = (self.words.reason(test, False) for test in tests.get(id(node), ()))
                said = self.words.of(spoken, False) or self.words.of_all(asked, False)
                first, shown = (gone[0], self.aligner.head(gone[0])) if gone else (node, self.name)
                self._lose(first, said, "the named error stands for", shown)

    def _spoken(self, node: ast.stmt) -> Iterator[str]:
        """Yield what a statement says, but for the tests of values that are chosen within it: `f(a
        if tpu else b)` is for every device.
        """
        tests = [each.test for each in ast.walk(node) if isinstance(each, ast.IfExp)]
        asked = Counter(chain.from_iterable(map(words, tests)))
        for word in words(node):
            if asked[word]:
                asked[word] -= 1
            else:
                yield word

    def _imported(self, names: Sequence[str]) -> Iterator[str]:
        """Yield what upstream's imports of these names say of them."""
        for node in ast.walk(self.around[0]):
            if isinstance(node, ast.ImportFrom) and any(
                (alias.asname or alias.name) in names for alias in node.names
            ):
                yield from words(node)

    def _not_decided(self, gone: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Without what may be gone by itself: an `if` that does not hold, whose words say nothing
        of what stands behind it.
        """
        decided = (
            n
            for n in gone
            if isinstance(n, ast.If) and self.words.reason(n.test, False) is not None
        )
        within = {id(each) for node in decided for each in below([node])}
        return [node for node in gone if id(node) not in within]

    def _within(self, ours: ast.stmt, theirs: ast.stmt) -> None:
        """What the head of a statement lost."""
        match ours, theirs:
            case ast.Match(), ast.Match():
                left = {ast.dump(case.pattern) for case in theirs.cases}
                for case in ours.cases:
                    if ast.dump(case.pattern) not in left:
                        self._lose_words("the entry", case.pattern)
            case (ast.Import() | ast.ImportFrom() | ast.Try(), _) | (
                ast.Assign(targets=[ast.Name(id="__all__")]),
                _,
            ):
                pass
            case _ if self.aligner.head(ours) != self.aligner.head(theirs):
                for field, value in ast.iter_fields(ours):
                    if field not in _ELSEWHERE or (field == "body" and not isinstance(value, list)):
                        self._piece(value, getattr(theirs, field))

    def _piece(self, ours: object, theirs: object) -> None:
        """What a piece of syntax lost, or the pieces of a list."""
        if isinstance(ours, list) and isinstance(theirs, list):
            for one, other in matched(ours, theirs):
                self._piece(one, other)
        if not (isinstance(ours, ast.AST) and isinstance(theirs, ast.AST)) or ast.dump(
            ours
        ) == ast.dump(theirs):
            return
        match ours, theirs:
            case ast.IfExp(test=test), _ if not (
                isinstance(theirs, ast.IfExp)
                and is_part(ast.unparse(theirs.test), ast.unparse(test))
            ):
                # Which arm is left: the one that the rest is part of.
                first, second, rest = map(ast.unparse, (ours.body, ours.orelse, theirs))
                body = rest == first or (
                    rest != second and likeness(rest, first) >= likeness(rest, second)
                )
                if body and is_part(rest, second) and self.words.reason(test, False):
                    body = False
                what = f"the value {'unless' if body else 'if'}"
                self._lose(ours, self.words.reason(test, body), what, ast.unparse(test))
                self._piece(ours.body if body else ours.orelse, theirs)
            case ast.expr(), ast.Constant(value=bool() | None as left):
                self._lose(
                    ours,
                    self.words.reason(ours, bool(left)),
                    f"{left} stands for",
                    ast.unparse(ours),
                )
            case ast.BoolOp(), ast.expr():
                self._operands(ours, theirs)
            case ast.Dict(), ast.Dict():
                rows = {ast.dump(key) if key else "" for key in theirs.keys}
                for key, value in zip(ours.keys, ours.values, strict=True):
                    if (ast.dump(key) if key else "") not in rows:
                        self._lose_words("the entry", *([key] if key else []), value)
            case ((ast.List() | ast.Tuple() | ast.Set()), (ast.List() | ast.Tuple() | ast.Set())):
                for one, other in matched(ours.elts, theirs.elts):
                    if other is not None:
                        self._piece(one, other)
                    elif not (isinstance(one, ast.Constant) and one.value in self.unasked):
                        self._lose_words("the entry", one)
            case _ if type(ours) is type(theirs):
                for field, value in ast.iter_fields(ours):
                    self._piece(value, getattr(theirs, field))

    def _operands(self, ours: ast.BoolOp, theirs: ast.expr) -> None:
        left = (
            theirs.values
            if isinstance(theirs, ast.BoolOp) and type(theirs.op) is type(ours.op)
            else [theirs]
        )
        if any(is_part(ast.unparse(theirs), ast.unparse(one)) for one in ours.values):
            left = [
                theirs
            ]  # All of it is left of one operand, a chain of the same kind within another.
        every = isinstance(ours.op, ast.And)
        pieces = list(matched(ours.values, left))
        # It failed in an `or`, it held in an `and`; or one that is left decides without it.
        rest = self.words.of_all(
            (self.words.reason(one, not every) for one, other in pieces if other), False
        )
        for one, other in pieces:
            if other is None:
                self._lose(
                    one, self.words.reason(one, every) or rest, "the operand", ast.unparse(one)
                )
            else:
                self._piece(one, other)


def _suites_that_run(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Find the suites of a statement, but for those that only type checkers read."""
    for suite in suites_of(node):
        if not (isinstance(node, ast.If) and _is_for_types(node.test, suite is node.body)):
            yield suite


def _unread_suites(body: Sequence[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Find the suites, on every level of a body, that only type checkers read."""
    for node in below(body):
        if isinstance(node, ast.If) and _is_for_types(node.test, True):
            yield node.body
        if isinstance(node, ast.If) and _is_for_types(node.test, False):
            yield node.orelse


def _is_for_types(test: ast.expr, value: bool) -> bool:
    """Tell whether a test has a value for type checkers alone, as `TYPE_CHECKING` is true."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_for_types(operand, not value)
        case ast.BoolOp(op=op, values=values):
            parts = [_is_for_types(each, value) for each in values]
            # One operand is enough to keep an `and` from being true, or an `or` from being false.
            return any(parts) if isinstance(op, ast.And) is value else all(parts)
    return value and is_type_checking(test)
