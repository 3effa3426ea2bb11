"""The kinds of rule, one pydantic model each. A rule says what it fixes and why; it never says how."""

from __future__ import annotations

from typing import Literal, Self

from packaging.version import Version
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, model_validator

from shrinker.ruleset.match import any_name_matches
from shrinker.values.leftovers import Kind, Position


class Rule(BaseModel):
    """What every rule has."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    """Its name in every report."""
    why: str = Field(min_length=10)
    """One or two sentences for the person who audits it."""
    optional: bool = False
    """True for a rule that need not match every upstream (names come and go); strict mode then says nothing."""
    since: str = ""
    """The first release that has what the rule names; strict mode says nothing of an earlier one."""
    until: str = ""
    """The last release that has it."""

    @model_validator(mode="after")
    def _known_releases(self) -> Self:
        for release in filter(None, (self.since, self.until)):
            Version(release)
        return self

    def may_idle(self, version: str | None) -> bool:
        """Whether the rule need not match anything in an upstream, by the release that this is (None: not known)."""
        if version is None:
            return self.optional or bool(self.since or self.until)
        release = Version(version)
        early = bool(self.since) and release < Version(self.since)
        return self.optional or early or (bool(self.until) and release > Version(self.until))


class Claim(Rule):
    """What is said of the closed world, and why nothing that a run is given can make it false."""

    follows: tuple[str, ...] = ()
    """Ids of refusals, removals and other claims from which a person found that this follows. What is said of a flag itself
    needs a refusal all the same."""
    machine: bool = False
    """True: about the machine, its driver and what is installed on it. No run sets that."""


class Fact(Claim):
    """Something that has one value in the closed world.

    Patterns name definitions by qualified name (``sglang.**.is_hip``), never bare text.
    """

    calls: tuple[str, ...] = ()
    """Functions or methods whose call gives the value, whatever the arguments. ``.is_hip`` is a method of any
    receiver that is not resolved."""
    names: tuple[str, ...] = ()
    """Module-level names, attributes of modules outside the tree (``torch.version.hip``), and variables, parameters and
    attributes that do not resolve, as they are written below their module (``sglang.**.use_npu_communicator``)."""
    attributes: tuple[str, ...] = ()
    """Attributes and properties of classes (``sglang.srt.platforms.**.Platform.is_hip``). ``f()`` within a name is
    what calling `f` returns; ``.is_hip`` is an attribute of any receiver that is not resolved."""
    environment: tuple[str, ...] = ()
    """Environment variables, however they are read."""
    value: StrictBool | StrictInt | str | None = None
    """TOML has no null: leave it out for None. A number decides comparisons; it is never written as a literal."""
    exact: bool = True
    """False: only the truth of the value is known (a version string, a handle); it is never written as a literal."""


class Domain(Claim):
    """Texts that something never is in the closed world (``ServerArgs.device`` is never ``"npu"``), or all that it may be."""

    names: tuple[str, ...] = ()
    """Variables, parameters and attributes that hold such a text. A name is matched as it is written, below its
    module: ``sglang.**.device`` is a variable `device` as well as `self.device` or `x.y.device`."""
    lists: tuple[str, ...] = ()
    """Variables, parameters and attributes that hold a list, tuple or set of such texts, named in the same way."""
    calls: tuple[str, ...] = ()
    """Functions that return such a text and do nothing else."""
    tables: tuple[str, ...] = ()
    """Dictionaries that are only asked for such a text: rows of texts that it never is go."""
    registers: tuple[str, ...] = ()
    """Functions and decorators that only file something under such a text: their first argument, or the `name` that it
    is made with (``register(Template(name="chatml"))``)."""
    never: tuple[str, ...] = ()
    """Texts that it never is."""
    only: tuple[str, ...] = ()
    """Instead of `never`: the texts that it may be. It is none of all others, and what is not a text is left open."""

    @model_validator(mode="after")
    def _one_kind(self) -> Domain:
        if bool(self.never) is bool(self.only):
            raise ValueError("give exactly one of `never` and `only`")
        return self


class Pure(Rule):
    """Functions of the tree that only answer: a call whose result is not needed may go."""

    calls: tuple[str, ...]
    """The functions, or methods of any receiver (``.get_kvcache``)."""
    boolean: bool = False
    """They answer `True` or `False` and nothing else, so that `f() and False` is `False` even as a value."""


class Label(Rule):
    """Texts that are shown, counted or compared and never name an attribute (``"forward_" + mode`` of a metric)."""

    modules: tuple[str, ...]
    """Where the text is written."""
    texts: tuple[str, ...]
    """The text, each computed part written ``*``. One without is only for the search of symbols."""


class Absent(Rule):
    """What is outside the tree and not installed: importing such a module raises ImportError, reading such an
    attribute AttributeError."""

    modules: tuple[str, ...] = ()
    """Patterns over dotted modules, submodules included."""
    attributes: tuple[str, ...] = ()
    """Attributes of modules that are installed (``torch.npu``); only whole names, no patterns."""


class Remove(Rule):
    """A feature that is off: its files go, and code that would evaluate one of their names raises a named error."""

    feature: str
    """In words: ``Ascend NPU backend``. Stands in the named error."""
    modules: tuple[str, ...] = ()
    """Patterns over dotted modules, submodules included."""
    members: tuple[str, ...] = ()
    """Members of enumerations (``sglang.**.Backend.ASCEND``): no value of the closed world equals one."""
    definitions: tuple[str, ...] = ()
    """Functions and classes at module level (``sglang.**.http_server.ollama_chat``), the last name without ``*``: the
    definition goes, with the decorators that register it. Of a method (``sglang.**.Scheduler.load_lora_adapter``) the
    body goes: calling it is the named error."""
    paths: tuple[str, ...] = ()
    """Patterns over files and folders of upstream that are not modules."""
    extras: tuple[str, ...] = ()
    """Patterns over the package's extras (``srt-*-hip``), their names normalised."""
    unless: tuple[str, ...] = ()
    """Modules or paths that the patterns would take but that stay."""
    only_when_asked: tuple[str, ...] = ()
    """Qualified names that every run imports but that only run when the feature itself is asked for, checked
    by a person: a use becomes the named error. Without an entry here such a module is kept and listed."""


