"""Rules about what is not in the tree: packages, and whoever takes something of it."""

from pydantic import Field, StrictBool, model_validator

from shrinker.ruleset.match import any_name_matches
from shrinker.ruleset.models.rule import Rule, Telling


class Companion(Rule):
    """A package that travels beside the served one, and whose Python is folded by the same facts.

    Which of its files are kept is for `root` and `keep` rules to say.
    """

    folder: str = Field(pattern=r"^[^/](.*[^/])?$")
    """Of the package itself, in the layout of upstream's repository; its last component is the
    package's name.
    """
    sources: str = ""
    """Folder of a library whose build compiles the kernels that the package offers, with the build
    lists. Of both, only what kept code reaches stays; of a package without, everything.
    """


class Distribution(Telling):
    """What is known of a distribution of the package index that its name does not say."""

    name: str
    """As it is declared; case, dots, dashes and underscores count alike."""
    imports: tuple[str, ...] = ()
    """Modules that it installs (``zmq`` of ``pyzmq``), dotted where several distributions share a
    package. Without them the module is taken to have the distribution's own name.
    """
    commands: tuple[str, ...] = ()
    """Programs that it installs and that code may start (``py-spy``)."""
    needed_by: tuple[str, ...] = ()
    """Distributions or modules that load it without an import in the tree: it stays when one of
    them does.
    """
    always: StrictBool = False
    """True: it stays in any case."""


class Listing(Telling):
    """Modules that only list distributions, to show their versions: a name there is no use
    of it.
    """

    modules: tuple[str, ...] = Field(min_length=1)
    """Patterns over dotted modules."""


class Protocol(Telling):
    """Methods that a base outside the tree calls on objects of the classes that inherit from it.

    A base without such a rule may call any.
    """

    bases: tuple[str, ...] = Field(min_length=1)
    """Qualified names; ``builtins.*`` for every base of a module."""
    calls: tuple[str, ...] = ()
    """Names that it looks up; those with two underscores on both sides need not be listed."""


class Outside(Telling):
    """What is known of packages outside the tree."""

    inert: tuple[str, ...] = ()
    """Packages whose import does nothing that other code could miss: an import of which no name is
    used may go.
    """
    loads: tuple[str, ...] = ()
    """Submodules that importing their package loads, as patterns: an import of one is not what
    makes it there.
    """
    frames: tuple[str, ...] = ()
    """Modules of the tree, as patterns, that read frames of other packages alone: no local of the
    tree is read there.
    """
    lists: tuple[str, ...] = ()
    """Modules of the tree, as patterns, that go through all names of objects of these packages
    alone.
    """
    holds: tuple[str, ...] = ()
    """Classes of the tree whose objects people's own code holds: patterns over qualified names.

    Their public members stay.
    """


class Api(Rule):
    """What code outside the tree takes from it by name: documented helpers, extension points,
    decoders of what the server answers. It stays with its module, and the public members of classes
    with them, unless a `remove` rule takes it.
    """

    users: str = Field(min_length=5)
    """Who takes it: a page of upstream's documentation, a program, a distribution of the package
    index.
    """
    names: tuple[str, ...] = Field(min_length=1)
    """Qualified names of the module level; the last one may have stars, which stand for public
    definitions (``sglang.srt.weight_sync.utils.*``).
    """

    @model_validator(mode="after")
    def _whole_modules(self) -> "Api":
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
        return whole in self.names or (
            not name.startswith("_") and any_name_matches(self.names, whole)
        )


class Internal(Telling):
    """Public names that a person read, and that nobody outside takes: `api.md` lists those of which
    nobody says so.
    """

    names: tuple[str, ...] = Field(min_length=1)
    """Qualified names; ``*`` and ``**`` as in other rules."""
