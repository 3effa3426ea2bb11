"""Fold the statements of a body one after the other: what becomes of each, and dead code after it.

What folds which construct stands in `constructs`.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from shrinker.facts.calls import is_pure, is_stated_pure
from shrinker.facts.evaluate import ValueScope, evaluate
from shrinker.facts.lattice import Removed
from shrinker.fold.context import Context, EvaluatesRemoved, LeavesWhole, filled
from shrinker.fold.expressions import ExpressionFolder
from shrinker.fold.messages import message
from shrinker.syntax.control import leaves, runs_something
from shrinker.syntax.imports import Import
from shrinker.syntax.names import assigned
from shrinker.syntax.ranges import extent, span
from shrinker.syntax.scopes import scope_of
from shrinker.syntax.walk import ByClass, statements, walk
from shrinker.values.edits import DropElse, DropStatement, DropTail

Body = list[ast.stmt]
Folded = tuple[Body, bool]
"""Folded statements, and whether control flow after them may have changed."""
Construct = Callable[["StatementFolder", Any], Folded]
_CONDITIONS = frozenset({"test", "guard"})
"""Fields of loops and cases of which only the truth matters."""
_CONSTRUCTS = ByClass[Construct]()
folds = _CONSTRUCTS.of
"""Registers what folds some classes of statements; of any other the parts are folded one by one."""


class StatementFolder:
    """Folds the statements of one scope."""

    def __init__(self, context: Context, scope: ValueScope, kind: str, owner: str = "") -> None:
        """
        Args:
            context: where edits and decisions go.
            scope: names of this body.
            kind: ``module``, ``class`` or ``function``: in a function a removed use becomes the
                named error; elsewhere the statement goes, as a registration of something removed.
            owner: qualified name of the class whose body this is.
        """
        self.owner = owner
        self.context = context
        self.scope = scope
        self.kind = kind
        self.expressions = ExpressionFolder(context, scope)
        self.ends: set[ast.stmt] = set()
        """`try` statements of which the facts say that control never passes them."""

    def block(self, body: Body) -> Body:
        """Return the folded block; may be empty.

        Nothing removed is raised out of it, and after LeavesWhole nothing of the context counts.
        """
        result: Body = []
        for index, statement in enumerate(body):
            if not self.context.is_hot(statement):
                result.append(statement)
                continue
            edits, decisions = len(self.context.edits), len(self.context.decisions)
            try:
                folded, changed = _CONSTRUCTS.get(type(statement), _fold_parts)(self, statement)
            except EvaluatesRemoved as poison:
                self._keep_readers(statement, poison)
                folded, changed = self._replace_removed(statement, poison.removed), True
                if folded == [statement]:
                    # Some parts may have been folded before.
                    del self.context.edits[edits:], self.context.decisions[decisions:]
                    folded = [self.context.as_written(statement)]
            result.extend(folded)
            ends = bool(folded) and (leaves(folded[-1]) or folded[-1] in self.ends)
            if changed and ends and index + 1 < len(body):
                self._drop_tail(body[index + 1 :])
                break
        return result

    def _drop_tail(self, tail: Body) -> None:
        self.context.edits.append(DropTail(span(tail[0])))
        # A branch that was taken stands in its own block of the file: what follows around it goes
        # one by one.
        outside = [s for s in tail[1:] if s.col_offset != tail[0].col_offset]
        self.context.edits.extend(DropStatement(span(s)) for s in outside)
        self.context.forget(*tail)
        self.context.decide(tail[0], "dead-code", {"dead-code"}, "removed", extent(tail))

    def _keep_readers(self, node: ast.stmt, poison: EvaluatesRemoved) -> None:
        """What reads a local name that only dead branches bind is an error where it is read for
        certain. Where it may not be (an arm of a ternary, a lambda), or where a handler tells one
        error from another, the module stays as it is.
        """
        removed = poison.removed
        name = removed.name.rpartition(".")[2]
        from_elsewhere = (
            removed.module or self.scope.environment.removed_definition(removed.name) is not None
        )
        if from_elsewhere or not any(name in names for _, names in self.context.bodies):
            return
        if poison.deferred or not (removed.missing or reads_surely(node, name)):
            raise LeavesWhole(f"{name}, which only a dead branch binds, may be read or not")
        if self.context.watching:
            raise LeavesWhole(
                f"{name}, which only a dead branch binds, is read where a handler sees the error"
            )

    def _replace_removed(self, node: ast.stmt, removed: Removed) -> Body:
        if removed.eager and (self.kind == "function" or runs_something(node)):
            self.context.escape(node, removed)
            return [node]
        if removed.member and self.kind != "function" and self._makes_something(node):
            return [node]
        if removed.missing and (self.kind != "function" or not fails_first(node, self.scope)):
            return [node]
        is_row = not removed.missing and self._adds_row(node)
        if is_row or self.kind != "function" or (not removed.missing and self._only_chooses(node)):
            return self.drop(node, {removed.rule}, "table" if is_row else "use")[0]
        return self.raises([node], removed)

    def _makes_something(self, node: ast.stmt) -> bool:
        """True for `x = make(Kind.GONE)`, which runs whenever the module is loaded, and whose `x`
        others read; of `x = Kind.GONE` they read the member.
        """
        target, value = assigned(node)
        made = value is not None and not isinstance(evaluate(value, self.scope), Removed)
        return isinstance(target, ast.Name) and made

    def _only_chooses(self, node: ast.stmt) -> bool:
        """True for `pool = choose(Gone)` where a rule says that `choose` only answers, and nothing
        else binds the local: it asks for nothing yet, and what reads it is an error of its own.
        """
        function = self.context.function
        match node:
            case ast.Assign([ast.Name(name)], ast.Call() as call) if function is not None:
                names = scope_of(function, self.context.package)
                alone = names.binds(name) and len(names.values(name) or ()) == 1
                return alone and is_stated_pure(call, self.scope) and is_pure(call, self.scope)
        return False

    def _adds_row(self, node: ast.stmt) -> bool:
        """True for `kinds.append(Gone)` where the function binds `kinds` to a list or set display:
        a row of it, written apart.
        """
        function = self.context.function
        match node:
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "append" | "add"), [row], [])) if (
                function is not None and self.names_removed(row)
            ):
                made = (each for each in statements(function) if isinstance(each, ast.Assign))
                targets = (
                    t
                    for each in made
                    if isinstance(each.value, ast.List | ast.Set)
                    for t in each.targets
                )
                return any(isinstance(target, ast.Name) and target.id == name for target in targets)
        return False

    def raises(self, body: Body, removed: Removed, kind: str = "use") -> Body:
        """Return the named error in the place of some statements, after which nothing follows in
        their block.
        """
        self.context.forget(*body)
        return self.context.raises(body, kind, removed.rule, message(removed), removed.error)

    def names_removed(self, node: ast.AST) -> bool:
        """True for a name of what is gone with its module or branch."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return False
        value = evaluate(node, self.scope)
        return isinstance(value, Removed) and not value.member

    def drop(self, node: ast.stmt, rules: Iterable[str], kind: str) -> Folded:
        """Drop a whole statement."""
        self.context.forget(node)
        self.context.drop(node, kind, rules)
        return [], True

    def parts(self, node: ast.AST) -> None:
        """Fold what a statement, or a clause of one, holds: its expressions, then its blocks."""
        for name, child in ast.iter_fields(node):
            if name == "orelse":
                self.orelse(node)  # type: ignore[arg-type]
            elif isinstance(child, ast.expr):
                setattr(node, name, self.expressions.fold(child, condition=name in _CONDITIONS))
            elif isinstance(child, ast.pattern) and any(map(self.names_removed, walk(child))):
                raise LeavesWhole("a pattern of `match` names what is removed")
            elif isinstance(child, list) and child and isinstance(child[0], ast.stmt):
                setattr(node, name, filled(self.block(child)))
            elif isinstance(child, list):
                setattr(
                    node,
                    name,
                    [self.expressions.fold(c) if isinstance(c, ast.expr) else c for c in child],
                )
                for clause in child:
                    if isinstance(clause, ast.withitem | ast.match_case):
                        self.parts(clause)

    def orelse(
        self, node: ast.If | ast.For | ast.AsyncFor | ast.While | ast.Try | ast.TryStar
    ) -> None:
        """Fold the `else` of a statement; an empty one goes."""
        if node.orelse:
            node.orelse = self.block(node.orelse)
            if not node.orelse:
                self.context.edits.append(DropElse(span(node)))


