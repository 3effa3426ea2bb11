"""What one Python file binds and what it names, as far as `sglang` modules are concerned."""

from dataclasses import dataclass, field

SYMBOLS = "symbols"
"""Layer of the cache: packed `ModuleSymbols` by path and SHA-256. The level *form* leaves them there, since it
parses every file, too."""


@dataclass(frozen=True, slots=True)
class ClassSymbols:
    """One class of a file, nested ones too."""

    name: str
    """With the classes around it: ``Outer.Inner``."""
    bases: tuple[str, ...]
    """Last names of the bases."""
    members: tuple[tuple[str, int], ...]
    """Methods and names that its body assigns, on any branch, with their lines."""
    fields: frozenset[str]
    """Those that its body annotates."""
    data: bool
    """A decorator makes its fields what it is made with, as `dataclass` does."""
    foreign: tuple[str, ...]
    """Last names of the bases that other packages give."""
    stores: tuple[tuple[str, int], ...] = ()
    """Attributes that its methods store on ``self``, with their first lines."""


@dataclass(frozen=True, slots=True)
class Registration:
    """A statement of the module, or a decorator, that files something when the module is loaded."""

    function: str
    """As it is written."""
    key: str
    """The text under which it is filed, else what is filed."""
    line: int
    names: frozenset[str]
    """What the statement names, or the decorator's own name: without these it could not stand."""
    says: frozenset[str] = frozenset()
    """Dotted texts in it and attributes of names (``Backend.AITER``): of what a rule may say that it is gone."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table that is asked by what something is: ``(Kind, handler)``, ``((Kind, Other), handler)``, ``Kind: handler``."""

    kinds: tuple[str, ...]
    """Last names of what it is asked by."""
    value: str
    line: int


@dataclass(slots=True)
class ModuleSymbols:
    """The symbols of one file; everything in it depends on the file's text and path alone."""

    path: str
    module: str | None
    error: str | None = None
    """Why it could not be parsed."""
    bound: set[str] = field(default_factory=set)
    """Names bound in the module's scope, on any branch."""
    named: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Names that nothing but imports from the package bind in the module's scope, on any branch, with the dotted names of these."""
    stars: list[str] = field(default_factory=list)
    """Modules whose names a star import brings in; of other packages too."""
    open: bool = False
    """It asks for its `globals()` (protobuf hands them to other code): any name may be there."""
    exports: list[tuple[str, int]] | None = None
    """Texts of `__all__` with their lines; `None` where there is none, or it is not spelled out."""
    imports: list[tuple[int, str, str | None]] = field(default_factory=list)
    """Line, `sglang` module, name (`None` for a plain import, ``*`` for a star)."""
    outside: list[tuple[int, int, str, str | None]] = field(default_factory=list)
    """Line, level, module and name of imports of other packages, and of relative ones in files outside the package."""
    attributes: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)
    """Line, module that a name may be, and what is read below it, one of the other: of ``alias.first.second = 1`` the first."""
    paths: list[tuple[int, str]] = field(default_factory=list)
    """Strings that are dotted paths into the package: ``sglang.a.b``, ``sglang.a:b``."""
    targets: list[tuple[str, dict[str, tuple[str, int]]]] = field(default_factory=list)
    """Calls with texts as keywords, of which one names a definition (``sglang.a:b``): last name of what is called, each text with its line."""
    loops: set[str] = field(default_factory=set)
    """Names that a loop or comprehension runs over."""
    classes: list[ClassSymbols] = field(default_factory=list)
    lookups: dict[tuple[str, str, str], int] = field(default_factory=dict)
    """The first line that looks up a name on ``any`` object; on ``self``, an object of the class with the last name that comes third; on that
    ``class`` itself; by keyword on what has ``made`` one of it; or on what is ``named`` by a dotted name from the package, perhaps a module."""
    decorated: dict[str, list[tuple[int, tuple[str, ...]]]] = field(default_factory=dict)
    """Line and decorators without arguments of each definition of the module or a class, by its name with the classes around it."""
    rows: list[tuple[str, str, str, int]] = field(default_factory=list)
    """Collection, key (empty in a list), value and line: names in displays that the module binds, and in calls that are its statements."""
    dispatches: list[tuple[Row, ...]] = field(default_factory=list)
    """Displays that may be such tables, anywhere in the file."""
    registers: list[Registration] = field(default_factory=list)
    assigned: list[tuple[str, int]] = field(default_factory=list)
    """Names that statements of the module assign, with their lines."""
    binds: set[str] = field(default_factory=set)
    """Attributes that it stores on anything, and what may store one: names of keywords, texts that are identifiers."""
    by_text: set[str] = field(default_factory=set)
    """Texts that ``getattr`` and ``hasattr`` are given."""
    computed_files: set[str] = field(default_factory=set)
    """Regular expressions for the names of files that f-strings compute."""
    files: list[tuple[int, str]] = field(default_factory=list)
    """Strings that may name a file."""
