"""What the `fold` phase returns: one value a module, small enough to travel between processes.

Sets of words are sorted tuples, since frozensets of a thousand modules take twice the memory and travel slowly.
"""

from dataclasses import dataclass
from typing import NamedTuple

from shrinker.values.edits import Edit
from shrinker.values.symbols import EMPTY_SYMBOLS, SymbolTable

Words = tuple[str, ...]
"""A set of words, sorted."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One condition, import or table row that the facts decided."""

    line: int
    rule: str
    """Id of the rule it rests on; several are joined by ``+``."""
    kind: str
    """``if``, ``elif``, ``ternary``, ``boolean``, ``while``, ``assert``, ``try``, ``import``, ``dead-code``, ``use`` …"""
    text: str
    """The condition as upstream wrote it, one line, at most 120 characters."""
    outcome: str
    """What it became: ``true``, ``false``, ``removed``, ``raises``."""
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
    """Of the row of a table that it is the target of: it names something for code that asks for this key."""
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
    """A use of a removed module that every run may reach: the module must stay, or a fact must decide the use."""

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
    """``True``, ``False`` or ``None``; empty for any other value or way: keywords, annotated fields, loop targets."""


@dataclass(frozen=True, slots=True)
class ModuleSummary:
    """What one folded module still says and does: all that passes over the whole program see of it."""

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


@dataclass(frozen=True, slots=True)
class FoldedModule:
    """A module after folding: what was decided, what is to be edited, what it still names."""

    path: str
    module: str
    is_package: bool
    sha256: str
    """Of the original file."""
    lines: int
    """Of the original file."""
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
    """True for one that stays as upstream wrote it, since what folding decides cannot be written."""

    @property
    def changed(self) -> bool:
        """True when `emit` has something to do."""
        return bool(self.edits)
