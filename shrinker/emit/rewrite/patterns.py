"""DropElement on a `case`: alternatives of its pattern, or its guard."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from shrinker.emit.rewrite.gaps import NOTHING
from shrinker.emit.rewrite.sites import Sites

Action = Callable[[cst.CSTNode], cst.CSTNode]


def find_alternatives(node: cst.MatchOr, sites: Sites) -> Action | None:
    """The action for the dropped alternatives of a pattern; None when all of them stay."""
    gone = frozenset(i for i, e in enumerate(node.patterns) if sites.element("MatchOr", e, *_stands_for(e.pattern)))
    if not gone:
        return None
    if len(gone) == len(node.patterns):
        raise sites.error(node, "no alternative of a pattern is left")

    def act(updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.MatchOr)
        kept = [e for i, e in enumerate(updated.patterns) if i not in gone]
        kept[-1] = kept[-1].with_changes(separator=cst.MaybeSentinel.DEFAULT)
        # One alternative that is left is written as itself, within the same parentheses.
        return updated.with_changes(patterns=kept)

    return act


def find_guard(node: cst.MatchCase, sites: Sites) -> Action | None:
    """The action for the `if` part of a `case`; None when it stays."""
    if node.guard is None or not sites.element("guard", node.guard):
        return None
    return lambda updated: updated.with_changes(guard=None, whitespace_before_if=NOTHING, whitespace_after_if=NOTHING)


def _stands_for(pattern: cst.MatchPattern) -> tuple[cst.CSTNode, ...]:
    # The parentheses around a value are outside the span that `ast` gives the pattern.
    return (pattern, pattern.value) if isinstance(pattern, cst.MatchValue) else (pattern,)
