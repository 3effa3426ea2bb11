"""What symbol-level reachability knows of a folded module: its removable pieces, and what each of them names.

A *path* is an expression as far as it says what is looked up: ``name.attr.method().other``. Its root is a name of the
module, ``@self``, ``@cls`` or ``@super`` (of the unit's class), ``#3`` (the unit's fourth local import), ``?`` (anything) or
``0`` (a literal) or ``[`` (a container). A part that ends with ``()`` is called; with ``%`` something is taken out of it; one
that ends with ``~`` is an annotation, and stands for an object of that class, and with ``*`` for a container of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from shrinker.values.edits import Span


@dataclass(frozen=True, slots=True)
class Unit:
    """A statement, definition, class member or imported name that may go on its own."""

    kind: str
    """``function``, ``class``, ``member``, ``assign``, ``import``, ``if`` (a block whose parts are units), ``main`` (what runs
    only when the module is the program) or ``effect``."""
    names: tuple[str, ...]
    """What it binds in its module or class."""
    span: Span
    """Of the statement; for one name of an import, of its alias."""
    lines: int
    """Lines of the original file that it covers."""
    parent: int = -1
    """Number of the class or block around it."""
    runs: bool = False
    """True when it does something as soon as its module is loaded, or its class made."""
    uses: tuple[str, ...] = ()
    """Paths that it looks up when it is evaluated or called."""
    texts: tuple[str, ...] = ()
    """Strings in it that may name something."""
    patterns: tuple[str, ...] = ()
    """Computed strings in it, each computed part written ``*``."""
    lookups: tuple[str, ...] = ()
    """Of these, the ones that are looked up by `getattr` and its kin."""
    stores: tuple[str, ...] = ()
    """Globals that it sets, and computed names of attributes that it sets on objects other than its own."""
    gives: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = ()
    """Attributes that it sets on objects other than its own: name, paths of the object, paths of the value."""
    enumerates: tuple[str, ...] = ()
    """Paths of modules, classes and objects all of whose names it may look at; ``""`` for those around it."""
    types: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Attributes of its own object, and paths of what it gives them."""
    value: tuple[str, ...] = ()
    """Paths of what an assignment holds, or of what a function returns."""
    imports: tuple[tuple[str, str], ...] = ()
    """Modules and names that it imports; the name is empty for a whole module, ``*`` for all names."""
    bases: tuple[str, ...] = ()
    """Paths of a class's bases."""
    flags: frozenset[str] = frozenset()
    """``property``, ``static``, ``classmethod``, ``typing`` (an import that only a type checker runs), ``guarded``,
    ``abstract``, ``computed`` (sets attributes of its own object by computed names), ``plain`` (a class whose annotations nothing reads),
    ``metaclass``."""
    classes: tuple[tuple[str, ...], ...] = ()
    """Bases of the classes that it defines inside."""


@dataclass(frozen=True, slots=True)
class Units:
    """All units of a module; a class comes before its members, a block before what is in it."""

    units: tuple[Unit, ...]
    exports: frozenset[str] = frozenset()
    """Names in ``__all__``."""
    fixed: frozenset[str] = frozenset()
    """Those whose entry cannot be deleted."""


NO_UNITS = Units(())
