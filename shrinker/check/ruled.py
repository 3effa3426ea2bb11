"""A changed file and the rules: what they refute is gone, and what registers itself stays unless they say why."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shrinker.check import allowances
from shrinker.check.arms import standing_refuted
from shrinker.check.condition_evaluator import ConditionEvaluator
from shrinker.check.parsing import parsed
from shrinker.check.reader import symbols_of
from shrinker.check.registered import lost_registrations
from shrinker.check.rule_index import RuleIndex
from shrinker.check.symbols import ModuleSymbols
from shrinker.check.tokens import Tokens, split
from shrinker.values.outcome import Finding
from shrinker.values.upstream import module_name


@dataclass(frozen=True, slots=True)
class Pair:
    """A generated file and what it was made of."""

    symbols: ModuleSymbols
    generated: Sequence[Tokens]
    source: bytes
    upstream: Sequence[Tokens]
    defaults: allowances.Defaults
    theirs: ModuleSymbols | None = None
    """What upstream's file says, where that is known."""


@dataclass(frozen=True, slots=True)
class Ruled:
    """What was found of one file."""

    counts: dict[str, int]
    findings: tuple[Finding, ...]
    theirs: ModuleSymbols
    """Of upstream's file."""


def refuted_lines(root: Path, index: RuleIndex | None, path: str) -> list[tuple[int, int]]:
    """First and last line of each arm of upstream's file that by the rules never runs; none of a file that is not Python, nor
    without rules."""
    source = (root / path).read_bytes()
    tree = parsed(source, path)
    if tree is None or index is None:
        return []
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.NamedExpr):
            # What the test binds has no part in the answer.
            node.test = node.test.value
    arms = ConditionEvaluator(tree, split(source.decode("utf-8-sig")), module_name(path) or "", index).refuted()
    return [(arm[0].lineno, arm[-1].end_lineno or 0) for _, arm in arms]


def judge_by_rules(pair: Pair, index: RuleIndex) -> Ruled | None:
    """Judge a changed file by the rules; None when upstream's is not Python."""
    path = pair.symbols.path
    tree = parsed(pair.source, path)
    if tree is None:
        return None
    theirs = pair.theirs or symbols_of(tree, path)
    arms = list(ConditionEvaluator(tree, pair.upstream, pair.symbols.module or "", index).refuted())
    looked, standing = standing_refuted(
        pair.generated, arms, pair.source.decode("utf-8-sig"), pair.upstream, pair.defaults
    )
    registered, findings = lost_registrations(pair.symbols, theirs, arms, index)
    for each in standing:
        where = f"upstream's line {each.line} asks `{each.test}`, which the rules decide"
        message = f"{where}, and what then never runs stands here: {' '.join(each.tokens)[:100]}"
        findings.append(Finding("refuted arms", path, 0, message))
    return Ruled({"refuted arms": looked, "registrations": registered}, tuple(findings), theirs)
