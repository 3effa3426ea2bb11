"""What symbol-level reachability knows of a folded module: its removable pieces, and what each of them names.

A *path* is an expression as far as it says what is looked up: ``name.attr.other``. Its root is a name of the module, ``@self``,
``@cls`` or ``@super`` (of the unit's class), ``#3`` (the unit's fourth local import) or ``?`` (anything). Names, texts and
patterns come with the first line of upstream's file that has them.
"""

from dataclasses import dataclass

from shrinker.values.edits import Span

Named = tuple[str, int]
"""A path, text or pattern, and its line."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A statement, definition, class member or imported name that may go on its own."""

    kind: str
    """``function``, ``class``, ``member``, ``assign``, ``import``, ``if`` (a block whose parts are units), ``main`` (what runs only when the module is the program) or ``effect``."""
    names: tuple[str, ...]
    """What it binds in its module or class."""
    span: Span
    """Of the statement; for one name of an import, of its alias."""
    parent: int = -1
    """Number of the class or block around it."""
    runs: bool = False
    """True when it does something as soon as its module is loaded, or its class made."""
    uses: tuple[Named, ...] = ()
    """Paths that it looks up when it is evaluated or called."""
    texts: tuple[Named, ...] = ()
    """Strings in it that may name something."""
    patterns: tuple[Named, ...] = ()
    """Computed strings in it, each computed part written ``*``."""
    lookups: tuple[Named, ...] = ()
    """Of these, the ones that are looked up by `getattr` and its kin."""
    enumerates: tuple[Named, ...] = ()
    """Paths of modules, classes and objects of which it may look up all names; ``""`` for the modules around it."""
    open: tuple[Named, ...] = ()
    """Paths of those of which it looks up a name that it is handed."""
    stores: tuple[str, ...] = ()
    """Globals that it sets."""
    attributes: tuple[str, ...] = ()
    """Attributes that it sets on its own object; of a class, names that its body binds. In a computed one, here and in `patches`,
    each computed part is written ``*``."""
    patches: tuple[str, ...] = ()
    """Attributes that it sets on anything else."""
    value: tuple[str, ...] = ()
    """Paths of what an assignment holds."""
    imports: tuple[tuple[str, str, int], ...] = ()
    """Modules and names that it imports, with the line; the name is empty for a whole module, ``*`` for all names."""
    bases: tuple[str, ...] = ()
    """Paths of a class's bases."""
    flags: frozenset[str] = frozenset()
    """``static``, ``classmethod``, ``typing`` (an import that only a type checker runs), ``abstract``, ``metaclass``,
    ``whole`` (``import a.b``, which binds ``a``), ``replaced`` (decorated by what may hand back something else),
    ``special`` (runs for its name alone, as ``__all__`` does)."""
    classes: tuple[tuple[str, ...], ...] = ()
    """Bases of the classes that it defines inside."""
    unproven: tuple[str, ...] = ()
    """Names of its module that it calls when it runs, where `runs` is true for their sake alone: it binds names and does nothing
    else if calling each of them is pure."""
    pure: tuple[str, ...] | None = None
    """Of what can be called: names of its module that must be pure, too, for a call to make a value and do nothing else; None
    where a call may do more."""


@dataclass(frozen=True, slots=True)
class SymbolTable:
    """All units of a module; a class comes before its members, a block before what is in it."""

    units: tuple[Symbol, ...]
    exports: frozenset[str] = frozenset()
    """Names in ``__all__``."""
    fixed: frozenset[str] = frozenset()
    """Those whose entry cannot be deleted."""
    entries: tuple[tuple[str, Span], ...] = ()
    """The other ones, with the place of each entry."""


EMPTY_SYMBOLS = SymbolTable(())
