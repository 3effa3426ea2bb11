"""What a folded module still says and does: all that passes over the whole program see of it.

Sets of words are sorted tuples, since frozensets of a thousand modules take twice the memory and travel slowly.
"""

from dataclasses import dataclass
from typing import NamedTuple

Words = tuple[str, ...]
"""A set of words, sorted."""


class Store(NamedTuple):
    """An attribute that is given a value."""

    attribute: str
    """Its name."""
    value: str = ""
    """``True``, ``False`` or ``None``; empty for any other value or way: keywords, annotated fields, loop targets."""


@dataclass(frozen=True, slots=True)
class ModuleSummary:
    """What one folded module says."""

    words: Words = ()
    """Every name, attribute, keyword and imported name that the module mentions, and every identifier within its
    strings; but for names that are only defined."""
    texts: Words = ()
    """Strings that are a name, or the last part of a dotted one."""
    defined: Words = ()
    """Last names of its functions and classes."""
    stores: tuple[Store, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    """Class and name of the attributes that a class sets to a literal in its body, or whatever happens in `__init__`."""
    decided: Words = ()
    """Attributes that were given a literal by folding."""
    inert: bool = False
    """True when importing the module only imports others, defines and assigns."""
    unproven_imports: Words = ()
    """Modules of the tree of which folding dropped the import of flags and predicates, without a proof that they are
    loaded anyway."""
    lost: Words = ()
    """Names and attributes in the code that folding dropped, and its strings that are an identifier."""


EMPTY = ModuleSummary()