class Root(Rule):
    """Where reachability starts."""

    modules: tuple[str, ...] = ()
    """Modules that people run or import, by their whole names."""
    paths: tuple[str, ...] = ()
    """Native or data files and folders that are roots themselves (``sgl-kernel/**`` …)."""


class Walk(Rule):
    """A registry that imports every module of a package, and the ones it finds in the closed world."""

    package: str
    """The dotted package."""
    keep: tuple[str, ...] = ()
    """Names below the package; several rules of one package add up. Empty: the walk finds nothing."""


class Keep(Rule):
    """Kept although the graph may not reach it."""

    modules: tuple[str, ...] = ()
    """Patterns over dotted modules."""
    paths: tuple[str, ...] = ()
    """Patterns over files and folders of upstream."""


class Asset(Rule):
    """Files found at run time in a way the graph cannot read: kept together with a module."""

    paths: tuple[str, ...]
    """Patterns over the files."""
    needed_by: tuple[str, ...]
    """Modules (patterns); the files stay when one of them does."""


class Refusal(Rule):
    """A run that asks for something removed ends at once: the generated tree looks at an argument where a function
    begins, and raises the named error."""

    feature: str
    """In words, as it stands in the error."""
    function: str | tuple[str, ...]
    """Patterns over the functions that look (``sglang.srt.server_args.ServerArgs.__post_init__``). Of several, one whose
    body is nothing but a docstring has nothing to look before."""
    argument: str = "self"
    """The parameter that is looked at."""
    attribute: str | tuple[str, ...]
    """Attributes of that argument, dotted where one is an attribute of an attribute, or a key of a dictionary; the empty
    text for the argument itself. An attribute that is not there refuses nothing."""
    values: tuple[str, ...] = ()
    """Values that are refused; each item of a list, and each key of a dictionary, counts as a value."""
    only: tuple[str, ...] = ()
    """Values that are not refused: all others are, but None, false and the empty text."""
    set: bool = False
    """True: any value but None, false and the empty text is refused."""
    any_case: bool = False
    """True: small and capital letters count alike, as where upstream asks for the capital ones."""
    domain: str = ""
    """Id of a `domain` rule: what it says is never chosen is refused, or all but what it says may be."""
    instead: str = Field(min_length=10)
    """What to do, for the person who reads the error."""

    @model_validator(mode="after")
    def _one_kind(self) -> Refusal:
        if bool(self.values) + bool(self.only) + self.set + bool(self.domain) != 1:
            raise ValueError("give exactly one of `values`, `only`, `domain` and `set = true`")
        return self

    @property
    def functions(self) -> tuple[str, ...]:
        """Which functions look."""
        return (self.function,) if isinstance(self.function, str) else self.function

    @property
    def attributes(self) -> tuple[str, ...]:
        """What is looked at."""
        return (self.attribute,) if isinstance(self.attribute, str) else self.attribute


