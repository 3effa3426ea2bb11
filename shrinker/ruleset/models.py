"""The kinds of rule, one pydantic model each. A rule says what it fixes and why; it never says how."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, StrictBool


class Rule(BaseModel):
    """What every rule has."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    why: str = Field(min_length=10)
    """One or two sentences for the person who audits it."""
    optional: bool = False
    """True for a rule that need not match every upstream (names come and go); strict mode then says nothing."""


class Fact(Rule):
    """Something that has one value in the closed world.

    Patterns name definitions by qualified name (``sglang.**.is_hip``), never bare text.
    """

    calls: tuple[str, ...] = ()
    """Functions or methods whose call gives the value, whatever the arguments."""
    names: tuple[str, ...] = ()
    """Module-level names, or attributes of modules outside the tree (``torch.version.hip``)."""
    attributes: tuple[str, ...] = ()
    """Attributes and properties of classes (``sglang.srt.platforms.**.Platform.is_hip``)."""
    environment: tuple[str, ...] = ()
    """Environment variables, however they are read."""
    value: StrictBool | None = None
    """TOML has no null: leave it out for None."""
    exact: bool = True
    """False: only the truth of the value is known (a version string, a handle); it is never written as a literal."""


class Absent(Rule):
    """Modules outside the tree that are not installed: importing one raises ImportError."""

    modules: tuple[str, ...]


class Remove(Rule):
    """A feature that is off: its files go, and code that would evaluate one of their names raises a named error."""

    feature: str
    """In words: ``Ascend NPU backend``. Stands in the named error."""
    modules: tuple[str, ...] = ()
    """Patterns over dotted modules, submodules included."""
    paths: tuple[str, ...] = ()
    """Patterns over files and folders of upstream that are not modules."""
    unless: tuple[str, ...] = ()
    """Modules or paths that the patterns would take but that stay."""
    only_when_asked: tuple[str, ...] = ()
    """Qualified names that every run imports but that only run when the feature itself is asked for, checked
    by a person: a use becomes the named error. Without an entry here such a module is kept and listed."""


class Root(Rule):
    """Where reachability starts."""

    modules: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """Native or data files and folders that are roots themselves (``sgl-kernel/**`` …)."""


class Walk(Rule):
    """A registry that imports every module of a package, and the ones it finds in the closed world."""

    package: str
    keep: tuple[str, ...] = ()
    """Names below the package. Empty: the walk finds nothing."""


class Keep(Rule):
    """Kept although the graph may not reach it."""

    modules: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class Asset(Rule):
    """Files found at run time in a way the graph cannot read: kept together with a module."""

    paths: tuple[str, ...]
    needed_by: tuple[str, ...]
    """Modules (patterns); the files stay when one of them does."""


class Ruleset(BaseModel):
    """All rules that a profile includes, in file order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    facts: tuple[Fact, ...] = ()
    absents: tuple[Absent, ...] = ()
    removes: tuple[Remove, ...] = ()
    roots: tuple[Root, ...] = ()
    walks: tuple[Walk, ...] = ()
    keeps: tuple[Keep, ...] = ()
    assets: tuple[Asset, ...] = ()
    profile: str = ""
    digest: str = ""
    """SHA-256 over the included rule files."""

    def all_rules(self) -> tuple[Rule, ...]:
        """Every rule, in the order of the kinds."""
        return (*self.facts, *self.absents, *self.removes, *self.roots, *self.walks, *self.keeps, *self.assets)


class Profile(BaseModel):
    """`rules/profiles/<name>.toml`: which rule files make a profile."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    description: str
    include: tuple[str, ...]
