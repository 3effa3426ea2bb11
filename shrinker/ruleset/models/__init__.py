"""The kinds of rule, one pydantic model each: a rule says what it fixes and why, never how.

Here all rules of a profile, and the profile.
"""

from typing import Self

from pydantic import Field, model_validator

from shrinker.ruleset.models.closed_world import (
    Absent,
    Domain,
    Fact,
    Keep,
    Label,
    Pure,
    Registry,
    Remove,
    Root,
    Walk,
)
from shrinker.ruleset.models.closed_world import Shape as Shape
from shrinker.ruleset.models.entry import Answer, Default, Dependent, Entry, Guard, Refusal
from shrinker.ruleset.models.evidence import Capability, Dropped, Leftover, Platform, Reach
from shrinker.ruleset.models.outside import (
    Api,
    Companion,
    Distribution,
    Internal,
    Listing,
    Outside,
    Protocol,
)
from shrinker.ruleset.models.rule import Claim as Claim
from shrinker.ruleset.models.rule import Rule, Table


class Budget(Table):
    """What a profile's tree may come to when upstream moves; a bump that exceeds it fails."""

    lines: int | None = None
    """Of Python, in the whole tree."""
    distributions: int | None = None
    """That the package requires beyond those of the tree before."""
    forbidden: tuple[str, ...] = ()
    """Distributions and packages that the new tree may not newly require or import."""


class Kinds(Table):
    """The rules of each kind, in file order."""

    facts: tuple[Fact, ...] = ()
    domains: tuple[Domain, ...] = ()
    pures: tuple[Pure, ...] = ()
    labels: tuple[Label, ...] = ()
    absents: tuple[Absent, ...] = ()
    removes: tuple[Remove, ...] = ()
    roots: tuple[Root, ...] = ()
    walks: tuple[Walk, ...] = ()
    registries: tuple[Registry, ...] = ()
    keeps: tuple[Keep, ...] = ()
    defaults: tuple[Default, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    entries: tuple[Entry, ...] = ()
    dependents: tuple[Dependent, ...] = ()
    companions: tuple[Companion, ...] = ()
    guards: tuple[Guard, ...] = ()
    answers: tuple[Answer, ...] = ()
    distributions: tuple[Distribution, ...] = ()
    listings: tuple[Listing, ...] = ()
    platforms: tuple[Platform, ...] = ()
    leftovers: tuple[Leftover, ...] = ()
    protocols: tuple[Protocol, ...] = ()
    outsides: tuple[Outside, ...] = ()
    apis: tuple[Api, ...] = ()
    internals: tuple[Internal, ...] = ()
    reaches: tuple[Reach, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    dropped: tuple[Dropped, ...] = ()


class Ruleset(Kinds):
    """All rules that a profile includes."""

    scope: tuple[str, ...] = ()
    """Ids of rules about what is served, see `load_profile`."""
    budget: Budget = Budget()
    profile: str = ""
    digest: str = ""
    """SHA-256 over the included rule files."""
    places: dict[str, str] = Field(default_factory=dict)
    """Rule id to ``file:line``."""

    @property
    def undefined(self) -> dict[str, str]:
        """Macros that no build defines, each with the fact that says so."""
        return {name: fact.id for fact in self.facts for name in fact.macros}

    def walked(self) -> dict[str, tuple[str, ...]]:
        """By package, the names below it that a walk over it finds: several rules of one package
        add up.
        """
        found: dict[str, tuple[str, ...]] = {}
        for rule in self.walks:
            found[rule.package] = (*found.get(rule.package, ()), *rule.keep)
        return found

    def by_id(self) -> dict[str, Rule]:
        """Return every rule of every kind, in the order of the kinds."""
        return {rule.id: rule for field in Kinds.model_fields for rule in getattr(self, field)}

    def all_rules(self) -> tuple[Rule, ...]:
        """Return every rule that decides something about the tree, in the order of the kinds."""
        return tuple(rule for rule in self.by_id().values() if rule.decides)


class Profile(Table):
    """`rules/profiles/<name>.toml`: which rule files make a profile."""

    description: str
    extends: str = ""
    """Another profile, whose files come first and whose budget counts where this one has none."""
    include: tuple[str, ...] = ()
    """Rule files without ``.toml``, and folders of them, below the folder of rules."""
    drop: tuple[str, ...] = ()
    """Files and folders of the extended profile that this one does without."""
    budget: Budget = Budget()

    @model_validator(mode="after")
    def _some_rules(self) -> Self:
        if not self.extends and "include" not in self.model_fields_set:
            raise ValueError("give `include`, `extends` or both")
        return self
