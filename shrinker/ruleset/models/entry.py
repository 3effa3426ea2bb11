"""Rules about what comes in from outside: flags, requests, checkpoints, imports."""

from typing import Literal

from pydantic import Field, model_validator

from shrinker.ruleset.models.rule import Rule, Telling


class Refusal(Rule):
    """A run that asks for something removed ends at once: the generated tree looks at an argument
    where a function begins, and raises the named error.
    """

    feature: str
    """In words, as it stands in the error."""
    function: str | tuple[str, ...]
    """Patterns over the functions that look (``sglang.srt.server_args.ServerArgs.__post_init__``).

    Of several, one whose body is nothing but a docstring has nothing to look before.
    """
    argument: str = "self"
    """The parameter that is looked at."""
    attribute: str | tuple[str, ...]
    """Attributes of that argument, dotted where one is an attribute of an attribute, or a key of a
    dictionary; the empty text for the argument itself. ``config.json:model_type`` is a key of a
    file of the checkpoint that the argument names. An attribute that is not there refuses nothing.
    """
    values: tuple[str, ...] = ()
    """Values that are refused; each item of a list, and each key of a dictionary, counts as a
    value.
    """
    only: tuple[str, ...] = ()
    """Values that are not refused: all others are, but None, false and the empty text."""
    set: bool = False
    """True: any value but None, false and the empty text is refused."""
    any_case: bool = False
    """True: small and capital letters count alike, as where upstream asks for the capital ones."""
    domain: str = ""
    """Id of a `domain` rule: what it says is never chosen is refused, or all but what it says may
    be.
    """
    modules: tuple[str, ...] = ()
    """Patterns over modules: an upstream without any of them knows nothing of what is refused, and
    nobody looks for it.
    """
    instead: str = Field(min_length=10)
    """What to do, for the person who reads the error."""

    @model_validator(mode="after")
    def _one_kind(self) -> "Refusal":
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


class Entry(Telling):
    """Where something comes in from outside: a fact about it needs a refusal.

    Profiles without such rules are not asked for any.
    """

    kind: Literal["flag", "request"]
    """What sets it: a command line, or a request."""
    classes: tuple[str, ...] = Field(min_length=1)
    """Patterns over classes: the fields that their bodies annotate are what is set."""
    held: tuple[str, ...] = ()
    """Last names of what holds an object of a class of flags (``server_args``), with ``()`` where a
    call gives it.
    """
    apart: tuple[str, ...] = ()
    """Modules that run no such server, submodules included: that they read a flag does not count.
    """


class Dependent(Telling):
    """Flags of which upstream reads nothing unless something else was asked for, which is refused:
    without it they do nothing there either, so that no run loses what they do.
    """

    flags: tuple[str, ...] = Field(min_length=1)
    """Fields of a class of flags; a star stands for any text."""
    on: tuple[str, ...] = Field(min_length=1)
    """Ids of those refusals."""


class Guard(Rule):
    """Where the generated tree starts to look at imports: one of a module that was removed ends
    with the named error.
    """

    module: str
    """The module, as a rule the package itself, whose first line it becomes."""


class Answer(Rule):
    """Where the generated server is given its application before it answers: requests for endpoints
    that were removed are answered with the named error from then on.
    """

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
    """Patterns over functions and classes: the text is replaced where one of them assigns, returns
    or hands it on, and where it is the default of a parameter or field. Texts that are compared or
    listed are left alone.
    """
    text: str = Field(min_length=1)
    """The text that upstream would choose."""
    by: str = Field(min_length=1)
    """The text that takes its place."""
