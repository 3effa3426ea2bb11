"""Rules about what a value is and what a call does in the closed world, what goes, what stays, and
where reachability starts.
"""

from pydantic import StrictBool, StrictInt, model_validator

from shrinker.ruleset.match import any_module_matches, any_name_matches, any_path_matches
from shrinker.ruleset.models.rule import Claim, Rule, Table


class Fact(Claim):
    """Something that has one value in the closed world.

    Patterns name definitions by qualified name (``sglang.**.is_hip``), never bare text.
    """

    calls: tuple[str, ...] = ()
    """Functions or methods whose call gives the value, whatever the arguments.

    ``.is_hip`` is a method of any receiver that is not resolved.
    """
    names: tuple[str, ...] = ()
    """Module-level names, attributes of modules outside the tree (``torch.version.hip``), and
    variables, parameters and attributes that do not resolve, as they are written below their module
    (``sglang.**.use_npu_communicator``).
    """
    attributes: tuple[str, ...] = ()
    """Attributes and properties of classes (``sglang.srt.platforms.**.Platform.is_hip``).

    ``f()`` within a name is what calling `f` returns; ``.is_hip`` is an attribute of any receiver
    that is not resolved.
    """
    environment: tuple[str, ...] = ()
    """Environment variables, however they are read."""
    macros: tuple[str, ...] = ()
    """Macros of C, C++ and CUDA that no build of the kept sources defines; the value is then false.
    """
    instances: tuple[str, ...] = ()
    """Classes of which there is no object: `isinstance` and `issubclass` of them are false."""
    value: StrictBool | StrictInt | str | None = None
    """TOML has no null: leave it out for None.

    A number decides comparisons; it is never written as a literal.
    """
    exact: bool = True
    """False: only the truth of the value is known (a version string, a handle); it is never written
    as a literal.
    """

    @model_validator(mode="after")
    def _undefined(self) -> "Fact":
        if self.macros and self.value is not False:
            raise ValueError("`macros` are not defined: their value is false")
        if self.instances and self.value is not False:
            raise ValueError("`instances` are none: their value is false")
        return self


class Domain(Claim):
    """Texts that something never is in the closed world (``ServerArgs.device`` is never ``"npu"``),
    or all that it may be.
    """

    names: tuple[str, ...] = ()
    """Variables, parameters and attributes that hold such a text.

    A name is matched as it is written, below its
    module: ``sglang.**.device`` is a variable `device` as well as `self.device` or `x.y.device`.
    """
    lists: tuple[str, ...] = ()
    """Variables, parameters and attributes that hold a list, tuple or set of such texts, named in
    the same way.
    """
    calls: tuple[str, ...] = ()
    """Functions that return such a text and do nothing else."""
    tables: tuple[str, ...] = ()
    """Dictionaries that are only asked for such a text: rows of texts that it never is go."""
    registers: tuple[str, ...] = ()
    """Functions and decorators that only file something under such a text: their first argument, or
    the `name` that it is made with (``register(Template(name="chatml"))``).
    """
    never: tuple[str, ...] = ()
    """Texts that it never is."""
    only: tuple[str, ...] = ()
    """Instead of `never`: the texts that it may be.

    It is none of all others, and what is not a text is left open.
    """

    @model_validator(mode="after")
    def _one_kind(self) -> "Domain":
        if bool(self.never) is bool(self.only):
            raise ValueError("give exactly one of `never` and `only`")
        return self


class Pure(Rule):
    """Functions of the tree that only answer: a call whose result is not needed may go."""

    calls: tuple[str, ...]
    """The functions, or methods of any receiver (``.get_kvcache``)."""
    boolean: bool = False
    """They answer `True` or `False` and nothing else, so that `f() and False` is `False` even as a
    value.
    """


class Label(Rule):
    """Texts that are shown, counted or compared and never name an attribute (``"forward_" + mode``
    of a metric).
    """

    modules: tuple[str, ...]
    """Where the text is written."""
    texts: tuple[str, ...]
    """The text, each computed part written ``*``. One without is only for the search of symbols."""

    def says(self, module: str, text: str) -> bool:
        """True for a text of a module that names nothing."""
        return text in self.texts and any_name_matches(self.modules, module)


