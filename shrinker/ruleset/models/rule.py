"""What every rule has, and what every claim about the closed world has."""

from typing import ClassVar, Self

from packaging.version import Version
from pydantic import BaseModel, ConfigDict, Field, model_validator


class Table(BaseModel):
    """What a file of rules says in one place: no key of it is unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Rule(Table):
    """What every rule has."""

    decides: ClassVar[bool] = True
    """Whether the tree may be another one without it."""
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    """Its name in every report."""
    why: str = Field(min_length=10)
    """One or two sentences for the person who audits it."""
    optional: bool = False
    """True for a rule that need not match every upstream (names come and go); strict mode then says
    nothing.
    """
    since: str = ""
    """The first release that has what the rule names; strict mode says nothing of an earlier one.
    """
    until: str = ""
    """The last release that has it."""

    @model_validator(mode="after")
    def _known_releases(self) -> Self:
        for release in filter(None, (self.since, self.until)):
            Version(release)
        return self

    def may_idle(self, version: str | None) -> bool:
        """Tell whether the rule need not match anything in an upstream, by the release that this is
        (None: not known).
        """
        if version is None:
            return self.optional or bool(self.since or self.until)
        release = Version(version)
        early = bool(self.since) and release < Version(self.since)
        return self.optional or early or (bool(self.until) and release > Version(self.until))


class Claim(Rule):
    """What is said of the closed world, and why nothing that a run is given can make it false."""

    follows: tuple[str, ...] = ()
    """Ids of refusals, removals and other claims from which a person found that this follows.

    What is said of a flag itself needs a refusal all the same.
    """
    machine: bool = False
    """True: about the machine, its driver and what is installed on it. No run sets that."""


class Telling(Rule):
    """What decides nothing: it judges the tree, or tells of what is not in it or of the package
    index, whatever this upstream declares.
    """

    decides: ClassVar[bool] = False
