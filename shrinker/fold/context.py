"""What one folding run collects: edits, decisions, and the poison that removed names are."""

import ast
from collections.abc import Collection, Iterable
from typing import TypeVar

from shrinker.facts.environment import Environment
from shrinker.facts.lattice import Decided, Removed
from shrinker.facts.scopes import LocalScope
from shrinker.syntax.imports import Import
from shrinker.syntax.names import words_of
from shrinker.syntax.ranges import Lines, Placed, extent, first_line, is_elif, meets, one_line, span
from shrinker.syntax.walk import Definition, Function, statements, walk
from shrinker.values.edits import DropElement, DropStatement, Edit, Literal, Raise, Span, TakeBlock
from shrinker.values.folded import Decision, LeakedUse, Uncertain

_Statement = TypeVar("_Statement", bound=ast.stmt)
_Item = TypeVar("_Item", ast.expr, ast.alias)

_TEXT_LIMIT = 120


class EvaluatesRemoved(Exception):
    """Evaluating the expression would touch a name that the closed world does not have."""

    def __init__(self, removed: Removed, *, deferred: bool = False) -> None:
        super().__init__(removed.name)
        self.removed = removed
        self.deferred = deferred
        """True when it stands in a lambda, which may never be called."""


class LeavesWhole(Exception):
    """The whole module stays as upstream wrote it: what comes here is rare, and to undo a part of
    it takes more code than it wins.
    """


