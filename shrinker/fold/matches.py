"""`match`: cases that the subject never is go."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shrinker.facts.effects import is_pure
from shrinker.facts.evaluate import Scope, evaluate
from shrinker.facts.lattice import Domain, Known, Removed
from shrinker.fold.context import Context, span
from shrinker.fold.control import filled
from shrinker.values.edits import DropBlock, DropElement, DropStatement

if TYPE_CHECKING:
    from shrinker.fold.statements import Body, StatementFolder


def fold_match(folder: StatementFolder, node: ast.Match) -> tuple[Body, bool]:
    """Drop what never matches, fold the rest."""
    if not _drop_cases(folder.context, folder.scope, node):
        return [], True
    node.subject = folder.expressions.fold(node.subject)
    for case in node.cases:
        if case.guard is not None:
            case.guard = folder.expressions.fold(case.guard, condition=True)
        case.body = filled(folder.block(case.body))
    return [node], False


def _drop_cases(context: Context, scope: Scope, node: ast.Match) -> bool:
    """Cases of a `match` that its subject never is.

    Returns:
        False when no case is left and asking the subject has no effect: the statement goes.
    """
    subject = evaluate(node.subject, scope)
    kept: list[ast.match_case] = []
    gone: list[tuple[int, ast.match_case, frozenset[str]]] = []
    for index, case in enumerate(node.cases):
        rules = _never_matches(case.pattern, subject, scope)
        if rules is None:
            kept.append(case)
        else:
            gone.append((index, case, rules))
    if not kept and not is_pure(node.subject, scope):
        return True
    for case in kept:
        case.pattern = _thinned(context, case.pattern, subject, scope)
    if not gone:
        return True
    for index, case, rules in gone:
        if kept:
            context.edits.append(DropBlock(span(node), f"case:{index}"))
        context.forget(case)
        first = case.body[0]
        lines = (case.body[-1].end_lineno or first.lineno) - case.pattern.lineno + 1
        context.decide(first, "case", rules, "removed", lines)
    node.cases = kept
    if not kept:
        context.edits.append(DropStatement(span(node)))
    return bool(kept)


def _thinned(context: Context, pattern: ast.pattern, subject: object, scope: Scope) -> ast.pattern:
    """The pattern without the alternatives that never match; at least one of them does."""
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        pattern.pattern = _thinned(context, pattern.pattern, subject, scope)
    elif isinstance(pattern, ast.MatchSequence | ast.MatchMapping | ast.MatchClass):
        pattern.patterns = [_thinned(context, p, None, scope) for p in pattern.patterns]
        if isinstance(pattern, ast.MatchClass):
            pattern.kwd_patterns = [_thinned(context, p, None, scope) for p in pattern.kwd_patterns]
    if not isinstance(pattern, ast.MatchOr):
        return pattern
    found = [(p, _never_matches(p, subject, scope)) for p in pattern.patterns]
    for alternative, rules in found:
        if rules is not None:
            context.edits.append(DropElement(span(alternative), "MatchOr"))
            context.decide(alternative, "case", rules, "removed", 0)
            context.forget(alternative)
    pattern.patterns = [p for p, rules in found if rules is None]
    return pattern if len(pattern.patterns) > 1 else pattern.patterns[0]


def _never_matches(pattern: ast.pattern, subject: object, scope: Scope) -> frozenset[str] | None:
    if isinstance(pattern, ast.MatchOr):
        found = [_never_matches(p, subject, scope) for p in pattern.patterns]
        return None if any(r is None for r in found) else frozenset().union(*(r for r in found if r is not None))
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        return _never_matches(pattern.pattern, subject, scope)
    if isinstance(pattern, ast.MatchSequence | ast.MatchMapping | ast.MatchClass):
        parts = list(pattern.patterns)
        if isinstance(pattern, ast.MatchClass):
            asked = evaluate(pattern.cls, scope)
            if isinstance(asked, Removed):
                # Nothing in the closed world is an instance of a class that is not in it.
                return None if asked.missing else frozenset({asked.rule})
            parts += pattern.kwd_patterns
        elif isinstance(pattern, ast.MatchMapping):
            values = [evaluate(k, scope) for k in pattern.keys]
            if (member := next((v for v in values if isinstance(v, Removed) and v.member), None)) is not None:
                return frozenset({member.rule})
        return next((r for p in parts if (r := _never_matches(p, None, scope)) is not None), None)
    if not isinstance(pattern, ast.MatchValue):
        return None
    value = evaluate(pattern.value, scope)
    if isinstance(value, Removed) and value.member:
        return frozenset({value.rule})
    if not isinstance(value, Known) or not value.exact:
        return None
    if isinstance(subject, Domain) and value.value in subject.never:
        return subject.rules
    if isinstance(subject, Known) and subject.exact and subject.rules and subject.value != value.value:
        return subject.rules
    return None
