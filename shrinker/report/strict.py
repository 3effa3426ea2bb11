"""Strict mode: a rule that no longer says anything about this upstream, and a root that is not there."""

from __future__ import annotations

from collections.abc import Sequence

from shrinker.report.effects import RuleEffect
from shrinker.ruleset import Ruleset
from shrinker.values.outcome import Finding


def strict_findings(
    rules: Ruleset, effects: Sequence[RuleEffect], missing_roots: Sequence[tuple[str, str]]
) -> list[Finding]:
    """What strict mode refuses.

    Args:
        rules: the profile's rules.
        effects: what each rule did.
        missing_roots: rule id and module of each root that the tree does not have.
    """
    optional = {rule.id for rule in rules.all_rules() if rule.optional}
    found = [
        Finding(
            "missing-root", module, 0, f"root of rule {rule} is not in this upstream: rename it in rules/roots.toml"
        )
        for rule, module in missing_roots
        if rule not in optional
    ]
    found += [
        Finding(
            "unmatched-rule",
            e.id,
            0,
            "the rule matches nothing in this upstream: mend it, or mark it `optional = true`",
        )
        for e in effects
        if e.idle and e.id not in optional
    ]
    return found
