"""The kinds of rule, one pydantic model each. A rule says what it fixes and why; it never says how."""

from shrinker.ruleset.models.closed_world import Absent, Domain, Fact, Label, Pure
from shrinker.ruleset.models.entry import Answer, Default, Dependent, Entry, Guard, Refusal
from shrinker.ruleset.models.evidence import Capability, Dropped, Leftover, Platform, Reach
from shrinker.ruleset.models.outside import Api, Companion, Distribution, Internal, Listing, Outside, Protocol
from shrinker.ruleset.models.reachability import Keep, Registry, Remove, Root, Shape, Walk
from shrinker.ruleset.models.rule import Claim, Rule
from shrinker.ruleset.models.ruleset import Budget, Profile, Ruleset

__all__ = [
    "Absent",
    "Answer",
    "Api",
    "Budget",
    "Capability",
    "Claim",
    "Companion",
    "Default",
    "Dependent",
    "Distribution",
    "Domain",
    "Dropped",
    "Entry",
    "Fact",
    "Guard",
    "Internal",
    "Keep",
    "Label",
    "Leftover",
    "Listing",
    "Outside",
    "Platform",
    "Profile",
    "Protocol",
    "Pure",
    "Reach",
    "Refusal",
    "Registry",
    "Remove",
    "Root",
    "Rule",
    "Ruleset",
    "Shape",
    "Walk",
]
