"""What one Python file binds and what it names, as far as `sglang` modules are concerned; and what
the statements of a class or module declare: members, and rows of tables.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from shrinker.syntax import unroll
from shrinker.syntax.control import declares
from shrinker.syntax.imports import Import, names_of
from shrinker.syntax.names import last_name
from shrinker.syntax.walk import BLOCKS_OF, functions, own_nodes, walk

SYMBOLS = "symbols"
"""Layer of the cache: packed `ModuleSymbols` by path and SHA-256.

The level *form* leaves them there: it parses every file, too.
"""
_DATA = frozenset({"dataclass", "define", "frozen", "attrs"})
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?::[\w.]+)?")
_SUITES = ("body", "orelse", "finalbody")
_FILING = frozenset({"define", "impl"})
"""Last names of functions that file an operator; what has "regist" in its name files something,
too.
"""


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
    handed: frozenset[str] = frozenset()
    """Methods that a decorator of another package may file, as `field_validator` does."""
    values: frozenset[str] = frozenset()
    """Those of its members that are no methods."""
    abstract: frozenset[str] = frozenset()
    """Methods under `abstractmethod`: without one of its own a class below makes no object."""


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
    """Dotted texts in it and attributes of names (``Backend.AITER``): of what a rule may say that
    it is gone.
    """


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table that is asked by what something is: ``(Kind, handler)``, ``((Kind, Other),
    handler)``, ``Kind: handler``.
    """

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
    """Names that nothing but imports from the package bind in the module's scope, on any branch,
    with the dotted names of these.
    """
    stars: list[str] = field(default_factory=list)
    """Modules whose names a star import brings in; of other packages too."""
    open: bool = False
    """It asks for its `globals()` (protobuf hands them to other code): any name may be there."""
    exports: list[tuple[str, int]] | None = None
    """Texts of `__all__` with their lines; `None` where there is none, or it is not spelled out."""
    imports: list[tuple[int, str, str | None]] = field(default_factory=list)
    """Line, `sglang` module, name (`None` for a plain import, ``*`` for a star)."""
    outside: list[tuple[int, int, str, str | None]] = field(default_factory=list)
    """Line, level, module and name of imports of other packages, and of relative ones in files
    outside the package.
    """
    attributes: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)
    """Line, module that a name may be, and what is read below it, one of the other: of
    ``alias.first.second = 1`` the first.
    """
    paths: list[tuple[int, str]] = field(default_factory=list)
    """Strings that are dotted paths into the package: ``sglang.a.b``, ``sglang.a:b``."""
    targets: list[tuple[str, dict[str, tuple[str, int]]]] = field(default_factory=list)
    """Calls with texts as keywords, of which one names a definition (``sglang.a:b``): last name of
    what is called, each text with its line.
    """
    outside_reads: dict[str, int] = field(default_factory=dict)
    """Dotted names that it reads from a module of another package downwards, each with the first
    line.
    """
    held: set[str] = field(default_factory=set)
    """Modules, or names of them, that it imports where more than the names around may come to hold
    them: in a compound statement of the module, in a class, for a `global`.
    """
    loops: set[str] = field(default_factory=set)
    """Names that a loop or comprehension runs over."""
    classes: list[ClassSymbols] = field(default_factory=list)
    lookups: dict[tuple[str, str, str], int] = field(default_factory=dict)
    """The first line that looks up a name on ``any`` object; on ``self``, an object of the class
    with the last name that comes third; on that ``class`` itself; by keyword on what has ``made``
    one of it; or on what is ``named`` by a dotted name from the package, perhaps a module.
    """
    decorated: dict[str, list[tuple[int, tuple[str, ...]]]] = field(default_factory=dict)
    """Line and decorators without arguments of each definition of the module or a class, by its
    name with the classes around it.
    """
    rows: list[tuple[str, str, str, int]] = field(default_factory=list)
    """Collection, key (empty in a list), value and line: names in displays that the module binds,
    and in calls that are its statements.
    """
    dispatches: list[tuple[Row, ...]] = field(default_factory=list)
    """Displays that may be such tables, anywhere in the file."""
    registers: list[Registration] = field(default_factory=list)
    assigned: list[tuple[str, int]] = field(default_factory=list)
    """Names that statements of the module assign, with their lines."""
    binds: set[str] = field(default_factory=set)
    """Attributes that it stores on anything, and what may store one: names of keywords, texts that
    are identifiers.
    """
    handed_texts: dict[str, int] = field(default_factory=dict)
    """Texts that calls are given and that are identifiers, each with its first line: of some of
    them an attribute is read elsewhere.
    """
    by_text: set[str] = field(default_factory=set)
    """Texts that ``getattr`` and ``hasattr`` are given."""
    computed_files: set[str] = field(default_factory=set)
    """Regular expressions for the names of files that f-strings compute."""
    loaded: set[str] = field(default_factory=set)
    """Modules that loops of the module import by their names."""
    operators: list[tuple[int, str]] = field(default_factory=list)
    """Operators of native code: line and last name of ``torch.ops.library.name`` and of texts like
    ``library::name``.
    """
    files: list[tuple[int, str]] = field(default_factory=list)
    """Strings that may name a file."""


