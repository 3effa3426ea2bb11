"""The values of the constant propagation (known, a reference to a definition, removed, unknown),
what they are joined, and what is known of single nodes.
"""

import ast
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    """The facts decide the value.

    With `exact` false only its truth is decided (``is_cuda()`` returns a version string in some
    releases): conditions fold on it, but it is never written out as a literal.
    """

    value: object
    exact: bool
    rules: frozenset[str]

    @property
    def truth(self) -> bool:
        """The value in a condition."""
        return bool(self.value)

    @property
    def outcome(self) -> str:
        """Its truth, as decisions tell it."""
        return "true" if self.truth else "false"

    def resting(self, rules: frozenset[str]) -> "Known":
        """Return the value, where it rests on some more rules."""
        return Known(self.value, self.exact, self.rules | rules)


@dataclass(frozen=True, slots=True)
class Ref:
    """A definition that is not a constant, by qualified name: a module, function, class or
    attribute path.
    """

    name: str


@dataclass(frozen=True, slots=True)
class Removed:
    """A name that the closed world does not have: evaluating it is outside the contract."""

    rule: str
    feature: str
    name: str
    """Qualified name, for the named error."""
    module: str = ""
    """The removed module that it comes from; empty for a branch that is never taken."""
    member: bool = False
    """True for a member of an enumeration: nothing equals it, and it equals nothing."""
    error: str = "RuntimeError"
    """The error that its use becomes: the one that upstream itself would raise for what is not
    installed.
    """
    eager: bool = False
    """True when the module level of the using module imports it without a condition: importing it
    is part of every run, so a use of it may be too, and only a fact about that use can remove it.
    """

    @property
    def missing(self) -> bool:
        """True for what is not installed: upstream itself raises where it is evaluated, so it goes
        only where it is certainly evaluated.
        """
        return self.error != "RuntimeError"


@dataclass(frozen=True, slots=True)
class TextDomain:
    """A text, or an object that stands for one, that is open but never one of these."""

    never: frozenset[str]
    rules: frozenset[str]
    only: frozenset[str] | None = None
    """The texts that it may be; None where that is open."""
    items: bool = False
    """True for a collection of such texts."""

    def excludes(self, text: object) -> bool:
        """True for a text that this, or an item of this, never is."""
        if not isinstance(text, str):
            return False
        return text in self.never or (self.only is not None and text not in self.only)

    def lacks(self, part: object) -> bool:
        """True for a text that is never an item of this, and never a part of this text itself."""
        if self.items:
            return self.excludes(part)
        return (
            isinstance(part, str)
            and self.only is not None
            and not any(part in text for text in self.only)
        )

    def starts_never(self, start: str) -> bool:
        """Tell whether no such text starts so: ``npu:0`` names the same device as ``npu``."""
        if self.only is not None:
            return not any(text.startswith(start) for text in self.only)
        return start in self.never

    def and_also(self, other: "TextDomain") -> "TextDomain":
        """Return what both say of one thing."""
        bounds = [d.only for d in (self, other) if d.only is not None]
        only = frozenset.intersection(*bounds) if bounds else None
        return TextDomain(self.never | other.never, self.rules | other.rules, only, self.items)


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything else."""


UNKNOWN = Unknown()

Value = Known | TextDomain | Ref | Removed | Unknown

NO_RULES: frozenset[str] = frozenset()


def literal(value: object) -> Known:
    """Return a constant that upstream itself wrote."""
    return Known(value, True, NO_RULES)


def join(values: list[Value]) -> Value:
    """Return what a text is that is one of these: never what none of them is.

    Not known otherwise.
    """
    domains = [value for value in values if isinstance(value, TextDomain)]
    plain = [value.value for value in values if isinstance(value, Known) and value.exact]
    if not domains or len(domains) + len(plain) < len(values):
        return UNKNOWN
    if any(d.items for d in domains) and (plain or not all(d.items for d in domains)):
        return UNKNOWN
    rules = NO_RULES.union(*(d.rules for d in domains))
    said = frozenset().union(*(d.never for d in domains))
    never = frozenset(t for t in said if t not in plain and all(d.excludes(t) for d in domains))
    only: frozenset[str] | None = frozenset(text for text in plain if isinstance(text, str))
    for domain in domains:
        only = None if only is None or domain.only is None else only | domain.only
    return (
        TextDomain(never, rules, only, domains[0].items) if never or only is not None else UNKNOWN
    )


Decided = dict[ast.expr, Value]
"""Values of nodes: what a round found out about them, or what folding wrote in the place of another
node.
"""
