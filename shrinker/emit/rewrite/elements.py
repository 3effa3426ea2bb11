"""DropElement and DropAlias: elements of displays, calls, classes, signatures, patterns and imports."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from shrinker.emit.rewrite.draft import Draft, name_span, span
from shrinker.emit.rewrite.gaps import drop_items
from shrinker.emit.rewrite.tokens import Tokens


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements of what stands in one statement."""

    draft: Draft
    tokens: Tokens

    def drop(self, node: ast.AST) -> Iterator[ast.AST]:
        """Drop elements of a node; those that went, with what lies in them."""
        match node:
            case ast.List() | ast.Set() | ast.Tuple():
                yield from self._display(node, node.elts)
            case ast.Dict():
                yield from self._display(node, node.values)
            case ast.Call():
                yield from self._arguments(
                    node, "Call", [*node.args, *node.keywords], self.draft.whole(self.tokens, node.func)[1]
                )
            case ast.ClassDef(bases=bases, keywords=keywords):
                yield from self._decorators(node)
                yield from self._arguments(node, "ClassDef", [*bases, *keywords], self.draft.range(node)[0])
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from self._decorators(node)
                yield from self._parameters(node)
                if node.returns is not None and self.draft.element("returns", span(node.returns)):
                    low, high = self.draft.whole(self.tokens, node.returns)
                    arrow = self.tokens.at(low) - 1
                    self.draft.cut(self.tokens.rows[arrow - 1].end, high)
                    yield node.returns
            case ast.Lambda(args=args):
                yield from self._annotations(args)
            case ast.comprehension(ifs=tests):
                for test in tests:
                    if self.draft.element("comprehension", span(test)):
                        self._cut_with_word(test)
                        yield test
            case ast.match_case(guard=ast.expr() as guard) if self.draft.element("guard", span(guard)):
                self._cut_with_word(guard)
                yield guard
            case ast.MatchOr(patterns=patterns):
                yield from self._alternatives(node, patterns)
            case ast.Import() | ast.ImportFrom():
                yield from self._aliases(node)

    def _cut_with_word(self, node: ast.expr) -> None:
        low, high = self.draft.whole(self.tokens, node)
        self.draft.cut(self.tokens.rows[self.tokens.at(low) - 2].end, high)

    def _display(self, node: ast.List | ast.Set | ast.Tuple | ast.Dict, elements: Sequence[ast.expr]) -> list[ast.AST]:
        container = type(node).__name__
        gone = [one for one in elements if self.draft.element(container, span(one))]
        if not gone:
            return []
        start, end = self.draft.range(node)
        bare = isinstance(node, ast.Tuple) and not self._is_own(start, end)
        if len(gone) == len(elements) and isinstance(node, ast.Set):
            raise self.draft.error(node, "an emptied set display would become a dict")
        if len(gone) == len(elements) and bare:
            raise self.draft.error(node, "no element is left of a tuple without parentheses")
        ranges = [self.draft.range(one) for one in gone]
        index = self.tokens.rows[self.tokens.at(start) - 1] if bare else None
        if index is not None and index.text == "[" and self._closes(start, end):
            low, high, bare = index.end, self.tokens.rows[self.tokens.at(end)].start, False
        else:
            low, high = (start, end) if bare else (start + 1, end - 1)
        self._drop(low, high, ranges, bare, isinstance(node, ast.Tuple))
        return list(gone)

    def _is_own(self, start: int, end: int) -> bool:
        first = self.tokens.at(start)
        return self.draft.text[start] == "(" and self.tokens.rows[self.tokens.closing[first]].end == end

    def _closes(self, start: int, end: int) -> bool:
        before, behind = self.tokens.at(start) - 1, self.tokens.at(end)
        # A trailing comma of an index is not part of the tuple's range.
        return self.tokens.closing.get(before) == behind

    def _drop(self, low: int, high: int, ranges: Iterable[tuple[int, int]], bare: bool, comma: bool) -> list[str]:
        starts = [start for start, _ in ranges]
        return drop_items(
            self.draft,
            self.tokens,
            low,
            high,
            lambda start, end: any(start <= one < end for one in starts),
            open_ended=bare,
            comma=comma,
        )

    def _brackets(self, start: int) -> tuple[int, int]:
        """Offsets behind the first parenthesis from an offset on, and of the closing one."""
        at = self.tokens.at(start)
        while self.tokens.rows[at].text != "(":
            at += 1
        return self.tokens.rows[at].end, self.tokens.rows[self.tokens.closing[at]].start

    def _arguments(
        self, node: ast.AST, container: str, arguments: Sequence[ast.expr | ast.keyword], start: int
    ) -> list[ast.AST]:
        gone = [
            one
            for one in arguments
            if any(
                self.draft.element(container, span(part))
                for part in ((one, one.value) if isinstance(one, ast.keyword | ast.Starred) else (one,))
            )
        ]
        if gone:
            low, high = self._brackets(start)
            if container == "ClassDef" and len(gone) == len(arguments):
                self.draft.cut(low - 1, high + 1)
            else:
                self._drop(low, high, map(self.draft.range, gone), False, False)
        return list(gone)

    def _decorators(self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
        for index, one in enumerate(node.decorator_list):
            if self.draft.element("decorator", span(one)):
                first = one.lineno
                while index and self.draft.is_space(first - 1):
                    first -= 1
                self.draft.lose(range(first, (one.end_lineno or 0) + 1))
                yield one

    def _parameters(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
        args = node.args
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
        gone = [one for one in every if self.draft.element("parameter", name_span(one))]
        if gone:
            start = self.draft.range(node)[0]
            kept = self._drop(*self._brackets(start), map(self.draft.range, gone), False, False)
            if "*" in kept and (kept[-1] == "*" or kept[kept.index("*") + 1].startswith("**")):
                raise self.draft.error(node, "no parameter is left after a bare `*`")
            defaults = dict(zip(reversed([*args.posonlyargs, *args.args]), reversed(args.defaults), strict=False))
            defaults |= {one: given for one, given in zip(args.kwonlyargs, args.kw_defaults, strict=True) if given}
            yield from gone
            yield from (defaults[one] for one in gone if one in defaults)
        yield from self._annotations(args, set(gone))

    def _annotations(self, args: ast.arguments, gone: Iterable[ast.AST] = ()) -> Iterator[ast.AST]:
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
        for one in every:
            told = one.annotation if one not in gone else None
            if told is not None and self.draft.element("annotation", span(told)):
                # The range of a parameter holds its annotation.
                self.draft.cut(self.draft.range(one)[0] + len(one.arg), self.draft.whole(self.tokens, told)[1])
                yield told

    def _alternatives(self, node: ast.MatchOr, patterns: Sequence[ast.pattern]) -> list[ast.AST]:
        gone = [
            any(
                self.draft.element("MatchOr", where)
                for where in (span(one), *((span(one.value),) if isinstance(one, ast.MatchValue) else ()))
            )
            for one in patterns
        ]
        if all(gone):
            raise self.draft.error(node, "no alternative of a pattern is left")
        wholes = [self.draft.whole(self.tokens, one) for one in patterns]
        last = max(index for index, goes in enumerate(gone) if not goes)
        for index, goes in enumerate(gone[:last]):
            if goes:
                self.draft.cut(wholes[index][0], wholes[index + 1][0])
        if last + 1 < len(gone):
            self.draft.cut(wholes[last][1], wholes[-1][1])
        return [one for one, goes in zip(patterns, gone, strict=True) if goes]

    def _aliases(self, node: ast.Import | ast.ImportFrom) -> list[ast.AST]:
        gone = [one for one in node.names if self.draft.alias(one)]
        if not gone:
            return []
        if len(gone) == len(node.names):
            raise self.draft.error(node, "no name of an import is left: the statement should have been dropped")
        start, end = self.draft.range(node.names[0])[0], self.draft.range(node.names[-1])[1]
        at = self.tokens.at(start) - 1
        bare = self.tokens.rows[at].text != "("
        if not bare:
            start, end = self.tokens.rows[at].end, self.tokens.rows[self.tokens.closing[at]].start
        self._drop(start, end, map(self.draft.range, gone), bare, False)
        return list(gone)
