"""Rules about what goes, what stays, and where reachability starts."""

from shrinker.ruleset.match import any_module_matches, any_path_matches
from shrinker.ruleset.models.rule import Rule, Table


class Shape(Table):
    """The experts of a layer, before they are spread over processes."""

    experts: int
    """Routed experts of a layer."""
    width: int
    """Of one of them (``moe_intermediate_size``)."""


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
    shapes: tuple[Shape, ...] = ()
    """Models of which no tuning table goes: a file whose name says a shape (``E=256,N=128,device_name=…``) stays if one of
    them has it under any split, and one whose name says none does."""
    only_when_asked: tuple[str, ...] = ()
    """Qualified names that every run imports but that only run when the feature itself is asked for, checked
    by a person: a use becomes the named error, and a base leaves its class. Without an entry here such a module is
    kept and listed."""

    def takes_module(self, dotted: str) -> bool:
        """True for a module that the rule names, or that lies in a package which it names."""
        return any_module_matches(self.modules, dotted) and not any_module_matches(self.unless, dotted)

    def takes_path(self, path: str) -> bool:
        """The same of a file or folder, whatever shape its name says."""
        return any_path_matches(self.paths, path) and not any_path_matches(self.unless, path)


class Root(Rule):
    """Where reachability starts."""

    modules: tuple[str, ...] = ()
    """Modules that people run or import, by their whole names."""
    paths: tuple[str, ...] = ()
    """Native or data files and folders that are roots themselves (``sgl-kernel/**`` …)."""
    aside: bool = False
    """True: a client, or a program beside the server. `why` tells a chain from another root where there is one."""


class Walk(Rule):
    """A registry that imports every module of a package, and the ones it finds in the closed world."""

    package: str
    """The dotted package."""
    keep: tuple[str, ...] = ()
    """Names below the package; several rules of one package add up. Empty: the walk finds nothing."""


class Registry(Rule):
    """A table whose rows say where an implementation is (``Row(op="moe.topk", target="pkg.mod:fn")``). A row names its module
    only for code that asks the table for the row's key, so that a module that nothing else names goes where no kept code
    outside of the rows spells that key, or puts it together with a part of it spelled out."""

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
