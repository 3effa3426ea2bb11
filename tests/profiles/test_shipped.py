"""The shipped profiles, from the widest to the narrowest: each takes away more, and only more."""

from __future__ import annotations

from itertools import pairwise

import pytest

from shrinker.project import RULES_FOLDER
from shrinker.ruleset.load import load_profile, load_rules
from shrinker.ruleset.models import Api, Remove, Root, Walk

PROGRAMS = ("package/operators.toml", "package/environment.toml")
PROFILES = ("deepseek", "deepseek-r1-nvfp4", "deepseek-r1-minimal")

REMOVED_BY = {
    "refuse-reasoning-parsers": ("reasoning-parsers",),
    "refuse-tool-call-parsers": ("tool-call-parsers",),
    "refuse-rope-types": ("rope-types",),
    "refuse-minimal-moe-runners": ("minimal-moe-runners",),
    "refuse-chosen-moe-runners": ("minimal-moe-runners",),
}
"""Refusals in whose words no `remove` rule speaks, and the rules that take away what they refuse."""


def test_the_profiles_are_those() -> None:
    assert {path.stem for path in (RULES_FOLDER / "profiles").glob("*.toml")} == {*PROFILES, "qwen3"}


@pytest.mark.parametrize(("wide", "narrow"), list(pairwise(PROFILES)))
def test_a_narrower_profile_has_all_rules_of_the_wider_one(wide: str, narrow: str) -> None:
    before = {rule.id: rule for rule in load_profile(wide).all_rules()}
    after = {rule.id: rule for rule in load_profile(narrow).all_rules()}
    gone = {name: rule for name, rule in before.items() if after.get(name) != rule}
    # A rule that only keeps may go, when the narrower profile removes what it keeps.
    assert all(isinstance(rule, Api | Root | Walk) for rule in gone.values()), gone
    removed = [
        m for name, rule in after.items() if name not in before and isinstance(rule, Remove) for m in rule.modules
    ]
    kept = {m for rule in gone.values() if isinstance(rule, Root) for m in rule.modules}
    kept |= {f"{rule.package}.{m}" for rule in gone.values() if isinstance(rule, Walk) for m in rule.keep}
    # A program beside the server may stay for what it defines: running it is a named error.
    programs = {m for path in PROGRAMS for rule in load_rules([RULES_FOLDER / path]).roots for m in rule.modules}
    assert (kept - programs).issubset(removed)
    assert len(after) > len(before)


@pytest.mark.parametrize("profile", PROFILES)
def test_what_is_refused_is_taken_away(profile: str) -> None:
    rules = load_profile(profile)
    features = {rule.feature for rule in rules.removes}
    never = {text for rule in rules.domains for text in rule.never}
    takes = {rule.id for rule in (*rules.removes, *rules.domains, *rules.facts)}
    listed = set()
    for refusal in rules.refusals:
        if refusal.feature in features or (refusal.values and never.issuperset(refusal.values)):
            continue
        listed.add(refusal.id)
        assert takes.issuperset(REMOVED_BY[refusal.id]), refusal.id
    if profile == PROFILES[-1]:
        assert listed == REMOVED_BY.keys(), "an entry that no refusal needs"
