"""What the `fold` phase returns: one value a module, small enough to travel between processes.

Sets of words are sorted tuples, since frozensets of a thousand modules take twice the memory and
travel slowly.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from shrinker.values.edits import Edit, Span

Words = tuple[str, ...]
"""A set of words, sorted."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One condition, import or table row that the facts decided."""

    line: int
    rule: str
    """Id of the rule it rests on; several are joined by ``+``."""
    kind: str
    """``if``, ``elif``, ``ternary``, ``boolean``, ``while``, ``assert``, ``try``, ``import``,
    ``dead-code``, ``use`` …
    """
    text: str
    """The condition as upstream wrote it, one line, at most 120 characters."""
    outcome: str
    """What it became: ``true``, ``false``, ``removed``, ``raises``, ``loads`` (an import of names,
    of its module alone).
    """
    lines: int
    """Source lines that the decision deletes."""
    first: int = 0
    """The first of these lines; 0 where less than a line goes."""
    last: int = 0
    """The last of them."""

    @property
    def rules(self) -> tuple[str, ...]:
        """Ids of all rules it rests on."""
        return tuple(self.rule.split("+"))


@dataclass(frozen=True, slots=True)
class ImportSite:
    """An import left after folding; relative imports are made absolute."""

    line: int
    module: str
    name: str | None
    """Name after ``from module import``; ``*`` for a star; ``None`` for ``import module``."""
    kind: str
    """``import``, ``import-local`` (inside a function) or ``import-type`` (under TYPE_CHECKING)."""
    guarded: bool
    """True inside a `try` that catches ImportError."""


@dataclass(frozen=True, slots=True)
class StringSite:
    """A string left after folding that may name a module, a dotted path or a file."""

    line: int
    text: str
    """The constant; in an f-string or a ``+``/``%``/`join` each computed part is written ``*``."""
    key: str = ""
    """Of the row of a table that it is the target of: it names something for code that asks for
    this key.
    """
    rule: str = ""
    """The `[[registry]]` rule that says so."""


@dataclass(frozen=True, slots=True)
class DynamicSite:
    """A call whose target the code computes: package walk, `import_module`, entry points."""

    line: int
    mechanism: str
    """``walk``, ``import_module``, ``entry_points`` or ``spec_from_file``."""
    text: str
    """The call as upstream wrote it, one line."""
    target: str | None
    """The module or package named, ``*`` for a computed part; ``None`` when nothing is known."""


@dataclass(frozen=True, slots=True, order=True)
class Uncertain:
    """Something kept because the analysis could not decide it."""

    path: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class LeakedUse:
    """A use of a removed module that every run may reach: the module must stay, or a fact must
    decide the use.
    """

    module: str
    """The removed module."""
    name: str
    """Qualified name used."""
    line: int
    rule: str
    """The rule that would remove it."""


class Store(NamedTuple):
    """An attribute that is given a value."""

    attribute: str
    """Its name."""
    value: str = ""
    """``True``, ``False`` or ``None``; empty for any other value or way: keywords, annotated
    fields, loop targets.
    """


