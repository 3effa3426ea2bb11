"""The units of a saved search: definitions, members, statements and imported names."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shrinker.values.errors import InputError

DEFINITIONS = frozenset({"function", "class", "member", "assign"})
"""Kinds of units that people have names for."""
_SHOWN = 6


class AmbiguousName(InputError):
    """Several symbols end in what was asked for; `names` are all of them, sorted."""

    def __init__(self, query: str, names: Sequence[str]) -> None:
        some = ", ".join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")
        super().__init__(
            f"{len(names)} symbols are named {query!r}: {some}", "give the module, too"
        )
        self.names = names


class Unit(NamedTuple):
    """A statement, definition, member or imported name of upstream."""

    module: int
    kind: str
    name: str
    """With its module and the classes around it; of a statement its line, of several names all, as
    in ``a,b``.
    """
    line: int
    end_line: int
    owner: int
    """Number of the class or block around it; -1 at the top of its module. It comes first."""
    live: bool
    """True for what is in the generated tree."""


@dataclass(frozen=True, slots=True)
class Imported:
    """An import of upstream by which a module has a name."""

    path: str
    line: int
    name: str
    """As it was asked for, with the whole module."""
    bound: str
    """By the import; ``*`` for a star."""
    target: str
    """Dotted name where the module has it from."""
    unit: int | None
    """Number of the import; None when it went with what was decided."""


def each_name(name: str) -> Iterator[str]:
    """Return names of a unit that binds several (``a,b``), each with its module and the classes
    around it.
    """
    around, dot, last = name.rpartition(".")
    return (f"{around}{dot}{each}" for each in last.split(","))
