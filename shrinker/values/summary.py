"""What a folded module still says and does: all that passes over the whole program see of it.

Sets of words are sorted tuples, since frozensets of a thousand modules take twice the memory and travel slowly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

Words = tuple[str, ...]
"""A set of words, sorted."""


class Store(NamedTuple):
    """An attribute that is given a value."""

    attribute: str
    """Its name; where it is computed, each computed part is written ``*``."""
    value: str = ""
    """``True``, ``False`` or ``None``; empty for any other value or way: keywords, annotated fields, loop targets."""
    owner: str = ""
    """The class whose own object is meant by a computed name."""


@dataclass(frozen=True, slots=True)
class ModuleSummary:
    """What one folded module says."""

    words: Words = ()
    """Every name, attribute, keyword and imported name that the module mentions, and every identifier within its
    strings; but for a name mentioned only inside a definition of that name, and for names that are only defined."""
    within: Words = ()
    """What `words` leaves out because only a definition of that name mentions it: there it may mean something outside."""
    texts: Words = ()
    """Strings that are a name, or the last part of a dotted one."""
    patterns: Words = ()
    """Names that the module puts together, each computed part written ``*``: ``f"forward_{mode}"``."""
    exports: Words = ()
    """``__all__``, as far as it is spelled out."""
    free: Words = ()
    """Definitions that nothing registers: ``function``, ``Class`` or ``Class.method``."""
    fixed: Words = ()
    """Last names of the other definitions: decorated by something that may register them, or conditional."""
    subclassed: Words = ()
    """Classes whose subclasses register themselves or are enumerated; ``*`` when it cannot be told which."""
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
    lost_own: Words = ()
    """Attributes of `self`, `cls` or `super()` in the code that folding dropped."""


EMPTY = ModuleSummary()


def words(found: Iterable[str]) -> Words:
    """A set of words."""
    return tuple(sorted(found))
