"""Cases of a `match` that never run: what they match is nothing that the subject is."""

from __future__ import annotations

import ast

from shrinker.facts.evaluate import evaluate
from shrinker.facts.lattice import Domain, Known, Removed
from shrinker.facts.world import ValueScope


def never_matches(pattern: ast.pattern, subject: object, scope: ValueScope) -> frozenset[str] | None:
    """The rules by which a pattern never matches; None when it may.

    Args:
        pattern: of a `case`.
        subject: what is matched, as far as it is known.
        scope: where its names are looked up.
    """
    if isinstance(pattern, ast.MatchOr):
        found = [never_matches(p, subject, scope) for p in pattern.patterns]
        return None if any(r is None for r in found) else frozenset().union(*(r for r in found if r is not None))
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        return never_matches(pattern.pattern, subject, scope)
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
        return next((r for p in parts if (r := never_matches(p, None, scope)) is not None), None)
    if not isinstance(pattern, ast.MatchValue):
        return None
    value = evaluate(pattern.value, scope)
    if isinstance(value, Removed) and value.member:
        return frozenset({value.rule})
    if not isinstance(value, Known) or not value.exact:
        return None
    if isinstance(subject, Domain) and not subject.items and subject.excludes(value.value):
        return subject.rules
    if isinstance(subject, Known) and subject.exact and subject.rules and subject.value != value.value:
        return subject.rules
    return None