def filled(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the block, or a `pass` in the place of an emptied one.

    Position 0: written by `emit`, not found in the source.
    """
    return body or [ast.Pass(lineno=0, col_offset=0, end_lineno=0, end_col_offset=0)]


class Context:
    """Collects what folding one file decides."""

    def __init__(
        self, path: str, module: str, package: str, source: str, environment: Environment
    ) -> None:
        self.path = path
        self.module = module
        self.package = package
        self.source = Lines(source)
        self.environment = environment
        self.replaced: dict[Span, str] = {}
        """Texts in the place of defaults, by where they stand."""
        self.bodies: list[tuple[Function | None, Collection[str]]] = []
        """The functions around the place with the names that they bind, and the classes (None), the
        innermost last.
        """
        self.scopes: dict[ast.AST, LocalScope] = {}
        """Scopes of functions as if they stood in the module, from before anything in them was
        folded.
        """
        self.decided: Decided = {}
        """What is known of nodes besides what their names say."""
        self.edits: list[Edit] = []
        self.decisions: list[Decision] = []
        self.uncertain: list[Uncertain] = []
        self.escapes: list[LeakedUse] = []
        self.touched: set[str] = set()
        """Identifiers whose reads were folded away: their imports may have become unused."""
        self.lost: set[str] = set()
        """Names, attributes and identifier strings of the code that goes."""
        self.needed: frozenset[str] = frozenset()
        """Modules that imports here must load."""
        self.unproven_imports: set[str] = set()
        """Modules of the tree whose import went although nothing says that they are loaded anyway.
        """
        self.taken: list[tuple[TakeBlock, list[ast.stmt]]] = []
        """Blocks that took the place of their statement, and what they were then."""
        self._swept: set[ast.stmt] = set()
        self.catching = 0
        """How many `try` statements around the place catch ImportError."""
        self.watching = 0
        """How many `try` statements of the function around the place would show that an error is
        another one.
        """
        self._edited: list[int] = []
        self._hot: list[int] = []
        self._words: frozenset[str] = frozenset()

    def drop(self, node: ast.stmt, kind: str, rules: Iterable[str]) -> None:
        """Drop a statement; the rest as in `decide`."""
        self.edits.append(DropStatement(span(node)))
        self.decide(node, kind, rules, "removed", extent([node]))

    def sweep(self, node: ast.stmt, kind: str, rules: Iterable[str]) -> None:
        """Drop a statement of the folded tree, of which nothing is used any more."""
        self._swept.add(node)
        self.drop(node, kind, rules)

    def settle(self) -> None:
        """After sweeping: a block of which nothing is left goes with its statement, instead of
        becoming a `pass`.
        """
        empty = {edit for edit, live in self.taken if live and self._swept.issuperset(live)}
        self.edits = [
            DropStatement(e.span) if isinstance(e, TakeBlock) and e in empty else e
            for e in self.edits
        ]

    def heat(self, words: Iterable[str]) -> bool:
        """Mark the lines that hold one of these words, too: only their statements are looked at.

        False where no line is marked.
        """
        self._words |= frozenset(words)
        self._hot = self.source.holding(self._words)
        return bool(self._hot)

    def is_hot(self, node: ast.stmt | ast.expr | ast.ExceptHandler) -> bool:
        """Tell whether a line of the node holds a word that the facts may decide."""
        return meets(self._hot, node)

    def is_edited(self, node: ast.stmt) -> bool:
        """Tell whether an edit so far stands within the statement: code that folding has not
        touched is upstream's own.
        """
        if len(self._edited) != len(self.edits):
            self._edited = sorted(edit.span.line for edit in self.edits)
        return meets(self._edited, node)

    def holds(self, node: ast.stmt, *words: str) -> bool:
        """False when no line of a statement holds one of these words."""
        return meets(self.source.holding(words), node)

    def as_written(self, node: _Statement) -> _Statement:
        """Return a statement as upstream wrote it, whatever was folded in it."""
        # Rare, and cheaper than to copy every function first.
        written = statements(ast.parse(self.source.text))
        found = next(
            each for each in written if type(each) is type(node) and span(each) == span(node)
        )
        for part in walk(found):
            if isinstance(part, ast.Constant) and span(part) in self.replaced:
                part.value = self.replaced[span(part)]
        return found

    def literals(self) -> set[Span]:
        """Return where folding wrote a literal."""
        return {edit.span for edit in self.edits if isinstance(edit, Literal)}

    @property
    def function(self) -> Function | None:
        """The function whose body the place is in; None in the module and in a class."""
        return self.bodies[-1][0] if self.bodies else None

    def is_named_beside(self, node: Definition) -> bool:
        """Tell whether the name of a definition stands anywhere else: in this file, or in an import
        of another one.
        """
        world = self.environment
        if (
            (self.module, node.name) in world.imported
            or self.module in world.starred
            or node.name in world.read
        ):
            return True
        own = range(first_line(node), (node.end_lineno or node.lineno) + 1)
        return any(line not in own for line in self.source.holding((node.name,)))

    def text(self, node: Placed) -> str:
        """Return the node as upstream wrote it, on one line."""
        encoded = [
            row.encode()
            for row in self.source.rows[node.lineno - 1 : node.end_lineno or node.lineno]
        ]
        if not encoded:
            return ""
        encoded[-1] = encoded[-1][: node.end_col_offset]
        encoded[0] = encoded[0][node.col_offset :]
        return one_line(b" ".join(encoded).decode("utf-8", "replace"), _TEXT_LIMIT)

    def is_elif(self, node: ast.If) -> bool:
        """Tell whether the statement is an `elif` arm in the source."""
        return is_elif(self.source.rows, node)

    def decide(
        self,
        node: Placed,
        kind: str,
        rules: Iterable[str],
        outcome: str,
        lines: int,
        shown: Placed | None = None,
        gone: tuple[int, int] | None = None,
    ) -> None:
        """Record one decision.

        Args:
            node: where it is made.
            kind, rules, outcome: see `Decision`.
            lines: how many lines go.
            shown: the condition; by default the node.
            gone: the first and the last line that go; by default so many from the node on.
        """
        rule = "+".join(sorted(set(rules))) or "constant"
        if gone is None:
            gone = (first_line(node), node.lineno + lines - 1) if lines else (0, 0)
        self.decisions.append(
            Decision(node.lineno, rule, kind, self.text(shown or node), outcome, lines, *gone)
        )

    def drop_element(
        self, node: Placed, kind: str, rules: Iterable[str], shown: Placed | None = None
    ) -> None:
        """Drop one of several: a row, an operand, a base; the rest as in `decide`."""
        self.edits.append(DropElement(span(node)))
        self.decide(node, kind, rules, "removed", 0, shown)

    def drop_item(self, node: _Item, items: list[_Item], kind: str, rules: Iterable[str]) -> None:
        """Drop one of several, and take it out of their list."""
        items.remove(node)
        self.drop_element(node, kind, rules)

    def take(
        self, node: ast.stmt, block: str, live: list[ast.stmt], emptied: Edit | None = None
    ) -> None:
        """A block takes the place of its statement, which goes (or is `emptied`) with a block of
        which nothing is left.
        """
        taken = TakeBlock(span(node), block)
        self.edits.append(taken if live else emptied or DropStatement(taken.span))
        self.taken.append((taken, list(live)))

    def forget(self, *nodes: ast.AST) -> None:
        """Remember the words of code that goes: what they named may have no other use."""
        for node in nodes:
            names, words = words_of(node)
            self.touched |= names
            self.lost |= words

    def raises(
        self, body: list[ast.stmt], kind: str, rule: str, text: str, error: str = "RuntimeError"
    ) -> list[ast.stmt]:
        """Return the named error in the place of some statements, after which nothing follows in
        their block.
        """
        self.edits.append(Raise(span(body[0]), text, error))
        self.decide(body[0], kind, {rule}, "raises", extent(body))
        call = ast.Call(ast.Name(error, ast.Load()), [ast.Constant(text)], [])
        return [ast.fix_missing_locations(ast.copy_location(ast.Raise(call, None), body[0]))]

    def drop_aliases(self, node: Import, gone: Iterable[tuple[ast.alias, Iterable[str]]]) -> None:
        """Drop names of an import that keeps others, each by its rules."""
        for alias, rules in gone:
            self.drop_item(alias, node.names, "import", rules)

    def escape(self, node: Placed, removed: Removed) -> None:
        """Record a use of a removed module that no fact decides and that every run may reach."""
        self.escapes.append(LeakedUse(removed.module, removed.name, node.lineno, removed.rule))