def held_by(tree: ast.Module, package: str) -> Iterator[str]:
    """Yield modules, or names of them, of the imports of a file but for those at the top of it, and
    those that bind a local of a function.
    """
    plain: set[ast.AST] = set(tree.body)
    for function in functions(tree):
        shared = declares(function)
        for node in own_nodes(function):
            if isinstance(node, Import) and shared.isdisjoint(
                bound for _, _, bound in names_of(node, package)
            ):
                plain.add(node)
    for node in walk(tree):
        if isinstance(node, Import) and node not in plain:
            for module, name, _ in names_of(node, package):
                yield f"{module}.{name}" if name else module


def assigned_of(body: list[ast.stmt], *, definitions: bool = False) -> Iterator[tuple[str, int]]:
    """Yield names that statements assign at load, on any branch, with their lines; on request those
    of definitions, too.
    """
    for node in _at_load(body):
        match node:
            case ast.Assign(targets=targets):
                yield from (
                    (target.id, node.lineno) for target in targets if isinstance(target, ast.Name)
                )
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name, node.lineno
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ) if definitions:
                yield name, node.lineno


def fields_of(body: list[ast.stmt]) -> Iterator[str]:
    """Yield names that the body of a class annotates, those of the class itself (`ClassVar`) left
    out.
    """
    for node in body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation) if (
                last_name(annotation) != "ClassVar"
            ):
                yield name


def made_by_fields(node: ast.ClassDef) -> bool:
    """Tell whether a decorator makes what a class annotates the parameters of what it is
    made with.
    """
    return any(
        last_name(d.func if isinstance(d, ast.Call) else d) in _DATA for d in node.decorator_list
    )


def rows_of(body: list[ast.stmt]) -> Iterator[tuple[str, str, str, int]]:
    """See `ModuleSymbols.rows`."""
    for node in body:
        match node:
            case (
                ast.Assign([target, *_], value)
                | ast.AnnAssign(target=target, value=ast.expr() as value)
            ):
                if isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords:
                    (value,) = value.args
                listed = ((None, item) for item in getattr(value, "elts", ()))
                for key, item in (
                    zip(value.keys, value.values, strict=True)
                    if isinstance(value, ast.Dict)
                    else listed
                ):
                    if isinstance(item, ast.Name | ast.Attribute) or isinstance(key, ast.Attribute):
                        named = "" if key is None else ast.unparse(key)
                        yield ast.unparse(target), named, ast.unparse(item), item.lineno
            case ast.Expr(value=ast.Call(func=function, args=[first, *_] as arguments)):
                for argument in arguments:
                    if isinstance(argument, ast.Name | ast.Attribute):
                        named = "" if argument is first else ast.unparse(first)
                        yield (
                            f"{ast.unparse(function)}()",
                            named,
                            ast.unparse(argument),
                            argument.lineno,
                        )
            case ast.If() | ast.Try() | ast.With():
                yield from rows_of([each for name in _SUITES for each in getattr(node, name, ())])