class Absent(Rule):
    """What is outside the tree and not installed: importing such a module raises ImportError,
    reading such an attribute AttributeError.
    """

    modules: tuple[str, ...] = ()
    """Patterns over dotted modules, submodules included."""
    attributes: tuple[str, ...] = ()
    """Attributes of modules that are installed (``torch.npu``); only whole names, no patterns."""


class Shape(Table):
    """The experts of a layer, before they are spread over processes."""

    experts: int
    """Routed experts of a layer."""
    width: int
    """Of one of them (``moe_intermediate_size``)."""


class Remove(Rule):
    """A feature that is off: its files go, and code that would evaluate one of their names raises a
    named error.
    """

    feature: str
    """In words: ``Ascend NPU backend``. Stands in the named error."""
    modules: tuple[str, ...] = ()
    """Patterns over dotted modules, submodules included."""
    members: tuple[str, ...] = ()
    """Members of enumerations (``sglang.**.Backend.ASCEND``): no value of the closed world equals
    one.
    """
    definitions: tuple[str, ...] = ()
    """Functions and classes at module level (``sglang.**.http_server.ollama_chat``), the last name
    without ``*``: the definition goes, with the decorators that register it. Of a method
    (``sglang.**.Scheduler.load_lora_adapter``) the body goes: calling it is the named error.
    """
    paths: tuple[str, ...] = ()
    """Patterns over files and folders of upstream that are not modules."""
    extras: tuple[str, ...] = ()
    """Patterns over the package's extras (``srt-*-hip``), their names normalised."""
    unless: tuple[str, ...] = ()
    """Modules or paths that the patterns would take but that stay."""
    shapes: tuple[Shape, ...] = ()
    """Models of which no tuning table goes: a file whose name says a shape
    (``E=256,N=128,device_name=…``) stays if one of them has it under any split, and one whose name
    says none does.
    """
    only_when_asked: tuple[str, ...] = ()
    """Qualified names that every run imports but that only run when the feature itself is asked
    for, checked by a person: a use becomes the named error, and a base leaves its class. Without an
    entry here such a module is kept and listed.
    """

    def takes_module(self, dotted: str) -> bool:
        """True for a module that the rule names, or that lies in a package which it names."""
        return any_module_matches(self.modules, dotted) and not any_module_matches(
            self.unless, dotted
        )

    def takes_path(self, path: str) -> bool:
        """Return the same of a file or folder, whatever shape its name says."""
        return any_path_matches(self.paths, path) and not any_path_matches(self.unless, path)


class Root(Rule):
    """Where reachability starts."""

    modules: tuple[str, ...] = ()
    """Modules that people run or import, by their whole names."""
    paths: tuple[str, ...] = ()
    """Native or data files and folders that are roots themselves (``sgl-kernel/**`` …)."""
    aside: bool = False
    """True: a client, or a program beside the server.

    `why` tells a chain from another root where there is one.
    """


class Walk(Rule):
    """A registry that imports every module of a package, and the ones it finds in the
    closed world.
    """

    package: str
    """The dotted package."""
    keep: tuple[str, ...] = ()
    """Names below the package; several rules of one package add up.

    Empty: the walk finds nothing.
    """


class Registry(Rule):
    """A table whose rows say where an implementation is (``Row(op="moe.topk",
    target="pkg.mod:fn")``). A row names its module only for code that asks the table for the row's
    key, so that a module that nothing else names goes where no kept code outside of the rows spells
    that key, or puts it together with a part of it spelled out.
    """

    feature: str
    """In words, for the named error: ``kernels that this server does not ask for``."""
    modules: tuple[str, ...]
    """Where the rows are written, patterns over dotted modules."""
    row: str
    """What makes a row: last name of the class or function that is called."""
    key: str
    """Keyword of the text by which a row is asked for."""
    target: str
    """Keyword of the text that names the implementation."""


class Keep(Rule):
    """Kept although the graph may not reach it."""

    modules: tuple[str, ...] = ()
    """Patterns over dotted modules."""
    paths: tuple[str, ...] = ()
    """Patterns over files and folders of upstream."""
