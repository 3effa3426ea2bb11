"""Fold statements: branches, loops, `try` around absent imports, imports of removed modules, dead code."""

from __future__ import annotations

import ast
import copy

from shrinker.facts.bindings import absolute, collect
from shrinker.facts.effects import is_pure
from shrinker.facts.evaluate import Scope, truth
from shrinker.facts.lattice import Known, Removed
from shrinker.facts.scopes import LocalScope, catches_import_error, failing_import, function_scope, shadowed
from shrinker.facts.walk import walk
from shrinker.fold.annotations import fold_annotation, fold_parameter
from shrinker.fold.context import Context, EvaluatesRemoved, extent, message, span
from shrinker.fold.control import (
    asks_for_exception,
    declares,
    is_counted,
    is_generator,
    leaves,
    reads_of_itself,
    rebinds,
    runs_something,
    written_pass,
)
from shrinker.fold.domains import drop_cases, drop_rows, drop_texts, local_tables, registration
from shrinker.fold.expressions import ExpressionFolder
from shrinker.fold.order import fails_first
from shrinker.values.edits import DropAlias, DropBlock, DropElement, DropStatement, DropTail, Raise, TakeBlock
from shrinker.values.folded import Uncertain

Body = list[ast.stmt]


class StatementFolder:
    """Folds the statements of one scope."""

    def __init__(self, context: Context, scope: Scope, kind: str, owner: str = "") -> None:
        """
        Args:
            context: where edits and decisions go.
            scope: names of this body.
            kind: ``module``, ``class`` or ``function``: in a function a removed use becomes the
                named error; elsewhere the statement goes, as a registration of something removed.
            owner: qualified name of the class whose body this is.
        """
        self.owner = owner
        self.own_reads: frozenset[str] = frozenset()
        """Names that this class body reads from itself."""
        self.context = context
        self.scope = scope
        self.kind = kind
        self.expressions = ExpressionFolder(context, scope)

    # Blocks

    def block(self, body: Body) -> Body:
        """The folded block; may be empty."""
        result: Body = []
        for index, statement in enumerate(body):
            if not self.context.is_hot(statement):
                result.append(statement)
                continue
            try:
                folded, changed = self._statement(statement)
            except EvaluatesRemoved as poison:
                folded, changed = self._replace_removed(statement, poison.removed), True
            result.extend(folded)
            if changed and folded and leaves(folded[-1]) and index + 1 < len(body):
                self._drop_tail(body[index + 1 :], raised=isinstance(folded[-1], ast.Raise))
                break
        return result

    def _drop_tail(self, tail: Body, *, raised: bool) -> None:
        self.context.edits.append(DropTail(span(tail[0])))
        # A branch that was taken stands in its own block of the file: what follows around it goes one by one.
        outside = [s for s in tail[1:] if s.col_offset != tail[0].col_offset]
        self.context.edits.extend(DropStatement(span(s)) for s in outside)
        for statement in tail:
            self._forget(statement)
        self.context.decide(tail[0], "dead-code", {"dead-code"}, "removed", extent(tail))

    def _replace_removed(self, node: ast.stmt, removed: Removed) -> Body:
        if removed.eager and (self.kind == "function" or runs_something(node)):
            self.context.escape(node, removed)
            return [node]
        if removed.missing and (self.kind != "function" or not fails_first(node, self.scope)):
            return [node]
        self._forget(node)
        lines = extent([node])
        if self.kind != "function":
            self.context.edits.append(DropStatement(span(node)))
            self.context.decide(node, "use", {removed.rule}, "removed", lines)
            return []
        self.context.edits.append(Raise(span(node), message(removed), removed.error))
        self.context.decide(node, "use", {removed.rule}, "raises", lines)
        call = ast.Call(ast.Name(removed.error, ast.Load()), [ast.Constant(message(removed))], [])
        return [ast.fix_missing_locations(ast.copy_location(ast.Raise(call, None), node))]

    def _forget(self, node: ast.AST) -> None:
        self.context.forget(node)

    def _drop(self, node: ast.stmt, rules: set[str] | frozenset[str], kind: str) -> tuple[Body, bool]:
        self._forget(node)
        self.context.edits.append(DropStatement(span(node)))
        self.context.decide(node, kind, rules, "removed", extent([node]))
        return [], True

    # Dispatch

    def _statement(self, node: ast.stmt) -> tuple[Body, bool]:
        """Folded statements, and whether control flow after them may have changed."""
        match node:
            case ast.If():
                return self._if(node)
            case ast.While():
                return self._while(node)
            case ast.Try():
                return self._try(node)
            case ast.Import():
                return self._import(node)
            case ast.ImportFrom():
                return self._import_from(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return self._function(node)
            case ast.ClassDef():
                return self._class(node)
            case ast.Assert():
                return self._assert(node)
            case ast.For() | ast.AsyncFor():
                node.iter = self.expressions.fold(node.iter)
                node.body = self._filled(self.block(node.body))
                self._orelse(node)
                return [node], False
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    item.context_expr = self.expressions.fold(item.context_expr)
                node.body = self._filled(self.block(node.body))
                return [node], True
            case ast.AnnAssign():
                return self._annotated(node)
            case ast.Assign(targets=[ast.Name(id="__all__")]) | ast.AugAssign(target=ast.Name(id="__all__")):
                self._exports(node.value)
                return [node], False
            case ast.Match():
                if not drop_cases(self.context, self.scope, node):
                    return [], True
                node.subject = self.expressions.fold(node.subject)
                for case in node.cases:
                    if case.guard is not None:
                        case.guard = self.expressions.fold(case.guard, condition=True)
                    case.body = self._filled(self.block(case.body))
                return [node], False
            case ast.Assign(targets=[ast.Name(id=name)]) if (
                member := self._member(name)
            ) is not None and not is_counted(node.value):
                return self._drop(node, {member.rule}, "member")
            case ast.Assign(targets=[ast.Name(id=name)]):
                self._asked_table(name, node.value)
                node.value = self.expressions.fold_rows(node.value)
                return [node], False
            case ast.Expr():
                filed = registration(node.value, self.scope)
                if filed is not None:
                    return self._drop(node, {filed.rule}, "registration")
                value = self.expressions.fold(node.value)
                if isinstance(value, ast.Constant) and value is not node.value:
                    return self._drop(node, {"no-effect"}, "call")
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

    def _member(self, name: str) -> Removed | None:
        removed = self.context.environment.removed_member(f"{self.owner}.{name}") if self.kind == "class" else None
        # `DEFAULT = GONE`, `self.GONE`: the class itself reads it in a way that is not folded, or an f-string does.
        read = name in self.own_reads or name in self.context.environment.shown
        return None if read else removed

    def _asked_table(self, name: str, value: ast.expr) -> None:
        """A collection that a rule says is only asked for texts of a domain, itself or within a call that makes one."""
        domain = self.context.environment.domain(f"{self.owner or self.context.module}.{name}", "tables")
        if domain is None:
            return
        for table in (value, *(value.args if isinstance(value, ast.Call) else ())):
            if isinstance(table, ast.Dict):
                drop_rows(self.context, self.scope, table, domain)
            elif isinstance(table, ast.Tuple | ast.List | ast.Set):
                drop_texts(self.context, self.scope, table, domain)

    def _filled(self, body: Body) -> Body:
        return body or [written_pass()]

    def _orelse(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        if node.orelse:
            folded = self.block(node.orelse)
            if not folded:
                self.context.edits.append(DropBlock(span(node), "orelse"))
            node.orelse = folded

    # Branches

    def _if(self, node: ast.If) -> tuple[Body, bool]:
        context = self.context
        elif_arm = context.is_elif(node)
        value = truth(node.test, self.scope)
        if value is None or not value.rules or not is_pure(node.test, self.scope):
            value = None
            decisions = len(context.decisions)
            test = self.expressions.fold(node.test, condition=True)
            if isinstance(test, ast.Constant) and test is not node.test:
                # Folding the parts decided the whole: a test for a removed class, say.
                rules = {r for d in context.decisions[decisions:] for r in d.rule.split("+")}
                value = Known(test.value, True, frozenset(rules))
        if value is not None:
            return self._decided(node, value, elif_arm)
        node.test = test
        body = self.block(node.body)
        orelse = self.block(node.orelse) if node.orelse else []
        if not body and not orelse and is_pure(node.test, self.scope):
            context.edits.append(self._emptied(node, elif_arm))
            context.decide(node, "if", {"emptied"}, "removed", extent([node]))
            return [], True
        if node.orelse and not orelse:
            context.edits.append(DropBlock(span(node), "orelse"))
        node.body, node.orelse = self._filled(body), orelse
        return [node], True

    def _decided(self, node: ast.If, value: Known, elif_arm: bool) -> tuple[Body, bool]:
        dead = node.orelse if value.truth else node.body
        self.context.decide_known(node, "elif" if elif_arm else "if", value, extent(dead), node.test)
        self._forget(node.test)
        for statement in dead:
            self._forget(statement)
        live = self.block(node.body if value.truth else node.orelse)
        taken = TakeBlock(span(node), "body" if value.truth else "orelse")
        self.context.edits.append(taken if live else self._emptied(node, elif_arm))
        self.context.taken.append((taken, list(live)))
        return live, True

    def _emptied(self, node: ast.If, elif_arm: bool) -> TakeBlock | DropStatement:
        # An `elif` arm cannot be dropped as a statement: it is its chain's else.
        return TakeBlock(span(node), "orelse") if elif_arm and not node.orelse else DropStatement(span(node))

    def _while(self, node: ast.While) -> tuple[Body, bool]:
        value = truth(node.test, self.scope)
        if value is not None and value.rules and not value.truth and not node.orelse and is_pure(node.test, self.scope):
            return self._drop(node, value.rules, "while")
        node.test = self.expressions.fold(node.test, condition=True)
        node.body = self._filled(self.block(node.body))
        self._orelse(node)
        return [node], False

    def _assert(self, node: ast.Assert) -> tuple[Body, bool]:
        value = truth(node.test, self.scope)
        if value is not None and value.rules and value.truth and is_pure(node.test, self.scope):
            return self._drop(node, value.rules, "assert")
        node.test = self.expressions.fold(node.test, condition=True)
        if node.msg is not None:
            node.msg = self.expressions.when_reached(node.msg)
        return [node], False

    def _try(self, node: ast.Try) -> tuple[Body, bool]:
        context = self.context
        failing = failing_import(node, self.scope)
        if failing is not None and not node.finalbody:
            index = next(i for i, h in enumerate(node.handlers) if catches_import_error(h))
            handler = node.handlers[index]
            uses_name = handler.name is not None and any(
                isinstance(n, ast.Name) and n.id == handler.name for s in handler.body for n in walk(s)
            )
            if not uses_name and not any(map(asks_for_exception, handler.body)):
                context.decide(node, "try", {failing}, "removed", extent(node.body), node.body[0])
                for statement in (*node.body, *node.orelse):
                    self._forget(statement)
                live = self.block(handler.body)
                live = [s for s in live if not isinstance(s, ast.Pass)]
                for statement in handler.body:
                    if isinstance(statement, ast.Pass) and live:
                        context.edits.append(DropStatement(span(statement)))
                taken = TakeBlock(span(node), f"handler:{index}")
                context.edits.append(taken if live else DropStatement(span(node)))
                context.taken.append((taken, list(live)))
                return live, True
            context.uncertain.append(
                Uncertain(
                    context.path, node.lineno, "import of an absent module fails, but its handler uses the exception"
                )
            )
        catches = any(catches_import_error(h) for h in node.handlers)
        context.catching += catches
        node.body = self._filled(self.block(node.body))
        context.catching -= catches
        kept: list[ast.ExceptHandler] = []
        for index, handler in enumerate(node.handlers):
            try:
                if handler.type is not None:
                    handler.type = self.expressions.fold(handler.type)
            except EvaluatesRemoved as poison:
                if poison.removed.missing:
                    kept.append(handler)
                    continue
                context.edits.append(DropBlock(span(node), f"handler:{index}"))
                context.decide(handler, "handler", {poison.removed.rule}, "removed", extent(handler.body))
                continue
            handler.body = self._filled(self.block(handler.body))
            kept.append(handler)
        if not kept and not node.finalbody:
            raise EvaluatesRemoved(Removed("removed-handlers", "only handlers of removed errors", "try"))
        node.handlers = kept
        if node.orelse:
            folded = self.block(node.orelse)
            if not folded:
                context.edits.append(DropBlock(span(node), "orelse"))
            node.orelse = folded
        if node.finalbody:
            node.finalbody = self._filled(self.block(node.finalbody))
        return [node], False

    # Imports

    def _not_installed(self, module: str) -> None:
        rule = self.context.environment.is_absent(module)
        if rule is not None and self.kind == "function" and not self.context.catching:
            raise EvaluatesRemoved(Removed(rule, "not installed beside CUDA", module, error="ImportError"))

    def _import(self, node: ast.Import) -> tuple[Body, bool]:
        self._not_installed(node.names[0].name)
        gone = [(a, r) for a in node.names if (r := self.context.environment.removed_module(a.name))]
        return self._without_aliases(node, [(a, r) for a, r in gone if r is not None])

    def _import_from(self, node: ast.ImportFrom) -> tuple[Body, bool]:
        source = absolute(node.module, node.level, self.context.package)
        if not node.level:
            self._not_installed(source)
        environment = self.context.environment
        gone: list[tuple[ast.alias, Removed]] = []
        for alias in node.names:
            value = environment.removed_module(source) if alias.name == "*" else environment.resolve(source, alias.name)
            if isinstance(value, Removed):
                gone.append((alias, value))
        return self._without_aliases(node, gone)

    def _without_aliases(
        self, node: ast.Import | ast.ImportFrom, gone: list[tuple[ast.alias, Removed]]
    ) -> tuple[Body, bool]:
        if not gone:
            return [node], False
        rules = {removed.rule for _, removed in gone}
        if len(gone) == len(node.names):
            return self._drop(node, rules, "import")
        for alias, removed in gone:
            self.context.edits.append(DropAlias(span(alias)))
            self.context.decide(alias, "import", {removed.rule}, "removed", 0)
        dropped = {id(alias) for alias, _ in gone}
        node.names = [a for a in node.names if id(a) not in dropped]
        return [node], False

    def _exports(self, value: ast.expr) -> None:
        """`__all__` loses the names that are gone: a star import would look for them."""
        if self.kind != "module" or not isinstance(value, ast.List | ast.Tuple):
            return
        kept: list[ast.expr] = []
        for item in value.elts:
            name = item.value if isinstance(item, ast.Constant) else None
            found = self.context.environment.resolve(self.context.module, name) if isinstance(name, str) else None
            if isinstance(found, Removed):
                self.context.edits.append(DropElement(span(item), type(value).__name__))
                self.context.decide(item, "export", {found.rule}, "removed", 0)
            else:
                kept.append(item)
        value.elts = kept

    # Definitions

    def _decorators(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        kept: list[ast.expr] = []
        for decorator in node.decorator_list:
            filed = registration(decorator, self.scope)
            if filed is not None and self.context.is_named_beside(node):
                # Others call it by its name: only its entry goes.
                self._forget(decorator)
                self.context.edits.append(DropElement(span(decorator), "decorator"))
                self.context.decide(decorator, "registration", {filed.rule}, "removed", 0)
            else:
                kept.append(self.expressions.fold(decorator))
        node.decorator_list = kept

    def _gone(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, removed: Removed) -> tuple[Body, bool]:
        """What becomes of a definition that a removed decorator, default or keyword stands at."""
        if removed.eager and removed.module and self.context.is_named_beside(node):
            self.context.escape(node, removed)
            return [node], False
        return self._drop(node, {removed.rule}, "definition")

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[Body, bool]:
        edits, decisions, touched = len(self.context.edits), len(self.context.decisions), set(self.context.touched)
        declared = declares(node)
        spare = copy.deepcopy(node) if declared or (self.context.may_yield(node) and is_generator(node)) else None
        generator = spare is not None and is_generator(spare)
        try:
            self._decorators(node)
            arguments = node.args
            arguments.defaults = [self.expressions.fold(d) for d in arguments.defaults]
            arguments.kw_defaults = [self.expressions.fold(d) if d is not None else None for d in arguments.kw_defaults]
        except EvaluatesRemoved as poison:
            if poison.removed.missing:
                raise
            return self._gone(node, poison.removed)
        for argument in (
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            arguments.vararg,
            arguments.kwarg,
        ):
            if argument is not None:
                fold_parameter(self.expressions, argument)
        if node.returns is not None:
            node.returns = fold_annotation(self.expressions, node.returns, "returns")
        scope = function_scope(node, self.scope, self.context.package)
        before = frozenset(scope.bindings.names)
        self.context.tables.update(local_tables(node.body, scope))
        node.body = self._filled(StatementFolder(self.context, scope, "function").block(node.body))
        self._poison_unbound(node, before, decisions)
        ended = generator and not is_generator(node)
        if spare is not None and (ended or rebinds(node, declared - declares(node))):
            # Without its only `yield` it would stop being a generator, without its `global` it would bind
            # another name: leave it as upstream wrote it.
            del self.context.edits[edits:]
            del self.context.decisions[decisions:]
            self.context.touched = touched
            self.context.uncertain.append(
                Uncertain(
                    self.context.path,
                    node.lineno,
                    f"folding would remove the only {'yield' if ended else 'global declaration'} of {node.name}",
                )
            )
            return [spare], False
        return [node], False

    def _poison_unbound(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, before: frozenset[str], decisions: int
    ) -> None:
        """Cut what reads a local name whose every binding is gone: it can only run where they ran."""
        while len(self.context.decisions) > decisions:
            after = function_scope(node, self.scope, self.context.package)
            lost = before - after.bindings.names.keys() - after.opaque - after.bindings.outer
            reads = {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
            lost &= reads
            if not lost:
                return
            rules = sorted({r for d in self.context.decisions[decisions:] for r in d.rule.split("+")})
            gone = {
                n: Removed("+".join(rules), "code of a branch that is never taken", f"{self.context.module}.{n}")
                for n in lost
            }
            self.context.warm(lost)
            before -= lost
            scope = shadowed(after, dict(gone))
            node.body = self._filled(StatementFolder(self.context, scope, "function").block(node.body))

    def _class(self, node: ast.ClassDef) -> tuple[Body, bool]:
        try:
            self._decorators(node)
            bases: list[ast.expr] = []
            gone: list[tuple[ast.expr, Removed]] = []
            for base in node.bases:
                try:
                    bases.append(self.expressions.fold(base))
                except EvaluatesRemoved as poison:
                    if poison.removed.missing:
                        raise
                    gone.append((base, poison.removed))
            if gone and not bases:
                return self._drop(node, {gone[0][1].rule}, "definition")
            for base, removed in gone:
                self.context.edits.append(DropElement(span(base), "ClassDef"))
                self.context.decide(base, "base", {removed.rule}, "removed", 0)
                # What the base defines may run for every instance: only a fact can say that it does not.
                if removed.module:
                    self.context.escape(node, removed)
            node.bases = bases
            for keyword in node.keywords:
                keyword.value = self.expressions.fold(keyword.value)
        except EvaluatesRemoved as poison:
            if poison.removed.missing:
                raise
            return self._gone(node, poison.removed)
        scope = LocalScope(self.scope, collect(node.body, self.context.package), frozenset(), is_class=True)
        inside = StatementFolder(self.context, scope, "class", f"{self.owner or self.context.module}.{node.name}")
        if self.context.environment.has_removed_members(inside.owner):
            inside.own_reads = reads_of_itself(node)
        node.body = self._filled(inside.block(node.body))
        return [node], False

    def _annotated(self, node: ast.AnnAssign) -> tuple[Body, bool]:
        if isinstance(node.target, ast.Name) and node.value is not None:
            self._asked_table(node.target.id, node.value)
        folded = fold_annotation(self.expressions, node.annotation, "variable")
        if folded is not None:
            node.annotation = folded
        if node.value is not None:
            rows = isinstance(node.target, ast.Name)
            node.value = self.expressions.fold_rows(node.value) if rows else self.expressions.fold(node.value)
        if not isinstance(node.target, ast.Name):
            node.target = self.expressions.fold(node.target)  # type: ignore[assignment]
        return [node], False