def dispatch_of(node: ast.List | ast.Tuple | ast.Set | ast.Dict) -> Iterator[Row]:
    """See `ModuleSymbols.dispatches`; none of a display of anything else."""
    if isinstance(node, ast.Dict):
        pairs = [*zip(node.keys, node.values, strict=True)]
    else:
        pairs = [
            (e.elts[0], e.elts[1])
            for e in node.elts
            if isinstance(e, ast.Tuple) and len(e.elts) == 2
        ]
    for key, value in pairs:
        parts = key.elts if isinstance(key, ast.Tuple) else [key]
        kinds = tuple(
            part.id if isinstance(part, ast.Name) else getattr(part, "attr", "") for part in parts
        )
        if key is not None and kinds and all(kinds):
            yield Row(kinds, ast.unparse(value), key.lineno)


def registers_of(body: list[ast.stmt]) -> Iterator[Registration]:
    """See `ModuleSymbols.registers`."""
    for node in _at_load(body):
        match node:
            case ast.Expr(value=ast.Call() as call):
                # `register("name")(what)` files by the inner call.
                inner = call.func if isinstance(call.func, ast.Call) else call
                if _files(inner.func):
                    key = _key(inner) or ast.unparse(call)[:80]
                    yield Registration(
                        ast.unparse(inner.func),
                        key,
                        node.lineno,
                        _names(call),
                        frozenset(_said(call)),
                    )
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                for decorator in node.decorator_list:
                    function = decorator.func if isinstance(decorator, ast.Call) else decorator
                    if _files(function):
                        key = (
                            _key(decorator) if isinstance(decorator, ast.Call) else ""
                        ) or node.name
                        yield Registration(
                            ast.unparse(function), key, node.lineno, _names(function)
                        )


def loaded_by(tree: ast.Module, module: str, package: str) -> Iterator[str]:
    """See `ModuleSymbols.loaded`."""
    loops = [node for node in tree.body if isinstance(node, ast.For)]
    tables = unroll.displays_of(tree) if loops else {}
    for loop in loops:
        for row in unroll.rows_of(loop.iter, tables) or ():
            yield from unroll.imported_for(row, loop, module, package)


def _names(node: ast.AST) -> frozenset[str]:
    return frozenset(part.id for part in walk(node) if isinstance(part, ast.Name))


def _said(call: ast.Call) -> Iterator[str]:
    for node in ast.walk(call):
        match node:
            case ast.Constant(value=str(text)) if _DOTTED.fullmatch(text):
                yield text.partition(":")[0]
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                yield f"{owner}.{name}"


def _at_load(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield statements that run when the module is imported, on any branch; not those for running
    it as a program.
    """
    for node in body:
        yield node
        match node:
            case ast.If(test=ast.Compare(left=left)) if last_name(left) == "__name__":
                pass
            case ast.If() | ast.Try() | ast.With() | ast.ExceptHandler():
                for name in BLOCKS_OF[node.__class__]:
                    yield from _at_load(getattr(node, name))


def _files(function: ast.expr) -> bool:
    name = last_name(function)
    return "regist" in name.lower() or (name in _FILING and isinstance(function, ast.Attribute))


def _key(call: ast.Call) -> str:
    """Return the text under which a call files something: its first argument, its name, or the name
    of what that makes.
    """
    named = [k.value for k in call.keywords if k.arg in {"name", "op_name"}]
    for value in (*call.args[:1], *named):
        match value:
            case ast.Constant(value=str(text)):
                return text
            case ast.Call() if key := _key(value):
                return key
            case ast.Name() | ast.Attribute():
                return ast.unparse(value)
    return ""
