"""The rules in `rules/*.toml`: their models, strict loading, and matching of names."""

from shrinker.ruleset.load import load_profile
from shrinker.ruleset.match import module_matches, path_matches
from shrinker.ruleset.models import (
    Absent,
    Companion,
    Fact,
    Keep,
    Leftover,
    Platform,
    Profile,
    Pure,
    Registry,
    Remove,
    Root,
    Rule,
    Ruleset,
    Walk,
)
from shrinker.ruleset.without import with_rule, without

__all__ = [
    "Absent",
    "Companion",
    "Fact",
    "Keep",
    "Leftover",
    "Platform",
    "Profile",
    "Pure",
    "Registry",
    "Remove",
    "Root",
    "Rule",
    "Ruleset",
    "Walk",
    "load_profile",
    "module_matches",
    "path_matches",
    "with_rule",
    "without",
]