class Entry(Rule):
    """Where something comes in from outside: a fact about it needs a refusal. Profiles without such rules are not asked for any."""

    kind: Literal["flag", "request"]
    """What sets it: a command line, or a request."""
    classes: tuple[str, ...] = Field(min_length=1)
    """Patterns over classes: the fields that their bodies annotate are what is set."""
    held: tuple[str, ...] = ()
    """Last names of what holds an object of a class of flags (``server_args``), with ``()`` where a call gives it."""
    apart: tuple[str, ...] = ()
    """Modules that run no such server, submodules included: that they read a flag does not count."""


class Dependent(Rule):
    """Flags of which upstream reads nothing unless something else was asked for, which is refused: without it they do nothing
    there either, so that no run loses what they do."""

    flags: tuple[str, ...] = Field(min_length=1)
    """Fields of a class of flags; a star stands for any text."""
    on: tuple[str, ...] = Field(min_length=1)
    """Ids of those refusals."""


class Guard(Rule):
    """Where the generated tree starts to look at imports: one of a module that was removed ends with the named error."""

    module: str
    """The module, as a rule the package itself, whose first line it becomes."""


class Answer(Rule):
    """Where the generated server is given its application before it answers: requests for endpoints that were removed
    are answered with the named error from then on."""

    function: str
    """Pattern over the functions that look (``sglang.srt.entrypoints.http_server.lifespan``)."""
    argument: str
    """The parameter that holds the application."""

    @property
    def functions(self) -> tuple[str, ...]:
        """Which functions look."""
        return (self.function,)


class Default(Rule):
    """What takes over where upstream would choose something removed by itself."""

    where: tuple[str, ...] = Field(min_length=1)
    """Patterns over functions and classes: the text is replaced where one of them assigns, returns or hands it on, and
    where it is the default of a parameter or field. Texts that are compared or listed are left alone."""
    text: str = Field(min_length=1)
    """The text that upstream would choose."""
    by: str = Field(min_length=1)
    """The text that takes its place."""


class Companion(Rule):
    """A package that travels beside the served one, and whose Python is folded by the same facts. Which of its files
    are kept is for `root` and `keep` rules to say."""

    folder: str = Field(pattern=r"^[^/](.*[^/])?$")
    """Of the package itself, in the layout of upstream's repository; its last component is the package's name."""


class Distribution(Rule):
    """What is known of a distribution of the package index that its name does not say."""

    name: str
    """As it is declared; case, dots, dashes and underscores count alike."""
    imports: tuple[str, ...] = ()
    """Modules that it installs (``zmq`` of ``pyzmq``), dotted where several distributions share a package. Without them
    the module is taken to have the distribution's own name."""
    commands: tuple[str, ...] = ()
    """Programs that it installs and that code may start (``py-spy``)."""
    needed_by: tuple[str, ...] = ()
    """Distributions or modules that load it without an import in the tree: it stays when one of them does."""
    always: StrictBool = False
    """True: it stays in any case."""