def _fold_parts(folder: StatementFolder, node: ast.stmt) -> Folded:
    folder.parts(node)
    return [node], isinstance(node, ast.With | ast.AsyncWith)


def fails_first(node: ast.stmt, scope: ValueScope) -> bool:
    """Tell whether the first thing that a statement does, beside reading, is to fail for what is
    not installed.
    """
    if isinstance(node, Import):
        return True
    for part in _evaluated(node):
        value = (
            evaluate(part, scope) if isinstance(part, ast.Name | ast.Attribute | ast.Call) else None
        )
        if isinstance(value, Removed) and value.missing:
            return True
        if not is_pure(part, scope):
            return False
    return False


def reads_surely(node: ast.stmt, name: str) -> bool:
    """Tell whether running a statement cannot but read a name, whatever else it does before."""
    if (
        isinstance(node, ast.AugAssign)
        and isinstance(node.target, ast.Name)
        and node.target.id == name
    ):
        return True
    return any(isinstance(part, ast.Name) and part.id == name for part in _evaluated(node))


def _evaluated(node: ast.stmt | ast.expr | None) -> Iterator[ast.expr]:
    """Expressions that are evaluated for certain when a plain statement begins, in their order; of
    others than these the whole.
    """
    parts: Iterable[ast.expr | None]
    match node:
        case ast.Attribute(value=value) | ast.Starred(value=value):
            parts = [value]
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case ast.Call(func=function, args=arguments, keywords=keywords):
            parts = [function, *arguments, *(keyword.value for keyword in keywords)]
        case (
            (
                ast.Expr(value=head)
                | ast.Return(value=head)
                | ast.Assign(value=head)
                | ast.AnnAssign(value=head)
            )
            | (
                ast.If(test=head)
                | ast.While(test=head)
                | ast.Assert(test=head)
                | ast.Raise(exc=head)
            )
            | (ast.For(iter=head) | ast.AsyncFor(iter=head) | ast.Match(subject=head))
        ):
            parts = [head]
        case _:
            parts = []
    for part in parts:
        yield from _evaluated(part)
    if isinstance(node, ast.expr):
        yield node
