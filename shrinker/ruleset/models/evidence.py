"""Rules that decide nothing: by them the generated tree is judged."""

from pydantic import Field

from shrinker.ruleset.models.rule import Telling
from shrinker.values.leftovers import Kind, Position


class Platform(Telling):
    """A platform, for the judge of the generated tree: the words by which one sees a trace
    of it.
    """

    words: tuple[str, ...] = Field(min_length=1)
    """Lower-case words within identifiers and strings (``npu`` is in ``forward_npu`` and in
    ``NPUEnv``, not in ``input``); ``*`` stands for any text.
    """
    predicates: tuple[str, ...] = ()
    """Whole identifiers that ask for it without such a word and that no fact names."""
    own: bool = False
    """True for the platform that is served, and for what every platform has: a predicate with such
    a word is no suspect.
    """


class Leftover(Telling, populate_by_name=True):
    """Why a trace of another platform in the generated tree is right.

    All keys that are given must hold.
    """

    kind: tuple[Kind, ...] = ()
    """Kinds of traces (`values.leftovers.Kind`)."""
    positions: tuple[Position, ...] = Field((), alias="in")
    """Places in the syntax (`values.leftovers.Position`)."""
    words: tuple[str, ...] = ()
    """The whole text of the leftover, or one component of its dotted name; ``*`` stands for any
    text.
    """
    where: tuple[str, ...] = ()
    """Patterns over modules and qualified definitions, what is inside included."""
    idle: bool | None = None
    """True: only what no kept code names, and what stands inside it."""


class Reach(Telling):
    """What the profile is for: names that the graph must reach from a definition.

    `shrinker kernels` looks for them.
    """

    start: str
    """Qualified name of the definition (``sglang.srt.models.deepseek_v2.DeepseekV3ForCausalLM``).
    """
    names: tuple[str, ...] = Field(min_length=1)
    """Of kernels: functions that kept code defines, imports or reads as an attribute, by their last
    name, whatever library has them in this upstream.
    """


class Capability(Telling):
    """Something that the profile keeps, whatever all other rules say: level `capabilities` looks
    for it without reading them.
    """

    hardware: str = ""
    """The NVIDIA GPUs that it is for; empty for all."""
    names: tuple[str, ...] = ()
    """What it is asked for by: fields of arguments, environment variables, endpoints, values.

    Each that upstream writes in a kept file is written in the tree, too.
    """
    modules: tuple[str, ...] = ()
    """Modules that carry it: each one of upstream stands."""
    definitions: tuple[str, ...] = ()
    """Functions and classes that carry it, by qualified name: each one of upstream stands."""


class Dropped(Telling):
    """Something that the profile does not serve, by the words that upstream's code has for it."""

    words: tuple[str, ...] = ()
    """Patterns of how identifiers, short texts, and parts of them begin, in lower case.

    What is tested by one of these may be gone.
    """
    holds: tuple[str, ...] = ()
    """The other way round: what is tested by one of these may be gone where the test fails
    (``is_cuda``).
    """
    inside: tuple[str, ...] = ()
    """Qualified names of functions and classes within which anything may be gone."""
