"""Rules about what a value is, and what a call does, in the closed world."""

from pydantic import StrictBool, StrictInt, model_validator

from shrinker.ruleset.match import any_name_matches
from shrinker.ruleset.models.rule import Claim, Rule


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
    macros: tuple[str, ...] = ()
    """Macros of C, C++ and CUDA that no build of the kept sources defines; the value is then false."""
    value: StrictBool | StrictInt | str | None = None
    """TOML has no null: leave it out for None. A number decides comparisons; it is never written as a literal."""
    exact: bool = True
    """False: only the truth of the value is known (a version string, a handle); it is never written as a literal."""

    @model_validator(mode="after")
    def _undefined(self) -> "Fact":
        if self.macros and self.value is not False:
            raise ValueError("`macros` are not defined: their value is false")
        return self


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
    def _one_kind(self) -> "Domain":
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

    def says(self, module: str, text: str) -> bool:
        """True for a text of a module that names nothing."""
        return text in self.texts and any_name_matches(self.modules, module)


class Absent(Rule):
    """What is outside the tree and not installed: importing such a module raises ImportError, reading such an
    attribute AttributeError."""

    modules: tuple[str, ...] = ()
    """Patterns over dotted modules, submodules included."""
    attributes: tuple[str, ...] = ()
    """Attributes of modules that are installed (``torch.npu``); only whole names, no patterns."""
