"""Fold the statements of a body one after the other: which construct each is, what becomes of it, and dead code after it."""

from __future__ import annotations

import ast

from shrinker.facts.evaluate import evaluate
from shrinker.facts.lattice import Removed
from shrinker.facts.world import ValueScope
from shrinker.fold.assignments import drop_unasked, fold_annotated
from shrinker.fold.attempts import fold_try
from shrinker.fold.branches import fold_assert, fold_if, fold_while
from shrinker.fold.classes import fold_class
from shrinker.fold.context import Context, EvaluatesRemoved, KeepsWhole, filled
from shrinker.fold.displays import adds_row
from shrinker.fold.domains import registration
from shrinker.fold.expressions import ExpressionFolder
from shrinker.fold.functions import fold_function
from shrinker.fold.imports import fold_exports, fold_import, fold_import_from
from shrinker.fold.matches import fold_match
from shrinker.fold.messages import message
from shrinker.fold.order import fails_first, reads_surely
from shrinker.syntax.control import leaves, runs_something
from shrinker.syntax.ranges import extent, span
from shrinker.values.edits import DropBlock, DropStatement, DropTail, Raise

Body = list[ast.stmt]


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
        self.ends: set[int] = set()
        """`try` statements (by id) of which the facts say that control never passes them."""

    def inside(self, scope: ValueScope, kind: str, owner: str = "") -> StatementFolder:
        """The folder of a body within this one."""
        return StatementFolder(self.context, scope, kind, owner)

    # Blocks

    def block(self, body: Body) -> Body:
        """The folded block; may be empty."""
        result: Body = []
        for index, statement in enumerate(body):
            if not self.context.is_hot(statement):
                result.append(statement)
                continue
            edits, decisions = len(self.context.edits), len(self.context.decisions)
            try:
                folded, changed = self._statement(statement)
            except EvaluatesRemoved as poison:
                self._keep_readers(statement, poison)
                folded, changed = self._replace_removed(statement, poison.removed), True
                if folded == [statement]:
                    # Some parts may have been folded before.
                    self.context.undo(edits, decisions)
                    folded = [self.context.as_written(statement)]
            result.extend(folded)
            ends = bool(folded) and (leaves(folded[-1]) or id(folded[-1]) in self.ends)
            if changed and ends and index + 1 < len(body):
                self._drop_tail(body[index + 1 :], raised=isinstance(folded[-1], ast.Raise))
                break
        return result

    def _drop_tail(self, tail: Body, *, raised: bool) -> None:
        self.context.edits.append(DropTail(span(tail[0])))
        # A branch that was taken stands in its own block of the file: what follows around it goes one by one.
        outside = [s for s in tail[1:] if s.col_offset != tail[0].col_offset]
        self.context.edits.extend(DropStatement(span(s)) for s in outside)
        for statement in tail:
            self.forget(statement)
        self.context.decide(tail[0], "dead-code", {"dead-code"}, "removed", extent(tail))

    def _keep_readers(self, node: ast.stmt, poison: EvaluatesRemoved) -> None:
        """What reads a local name that only dead branches bind is an error where it is read for certain. Where it may
        not be (an arm of a ternary, a lambda), or where a handler tells one error from another, the branches stay.

        Raises:
            KeepsWhole: a function around binds the name.
        """
        removed = poison.removed
        name = removed.name.rpartition(".")[2]
        if removed.module or not any(name in names for names in self.context.functions):
            return
        if poison.deferred or not (removed.missing or reads_surely(node, name)):
            raise KeepsWhole(name, f"{name}, which only a dead branch binds, may be read or not")
        if self.context.watching:
            raise KeepsWhole(name, f"{name}, which only a dead branch binds, is read where a handler sees the error")

    def _replace_removed(self, node: ast.stmt, removed: Removed) -> Body:
        if removed.eager and (self.kind == "function" or runs_something(node)):
            self.context.escape(node, removed)
            return [node]
        if removed.missing and (self.kind != "function" or not fails_first(node, self.scope)):
            return [node]
        self.forget(node)
        lines = extent([node])
        if not removed.missing and adds_row(node, self.context.bodies, self.names_removed):
            self.context.edits.append(DropStatement(span(node)))
            self.context.decide(node, "table", {removed.rule}, "removed", lines)
            return []
        if self.kind != "function":
            self.context.edits.append(DropStatement(span(node)))
            self.context.decide(node, "use", {removed.rule}, "removed", lines)
            return []
        self.context.decide(node, "use", {removed.rule}, "raises", lines)
        return self.raises(node, removed)

    def raises(self, node: ast.stmt, removed: Removed) -> Body:
        """The named error in the place of a statement and all that follow it in its block."""
        self.context.edits.append(Raise(span(node), message(removed), removed.error))
        call = ast.Call(ast.Name(removed.error, ast.Load()), [ast.Constant(message(removed))], [])
        return [ast.fix_missing_locations(ast.copy_location(ast.Raise(call, None), node))]

    def names_removed(self, node: ast.AST) -> bool:
        """True for a name of what is gone with its module or branch."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return False
        value = evaluate(node, self.scope)
        return isinstance(value, Removed) and not value.member

    def forget(self, node: ast.AST) -> None:
        """See `Context.forget`."""
        self.context.forget(node)

    def drop(self, node: ast.stmt, rules: set[str] | frozenset[str], kind: str) -> tuple[Body, bool]:
        """Drop a whole statement."""
        self.forget(node)
        self.context.edits.append(DropStatement(span(node)))
        self.context.decide(node, kind, rules, "removed", extent([node]))
        return [], True

    # Dispatch

    def _statement(self, node: ast.stmt) -> tuple[Body, bool]:
        """Folded statements, and whether control flow after them may have changed."""
        match node:
            case ast.If():
                return fold_if(self, node)
            case ast.While():
                return fold_while(self, node)
            case ast.Try():
                return fold_try(self, node)
            case ast.Import():
                return fold_import(self, node)
            case ast.ImportFrom():
                return fold_import_from(self, node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return fold_function(self, node)
            case ast.ClassDef():
                return fold_class(self, node)
            case ast.Assert():
                return fold_assert(self, node)
            case ast.For() | ast.AsyncFor():
                node.iter = self.expressions.fold(node.iter)
                node.body = filled(self.block(node.body))
                self.orelse(node)
                return [node], False
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    item.context_expr = self.expressions.fold(item.context_expr)
                node.body = filled(self.block(node.body))
                return [node], True
            case ast.AnnAssign():
                return fold_annotated(self, node)
            case ast.Assign(targets=[ast.Name(id="__all__")]) | ast.AugAssign(target=ast.Name(id="__all__")):
                fold_exports(self, node.value)
                return [node], False
            case ast.Match():
                return fold_match(self, node)
            case ast.Assign(targets=[ast.Name(id=name)]):
                drop_unasked(self, name, node.value)
                node.value = self.expressions.fold_rows(node.value)
                return [node], False
            case ast.Expr():
                filed = registration(node.value, self.scope)
                if filed is not None:
                    return self.drop(node, {filed.rule}, "registration")
                value = self.expressions.fold(node.value)
                if isinstance(value, ast.Constant) and value is not node.value:
                    return self.drop(node, {"no-effect"}, "call")
                node.value = value
                return [node], False
            case ast.Return():
                if node.value is not None:
                    node.value = self.expressions.fold(node.value)
                return [node], False
            case _:
                for name, child in ast.iter_fields(node):
                    if isinstance(child, ast.expr):
                        setattr(node, name, self.expressions.fold(child))
                    elif isinstance(child, list):
                        setattr(node, name, [self.expressions.fold(c) if isinstance(c, ast.expr) else c for c in child])
                return [node], False

    def orelse(self, node: ast.For | ast.AsyncFor | ast.While | ast.Try) -> None:
        """Fold the `else` of a loop or `try`; an empty one goes."""
        if node.orelse:
            folded = self.block(node.orelse)
            if not folded:
                self.context.edits.append(DropBlock(span(node), "orelse"))
            node.orelse = folded
