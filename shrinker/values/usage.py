"""What a folded module still says, in words: the input of the refinement rounds.

Sets of words travel between processes as one string each, words separated by spaces, since a thousand modules
mention a hundred thousand of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Usage:
    """Words of one folded module. Every `str` is a set of words, sorted and separated by spaces."""

    words: str = ""
    """Every name, attribute, keyword and imported name that the module mentions, and every identifier within its
    strings; but for a name mentioned only inside a definition of that name, and for names that are only defined."""
    loads: str = ""
    """Names that the module reads anywhere in it, whatever scope they belong to."""
    reads: str = ""
    """Names that the module may read of a module which it got as a value: attributes, and strings that are a name."""
    dynamic: bool = False
    """True when it imports modules of computed names: it may get any module."""
    chains: str = ""
    """Absolute dotted names that the module reads of modules of the tree: ``package.module.flag``; ``.`` when it looks
    at all names of its own."""
    binds: str = ""
    """``name=target`` of its imports from the tree."""
    statements: str = ""
    """Imports of the module level, ``number:runs:name=module,name=module+?perhaps.module``; see `fold.idle`."""
    idle_locals: str = ""
    """Modules, ``a`` or ``a+?a.b`` for `from a import b`, of which a function imports what it does not read any more."""
    texts: str = ""
    """Strings that are a name, or the last part of a dotted one."""
    patterns: str = ""
    """Computed names, each computed part written ``*``: ``f"forward_{mode}"``. A `getattr` of one on `self` adds
    ``@Class``."""
    exports: str = ""
    """``__all__``, as far as it is spelled out."""
    idle: str = ""
    """Names bound at module level by an import or an assignment, which the module itself does not read."""
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
    classes: str = ""
    """Classes of the module level."""
    inert: bool = False
    """True when importing the module only imports others, defines and assigns."""
    results: str = ""
    """Definitions that only answer a constant: ``f()=None``, ``Class.m()=False``, of a property ``Class.p=True``; with a
    final ``!`` where folding made it so."""
    mixed: str = ""
    """Names that the module gives a value in a class body, or defines more than once or deep inside."""
    calls: str = ""
    """How the module calls what: ``f(*,False!,k=None)``, with `!` a literal that folding wrote; ``m(.*)`` as an attribute;
    ``f(?)`` when the name has another use, ``f~`` when it is only imported."""
    unread: str = ""
    """Parameters that their body does not read, folding having dropped a use of the name: ``Class.m:name:2``, with how many
    arguments may stand before it, `*` for any number."""
    cut: str = ""
    """Modules of the tree of which folding dropped the import of flags and predicates, without a proof that they are
    loaded anyway."""
    members: str = ""
    """What it does with members of enumerations about which it was asked; see `fold.refine.produced`."""
    made: str = ""
    """Classes, by their last name, of which the module may make an instance; see `fold.refine.made`."""
    tested: str = ""
    """Classes, by their last name, that an `isinstance` of the module names."""
    plain: str = ""
    """Keywords and parameters whose name the module reads in no other way: not as an attribute, and in no string."""
    lost: str = ""
    """Names and attributes in the code that folding dropped, and its strings that are an identifier."""
    lost_own: str = ""
    """Attributes of `self`, `cls` or `super()` in the code that folding dropped."""


EMPTY = Usage()


@lru_cache(maxsize=1 << 15)
def words_in(packed: str) -> frozenset[str]:
    """The words of one string; each round asks for those of every module again."""
    return frozenset(packed.split())


def pack(words: set[str]) -> str:
    """A set of words as one string."""
    return " ".join(sorted(words))