@dataclass(frozen=True, slots=True)
class ModuleSummary:
    """What one folded module still says and does: all that passes over the whole program
    see of it.
    """

    words: Words = ()
    """Every name, attribute, keyword and imported name that the module mentions, and every
    identifier within its strings; but for names that are only defined.
    """
    texts: Words = ()
    """Strings that are a name, or the last part of a dotted one."""
    defined: Words = ()
    """Last names of its functions and classes."""
    stores: tuple[Store, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    """Class and name of the attributes that a class sets to a literal in its body, or whatever
    happens in `__init__`.
    """
    decided: Words = ()
    """Attributes that were given a literal by folding."""
    inert: bool = False
    """True when importing the module only imports others, defines and assigns."""
    unproven_imports: Words = ()
    """Modules of the tree of which folding dropped the import of flags and predicates, without a
    proof that they are loaded anyway.
    """
    lost: Words = ()
    """Names and attributes in the code that folding dropped, and its strings that are an
    identifier.
    """


FEWEST_LETTERS = 3
"""A computed text that spells out so many names something by itself."""

ANYTHING = "?"
"""The path of what no path tells."""

EVERY_MEMBER = "?*"
"""The path of what may be any object, of which all members are listed; with another pattern in the
place of the star, those names.
"""
LOADED = "%"
"""The path of some module that is loaded; with the beginning of a dotted name, of all such modules.
"""
NAMES_OF_CLASSES = "~"
"""The pattern of a name that is made of the name of a class: as it is, or in small letters."""
LISTED = ".*"
"""Ends the path of something of which all names are listed, its methods included: if it may be any
object, those of all.
"""
HANDED = ".^"
"""Ends the path of something of which all names are listed: if it may be anything, those of the
classes and modules that are handed to code of the module.
"""
HANDED_TO = ">"
"""Stands between the path of a function and that of what it is given."""

ANY_PLACE = "?"
"""Where an argument may be any of a call."""

Named = tuple[str, int]
"""A path, text or pattern, and its line."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A statement, definition, class member or imported name that may go on its own.

    A *path* is an expression as far as it says what is looked up: ``name.attr.other``. Its root is
    a name of the module, ``@self``, ``@cls`` or ``@super`` (of the unit's class), ``#3`` (the
    unit's fourth local import) or ``?`` (anything). Names, texts and patterns come with the first
    line of upstream's file that has them.
    """

    kind: str
    """``function``, ``class``, ``member``, ``assign``, ``import``, ``if`` (a block whose parts are
    units), ``main`` (what runs only when the module is the program) or ``effect``.
    """
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
    """Paths of modules, classes and objects of which it may look up all names; ``""`` for the
    modules around it. They may end in `LISTED` or `HANDED`.
    """
    open: tuple[Named, ...] = ()
    """Paths of those of which it looks up a name that it is handed."""
    tabled: tuple[tuple[str, str, int], ...] = ()
    """Paths of those of which it looks up a text that a table of the module holds, with the table's
    name and the line; the name is empty where the unit itself spells the text out.
    """
    by_parameter: tuple[tuple[str, str, str, int], ...] = ()
    """Paths of those of which a private function looks up what its callers hand it: with position
    and name of the parameter, and the line.
    """
    hands: tuple[tuple[str, str, str], ...] = ()
    """Private functions that it calls, with the position or keyword of an argument and the table of
    the module that this is a text of: empty where the unit spells the text out, ``?`` where it may
    be any. The position is `ANY_PLACE` where any argument may be meant, and where the function is
    handed on.
    """
    handed: tuple[Named, ...] = ()
    """What it hands on as a value: ``path of the function>path`` for arguments of calls, ``>path``
    for what lists and dictionaries hold.
    """
    written: tuple[str, ...] = ()
    """Names of keywords and parameters in it: code may look them up on an object (`getattr(self,
    key)`).
    """
    stores: tuple[str, ...] = ()
    """Globals that it sets."""
    attributes: tuple[str, ...] = ()
    """Attributes that it sets on its own object; of a class, names that its body binds.

    In a computed one, here and in `patches`, each computed part is written ``*``.
    """
    patches: tuple[str, ...] = ()
    """Attributes that it sets on anything else."""
    value: tuple[str, ...] = ()
    """Paths of what an assignment holds."""
    imports: tuple[tuple[str, str, int], ...] = ()
    """Modules and names that it imports, with the line; the name is empty for a whole module, ``*``
    for all names.
    """
    bases: tuple[str, ...] = ()
    """Paths of a class's bases."""
    decorators: tuple[str, ...] = ()
    """Paths of what decorates a class and may do more than hand it back."""
    flags: frozenset[str] = frozenset()
    """``static``, ``classmethod``, ``typing`` (an import that only a type checker runs),
    ``abstract``, ``metaclass``, ``whole`` (``import a.b``, which binds ``a``), ``replaced``
    (decorated by what may hand back something else), ``special`` (runs for its name alone, as
    ``__all__`` does), ``listing`` (an ``__all__`` of all names that the module has).
    """
    classes: tuple[tuple[str, ...], ...] = ()
    """Bases of the classes that it defines inside."""
    unproven: tuple[str, ...] = ()
    """Names of its module that it calls when it runs, where `runs` is true for their sake alone: it
    binds names and does nothing else if calling each of them is pure.
    """
    pure: tuple[str, ...] | None = None
    """Of what can be called: names of its module that must be pure, too, for a call to make a value
    and do nothing else; None where a call may do more.
    """


@dataclass(frozen=True, slots=True)
class SymbolTable:
    """All units of a module; a class comes before its members, a block before what is in it."""

    units: tuple[Symbol, ...]
    exports: frozenset[str] = frozenset()
    """Names in ``__all__``."""
    entries: tuple[tuple[str, Span], ...] = ()
    """Those of which the entry can be deleted, and other lists' names, with the place of each
    entry.
    """


EMPTY_SYMBOLS = SymbolTable(())


@dataclass(frozen=True, slots=True)
class FoldedModule:
    """A module after folding: what was decided, what is to be edited, what it still names."""

    path: str
    module: str
    is_package: bool
    edits: tuple[Edit, ...]
    digest: str
    """`values.form.digest` of the decided syntax tree."""
    decisions: tuple[Decision, ...]
    imports: tuple[ImportSite, ...]
    strings: tuple[StringSite, ...]
    dynamic: tuple[DynamicSite, ...]
    defines: tuple[tuple[str, int], ...]
    """Top-level names left (functions, classes, assignments) with their lines."""
    uncertain: tuple[Uncertain, ...]
    escapes: tuple[LeakedUse, ...] = ()
    summary: ModuleSummary = ModuleSummary()
    units: SymbolTable = EMPTY_SYMBOLS
    whole: bool = False
    """True for one that stays as upstream wrote it, since what folding decides cannot be written.
    """


Folded = Mapping[str, FoldedModule]
"""Modules by their paths."""


@dataclass(frozen=True, slots=True)
class Refinement:
    """Derived facts that matter in one module."""

    needed: frozenset[str] = frozenset()
    """Modules that the module must load for what they do when they are imported, although it needs
    none of their flags.
    """
    attributes: frozenset[tuple[str, str, str]] = frozenset()
    """Class, attribute and its only value (``True``, ``False`` or ``None``), for code of the class
    that reads it.
    """
    stores: frozenset[str] = frozenset()
    """Attributes that nobody reads any more, so that what sets them to a literal may go."""

    unwritable: frozenset[str] = frozenset()
    """Why emission cannot write what folding decides for the module, which then stays as upstream
    wrote it.
    """
    dead: frozenset[Span] = frozenset()
    """Statements and imported names that nothing reachable names."""
    loads: frozenset[Span] = frozenset()
    """Those imported names of which the module must be loaded all the same, for what that does."""

    def joined(self, other: "Refinement") -> "Refinement":
        """Return the facts of both."""
        return replace(
            self, **{f.name: getattr(self, f.name) | getattr(other, f.name) for f in fields(self)}
        )


NOTHING = Refinement()
