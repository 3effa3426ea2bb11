"""`match`: cases that the subject never is, or whose guard never holds, go; so does a guard that always holds."""

from __future__ import annotations

import ast

from shrinker.facts.bound import never_matches
from shrinker.facts.effects import is_pure
from shrinker.facts.evaluate import evaluate, truth
from shrinker.facts.lattice import Value
from shrinker.facts.world import ValueScope
from shrinker.fold.constructs.branches import never_run
from shrinker.fold.context import Context, filled
from shrinker.fold.statements import Folded, StatementFolder, folds
from shrinker.syntax.ranges import extent, first_line, last_line, span
from shrinker.syntax.walk import walk
from shrinker.values.edits import DropBlock, DropElement, DropStatement, TakeBlock


@folds(ast.Match)
def fold_match(folder: StatementFolder, node: ast.Match) -> Folded:
    """Drop the cases that never run, fold the rest; of a `match` without any only an effect of its subject is left."""
    context, scope = folder.context, folder.scope
    subject = evaluate(node.subject, scope)
    kept, gone = _sorted(folder, node, subject)
    if not kept and not _stands_alone(node.subject) and not is_pure(node.subject, scope):
        # `match x := ask():`, which cannot be written without the `match`.
        kept, gone = node.cases, []
    for index, case, rules in gone:
        if kept:
            context.edits.append(DropBlock(span(node), f"case:{index}"))
        context.forget(case)
        first = case.body[0]
        rows = case.pattern.lineno, last_line(case.body)
        context.decide(first, "case", rules, "removed", rows[1] - rows[0] + 1, None, rows)
    if not kept:
        return _without_cases(folder, node)
    node.cases = kept
    node.subject = folder.expressions.fold(node.subject)
    for case in kept:
        case.pattern = _thinned(context, case.pattern, subject, scope)
        _fold_case(folder, case)
    return [node], False


_Gone = list[tuple[int, ast.match_case, frozenset[str]]]


def _sorted(folder: StatementFolder, node: ast.Match, subject: Value) -> tuple[list[ast.match_case], _Gone]:
    """Cases that may run, and those that never do with their place and rules. A guard that always holds goes."""
    context, scope = folder.context, folder.scope
    kept: list[ast.match_case] = []
    gone: _Gone = []
    closed: frozenset[str] | None = None
    for index, case in enumerate(node.cases):
        rules = closed or never_matches(case.pattern, subject, scope)
        guard = None
        if rules is None and case.guard is not None:
            guard = truth(case.guard, scope)
            if guard is None or not guard.rules or not is_pure(case.guard, scope):
                guard = None
            elif not guard.truth and not _captures(case.pattern):
                # What a pattern captures is bound before the guard is asked.
                rules = guard.rules
        if rules is not None:
            gone.append((index, case, rules))
            continue
        kept.append(case)
        if case.guard is not None and guard is not None and guard.truth:
            context.edits.append(DropElement(span(case.guard), "guard"))
            context.decide_known(case.guard, "guard", guard, 0)
            context.forget(case.guard)
            case.guard = None
            if _matches_all(case.pattern):
                # Python does not compile a case below one that matches everything.
                closed = guard.rules
    return kept, gone


def _fold_case(folder: StatementFolder, case: ast.match_case) -> None:
    if case.guard is not None:
        known = truth(case.guard, folder.scope)
        case.guard = folder.expressions.fold(case.guard, condition=True)
        if known is not None and known.rules and not known.truth:
            if not all(isinstance(s, ast.Pass) for s in case.body):
                rows = first_line(case.body[0]), last_line(case.body)
                folder.context.decide_known(case.guard, "guard", known, extent(case.body), None, rows)
            case.body = never_run(folder, case.body)
            return
    case.body = filled(folder.block(case.body))


def _without_cases(folder: StatementFolder, node: ast.Match) -> Folded:
    context = folder.context
    if is_pure(node.subject, folder.scope):
        context.forget(node.subject)
        context.edits.append(DropStatement(span(node)))
        return [], True
    subject = folder.expressions.fold(node.subject)
    context.edits.append(TakeBlock(span(node), "subject"))
    return [ast.copy_location(ast.Expr(subject), node)], True


def _stands_alone(node: ast.expr) -> bool:
    """True for an expression that is a statement without more parentheses than it has."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return not any(isinstance(part, ast.NamedExpr) for part in parts)


def _captures(pattern: ast.pattern) -> bool:
    """True for a pattern that binds a name."""
    return any(getattr(part, "rest", None) or getattr(part, "name", None) for part in walk(pattern))


def _matches_all(pattern: ast.pattern) -> bool:
    match pattern:
        case ast.MatchAs():
            return pattern.pattern is None or _matches_all(pattern.pattern)
        case ast.MatchOr():
            return _matches_all(pattern.patterns[-1])
        case _:
            return False


def _thinned(context: Context, pattern: ast.pattern, subject: object, scope: ValueScope) -> ast.pattern:
    """The pattern without the alternatives that never match; at least one of them does."""
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        pattern.pattern = _thinned(context, pattern.pattern, subject, scope)
    elif isinstance(pattern, ast.MatchSequence | ast.MatchMapping | ast.MatchClass):
        pattern.patterns = [_thinned(context, p, None, scope) for p in pattern.patterns]
        if isinstance(pattern, ast.MatchClass):
            pattern.kwd_patterns = [_thinned(context, p, None, scope) for p in pattern.kwd_patterns]
    if not isinstance(pattern, ast.MatchOr):
        return pattern
    found = [(p, never_matches(p, subject, scope)) for p in pattern.patterns]
    for alternative, rules in found:
        if rules is not None:
            context.drop_element(alternative, "MatchOr", "case", rules)
            context.forget(alternative)
    pattern.patterns = [p for p, rules in found if rules is None]
    return pattern if len(pattern.patterns) > 1 else pattern.patterns[0]
