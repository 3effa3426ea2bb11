"""What is known of names that a generated tree may lack, for code outside that asks for them."""

from dataclasses import dataclass, field

Constant = str | int | float | bool | None
"""What can be written into a table; whatever else a name is worth is not known here."""


@dataclass(frozen=True, slots=True)
class KnownNames:
    """Names of one module, and members of its classes below the name of each."""

    values: dict[str, Constant] = field(default_factory=dict)
    """What each is in this server for certain."""
    results: dict[str, Constant] = field(default_factory=dict)
    """What each function or method answers, whatever it is called with."""
    unset: dict[str, Constant] = field(default_factory=dict)
    """What objects of a class have in an attribute that the class itself has not."""
    origins: dict[str, str] = field(default_factory=dict)
    """The module from which each name is handed on under the same name."""