class Listing(Rule):
    """Modules that only list distributions, to show their versions: a name there is no use of it."""

    modules: tuple[str, ...] = Field(min_length=1)
    """Patterns over dotted modules."""


class Platform(Rule):
    """A platform, for the judge of the generated tree: the words by which one sees a trace of it."""

    words: tuple[str, ...] = Field(min_length=1)
    """Lower-case words within identifiers and strings (``npu`` is in ``forward_npu`` and in ``NPUEnv``, not in
    ``input``); ``*`` stands for any text."""
    predicates: tuple[str, ...] = ()
    """Whole identifiers that ask for it without such a word and that no fact names."""
    own: bool = False
    """True for the platform that is served, and for what every platform has: a predicate with such a word is no
    suspect."""


class Leftover(Rule):
    """Why a trace of another platform in the generated tree is right. All keys that are given must hold."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, use_attribute_docstrings=True)

    kind: tuple[Kind, ...] = ()
    """Kinds of traces (`values.leftovers.Kind`)."""
    positions: tuple[Position, ...] = Field((), alias="in")
    """Places in the syntax (`values.leftovers.Position`)."""
    words: tuple[str, ...] = ()
    """The whole text of the leftover, or one component of its dotted name; ``*`` stands for any text."""
    where: tuple[str, ...] = ()
    """Patterns over modules and qualified definitions, what is inside included."""
    idle: bool | None = None
    """True: only what no kept code names, and what stands inside it."""


class Protocol(Rule):
    """Methods that a base outside the tree calls on objects of the classes that inherit from it. A base without such a
    rule may call any."""

    bases: tuple[str, ...] = Field(min_length=1)
    """Qualified names; ``builtins.*`` for every base of a module."""
    calls: tuple[str, ...] = ()
    """Names that it looks up; those with two underscores on both sides need not be listed."""


class Outside(Rule):
    """What is known of packages outside the tree."""

    inert: tuple[str, ...] = ()
    """Packages whose import does nothing that other code could miss: an import of which no name is used may go."""
    holds: tuple[str, ...] = ()
    """Classes of the tree whose objects people's own code holds: patterns over qualified names. Their public members stay."""


class Api(Rule):
    """What code outside the tree takes from it by name: documented helpers, extension points, decoders of what the server
    answers. It stays with its module, and the public members of classes with them, unless a `remove` rule takes it."""

    users: str = Field(min_length=5)
    """Who takes it: a page of upstream's documentation, a program, a distribution of the package index."""
    names: tuple[str, ...] = Field(min_length=1)
    """Qualified names of the module level; the last one may have stars, which stand for public definitions
    (``sglang.srt.weight_sync.utils.*``)."""

    @model_validator(mode="after")
    def _whole_modules(self) -> Api:
        for name in self.names:
            if "*" in name.rpartition(".")[0]:
                raise ValueError(f"the module of {name} is to be written in full")
        return self

    @property
    def modules(self) -> tuple[str, ...]:
        """Modules that hold the names."""
        return tuple(dict.fromkeys(name.rpartition(".")[0] for name in self.names))

    def takes(self, module: str, name: str) -> bool:
        """True for a name of a module that code outside takes."""
        whole = f"{module}.{name}"
        return whole in self.names or (not name.startswith("_") and any_name_matches(self.names, whole))


class Reach(Rule):
    """What the profile is for: names that the graph must reach from a definition. `shrinker kernels` looks for them."""

    start: str
    """Qualified name of the definition (``sglang.srt.models.deepseek_v2.DeepseekV3ForCausalLM``)."""
    names: tuple[str, ...] = Field(min_length=1)
    """Of kernels: functions that kept code defines, imports or reads as an attribute, by their last name, whatever
    library has them in this upstream."""


