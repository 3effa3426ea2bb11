"""Why something that upstream has at some lines is not in the generated tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from shrinker.ruleset import Ruleset
from shrinker.syntax.walk import children
from shrinker.values.folded import Decision, FoldedModule
from shrinker.values.graph import Removal

_PLACED = frozenset({"refusal"})
"""Kinds that take nothing away."""


def rule_of(
    path: str,
    line: int,
    end_line: int,
    folded: Mapping[str, FoldedModule],
    removed: Mapping[str, Removal],
    word: str = "",
    tree: ast.Module | None = None,
) -> str:
    """The rule, or several joined by ``+``; empty when nothing was decided there.

    Args:
        path: of the file.
        line: first line, 1-based.
        end_line: last line.
        folded: folded modules by path.
        removed: files that are not in the tree.
        word: what a decision on these lines speaks of, when one does.
        tree: the file's syntax, for the statements around the lines.
    """
    if path in removed:
        return removed[path].rule
    decisions = [d for d in folded[path].decisions if d.kind not in _PLACED] if path in folded else []
    own = [d for d in decisions if line <= d.line <= end_line]
    whole = [d for d in own if (word and word in d.text) or d.line + d.lines > end_line]
    if whole:
        return min(whole, key=_order).rule
    headers = set(_around(tree, line)) if tree is not None else set()
    around = [d for d in decisions if d.line < line and (d.line in headers or d.line + d.lines > end_line)]
    if around:
        return max(around, key=_order).rule
    return min(own, key=_order).rule if own else ""


def _around(tree: ast.Module, line: int) -> Iterator[int]:
    """First lines of the statements with blocks that hold the line."""
    stack: list[ast.AST] = [tree]
    while stack:
        for node in children(stack.pop()):
            if isinstance(node, ast.ExceptHandler | ast.match_case):
                stack.append(node)
            elif isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
                stack.append(node)
                if isinstance(node, ast.If | ast.While | ast.Try | ast.Match) and node.lineno < line:
                    yield node.lineno


def feature_of(rules: Ruleset, rule: str) -> str:
    """What a rule takes away, in words; empty for ``unreachable`` and what is no rule of the profile."""
    ids = set(rule.split("+"))
    named = [r.feature for r in rules.removes if r.id in ids] + [r.feature for r in rules.refusals if r.id in ids]
    return named[0] if named else ""


def _order(decision: Decision) -> tuple[int, str]:
    return decision.line, decision.rule
