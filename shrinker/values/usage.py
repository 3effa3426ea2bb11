"""What a folded module still says, in words: the input of the refinement rounds.

Sets of words travel between processes as one string each, words separated by spaces, since a thousand modules
mention a hundred thousand of them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Words of one folded module. Every `str` is a set of words, sorted and separated by spaces."""

    words: str = ""
    """Every name, attribute, keyword and imported name that the module mentions, and every identifier within its
    strings; but for a name mentioned only inside a definition of that name, and for names that are only defined."""
    loads: str = ""
    """Names that the module reads anywhere in it, whatever scope they belong to."""
    reads: str = ""
    """Names read as an attribute of something imported, or spelled out in a string: ``module.flag``."""
    texts: str = ""
    """Strings that are a name, or the last part of a dotted one."""
    patterns: str = ""
    """Computed names, each computed part written ``*``: ``getattr(self, f"forward_{mode}")``."""
    exports: str = ""
    """``__all__``, as far as it is spelled out."""
    idle: str = ""
    """Names bound at module level by ``from … import`` or to a literal, which the module itself does not read."""
    free: str = ""
    """Definitions that nothing registers: ``function``, ``Class`` or ``Class.method``."""
    fixed: str = ""
    """Last names of the other definitions: decorated by something that may register them, or conditional."""
    subclassed: str = ""
    """Classes whose subclasses register themselves or are enumerated; ``*`` when it cannot be told which."""
    stores: str = ""
    """Attributes that are given a value, as ``name=True``, ``name=False``, ``name=None``, or ``name=*`` for any other
    value or way: keywords, annotated fields, loop targets, `setattr`. A `setattr` of a computed name on `self` adds
    ``@Class``."""
    fields: str = ""
    """``Class.name`` of the attributes that a class sets to a literal in its body, or whatever happens in `__init__`."""
    decided: str = ""
    """Attributes that were given a literal by folding."""
    certain: str = ""
    """Modules that the module level imports without a condition, by absolute name."""
    classes: str = ""
    """Classes of the module level."""
    inert: bool = False
    """True when importing the module only imports others, defines and assigns."""
    lost: str = ""
    """Names and attributes in the code that folding dropped, and its strings that are an identifier."""
    lost_own: str = ""
    """Attributes of `self`, `cls` or `super()` in the code that folding dropped."""


EMPTY = Usage()


def pack(words: set[str]) -> str:
    """A set of words as one string."""
    return " ".join(sorted(words))