class Capability(Rule):
    """Something that the profile keeps, whatever all other rules say: level `capabilities` looks for it without reading them."""

    hardware: str = ""
    """The NVIDIA GPUs that it is for; empty for all."""
    names: tuple[str, ...] = ()
    """What it is asked for by: fields of arguments, environment variables, endpoints, values. Each that upstream writes in a kept
    file is written in the tree, too."""
    modules: tuple[str, ...] = ()
    """Modules that carry it: each one of upstream stands."""
    definitions: tuple[str, ...] = ()
    """Functions and classes that carry it, by qualified name: each one of upstream stands."""


class Internal(Rule):
    """Public names that a person read, and that nobody outside takes: `api.md` lists those of which nobody says so."""

    names: tuple[str, ...] = Field(min_length=1)
    """Qualified names; ``*`` and ``**`` as in other rules."""


class Dropped(Rule):
    """Something that the profile does not serve, by the words that upstream's code has for it."""

    words: tuple[str, ...] = ()
    """Patterns of how identifiers, short texts, and parts of them begin, in lower case. What is tested by one of these may be gone."""
    holds: tuple[str, ...] = ()
    """The other way round: what is tested by one of these may be gone where the test fails (``is_cuda``)."""
    inside: tuple[str, ...] = ()
    """Qualified names of functions and classes within which anything may be gone."""


class Budget(BaseModel):
    """What a profile's tree may come to when upstream moves; a bump that exceeds it fails."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    lines: int | None = None
    """Of Python, in the whole tree."""
    distributions: int | None = None
    """That the package requires beyond those of the tree before."""
    forbidden: tuple[str, ...] = ()
    """Distributions and packages that the new tree may not newly require or import."""


class Ruleset(BaseModel):
    """All rules that a profile includes, in file order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    facts: tuple[Fact, ...] = ()
    domains: tuple[Domain, ...] = ()
    pures: tuple[Pure, ...] = ()
    labels: tuple[Label, ...] = ()
    absents: tuple[Absent, ...] = ()
    removes: tuple[Remove, ...] = ()
    roots: tuple[Root, ...] = ()
    walks: tuple[Walk, ...] = ()
    keeps: tuple[Keep, ...] = ()
    assets: tuple[Asset, ...] = ()
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
    scope: tuple[str, ...] = ()
    """Ids of rules about what is served, see `Profile.scope`."""
    budget: Budget = Budget()
    profile: str = ""
    digest: str = ""
    """SHA-256 over the included rule files."""
    places: dict[str, str] = Field(default_factory=dict)
    """Rule id to ``file:line``."""

    def walked(self) -> dict[str, tuple[str, ...]]:
        """By package, the names below it that a walk over it finds: several rules of one package add up."""
        found: dict[str, tuple[str, ...]] = {}
        for rule in self.walks:
            found[rule.package] = (*found.get(rule.package, ()), *rule.keep)
        return found

    def by_id(self) -> dict[str, Rule]:
        """Every rule of every kind, in the order of the kinds."""
        rows = (row for field in Ruleset.model_fields for row in getattr(self, field))
        return {row.id: row for row in rows if isinstance(row, Rule)}

    def all_rules(self) -> tuple[Rule, ...]:
        """Every rule that decides something about the tree, in the order of the kinds.

        `platforms` and `leftovers` decide nothing: they judge what was generated. `protocols` and `outsides` tell of what
        is not in the tree, `entries` and `dependents` what the judge of claims asks, `reaches` and `capabilities` what must be in it,
        `distributions` and `listings` of the package index, whatever this upstream declares.
        """
        return (
            *self.facts,
            *self.domains,
            *self.pures,
            *self.labels,
            *self.absents,
            *self.removes,
            *self.roots,
            *self.walks,
            *self.keeps,
            *self.assets,
            *self.defaults,
            *self.refusals,
            *self.companions,
            *self.guards,
            *self.answers,
            *self.apis,
        )


class Profile(BaseModel):
    """`rules/profiles/<name>.toml`: which rule files make a profile."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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
