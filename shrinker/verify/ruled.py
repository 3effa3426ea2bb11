"""A changed file and the rules: what they refute is gone, and what registers itself stays unless they say why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shrinker.values.outcome import Finding
from shrinker.verify import allowances
from shrinker.verify.arms import standing_refuted
from shrinker.verify.claims import Claims
from shrinker.verify.deciding import Decider
from shrinker.verify.parsing import parsed
from shrinker.verify.reader import symbols_of
from shrinker.verify.registered import lost_registrations
from shrinker.verify.symbols import ModuleSymbols
from shrinker.verify.tokens import Tokens


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


def judge_by_rules(pair: Pair, claims: Claims) -> Ruled | None:
    """Judge a changed file by the rules; None when upstream's is not Python."""
    path = pair.symbols.path
    tree = parsed(pair.source, path)
    if tree is None:
        return None
    theirs = pair.theirs or symbols_of(tree, path)
    arms = list(Decider(tree, pair.upstream, pair.symbols.module or "", claims).refuted())
    looked, standing = standing_refuted(
        pair.generated, arms, pair.source.decode("utf-8-sig"), pair.upstream, pair.defaults
    )
    registered, findings = lost_registrations(pair.symbols, theirs, arms, claims)
    for each in standing:
        where = f"upstream's line {each.line} asks `{each.test}`, which the rules decide"
        message = f"{where}, and what then never runs stands here: {' '.join(each.tokens)[:100]}"
        findings.append(Finding("refuted arms", path, 0, message))
    return Ruled({"refuted arms": looked, "registrations": registered}, tuple(findings), theirs)
