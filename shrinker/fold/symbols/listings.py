"""Code that goes through names: `dir`, `vars`, `__dict__`, loaded modules; and what is handed on,
of which other code may do so.
"""

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from shrinker.fold.summary import pattern_of
from shrinker.fold.symbols.tables import SpelledTexts
from shrinker.fold.symbols.texts import Texts, could_be_a_name
from shrinker.syntax.scopes import Scope
from shrinker.values.folded import (
    ANYTHING,
    EVERY_MEMBER,
    HANDED,
    HANDED_TO,
    LISTED,
    LOADED,
    NAMES_OF_CLASSES,
)

_KINDS = frozenset({"__name__", "__qualname__"})
ENUMERATES = frozenset({"globals", "vars", "dir", "getmembers", "getmembers_static"})
TABLES = frozenset({"__annotations__", "__dict__"})
"""Attributes that hold names of an object with their values or types."""
_OF_MODULES = frozenset({"__globals__", "f_globals"})
LOOKED_INTO = TABLES | _OF_MODULES | {"modules"}
_ABOVE = frozenset({"__bases__", "__mro__", "mro"})
"""What gives the classes above one, of which code then lists the names."""
ASKING = frozenset({"get", "pop", "setdefault"})
"""Methods of a dictionary that ask for one key."""
OF_OBJECTS = frozenset({"dir", "getmembers", "getmembers_static"})
"""What lists methods along with the rest."""
_NO_KINDS = frozenset({ANYTHING, "@", LOADED})
"""How the paths begin of what is no class or module, as far as is known."""


class Listings(Texts):
    """Notes of what all names are listed."""

    def __init__(self, module: Scope, tables: SpelledTexts) -> None:
        """Begin with nothing."""
        super().__init__(module, tables)
        self._above: dict[str, int] = {}
        """Paths of what the unit takes the classes above of: those are listed where it lists names
        of anything.
        """
        self._asks_for_kinds = False
        self._asks_for_any = False
        """True where a name is looked up that may be that of a class."""
        self._lists_modules = False
        """True where the names of all loaded modules are listed."""
        self._looked_into: set[ast.AST] = set()
        """Tables of names that are asked for one name, and not listed."""
        self._shown: set[ast.AST] = set()
        """What stands within texts for people, which are no names themselves."""

    def fields(self) -> dict[str, Any]:
        """List what was collected, as fields of `Symbol`; what is listed follows from all that was
        read.
        """
        self._settle_listings()
        return super().fields()

    def _settle_listings(self) -> None:
        if self._asks_for_any and self._asks_for_kinds:
            # `getattr(visitor, type(node).__name__.lower())`
            self._note(
                self.lookups, NAMES_OF_CLASSES, *(f"*{text}*" for text in sorted(self._replacing))
            )
        if ANYTHING + HANDED in self.enumerates:
            for path in self._above:
                self._list_path(path)
        if self._lists_modules:
            self.enumerates |= {
                f"{LOADED}{prefix}": line for prefix, line in self._prefixes.items()
            }
        chosen = {pattern: line for pattern, line in self._ends.items() if pattern.strip("*_")}
        listed = [path for path in self.enumerates if path.endswith(LISTED)]
        unknown = any(path[0] == ANYTHING for path in (*self.enumerates, *self.open) if path)
        if chosen and (unknown or listed):
            # Of all names those are taken that begin or end so.
            for path in (EVERY_MEMBER, *listed):
                self.enumerates.pop(path, None)
            self.enumerates |= {f"{ANYTHING}{pattern}": line for pattern, line in chosen.items()}

    def _look_into(self, table: ast.Attribute, asked: ast.expr) -> None:
        """Note that a table of names is asked for one: what the frame or function holds is of some
        module.
        """
        self._looked_into.add(table)
        if table.attr in _OF_MODULES:
            if isinstance(asked, ast.Constant) and isinstance(asked.value, str):
                self._note(self.uses, f"{LOADED}.{asked.value}")
            else:
                self._asks_for_any = True
                self._note(self.open, LOADED)

    def _list_elsewhere(self, name: str) -> None:
        """Note a builtin that lists names and is handed on: `map(vars, things)`."""
        if name in ("dir", "vars") and self._scope.owner(name) is None:
            self._note(self.enumerates, ANYTHING + HANDED)
            if name in OF_OBJECTS:
                self._note(self.enumerates, EVERY_MEMBER)

    def _hand_on(self, nodes: Iterable[ast.expr], to: Sequence[str] = ("",)) -> None:
        """Note what is handed on as a value: code that is given a class or module may list its
        names.

        Args:
            nodes: what is handed on.
            to: paths of the function that is given it; empty for what a list or dictionary holds.
        """
        for node in nodes:
            for path in self.paths_of(node) if isinstance(node, ast.Name | ast.Attribute) else ():
                if path[0] not in _NO_KINDS or path == "@cls":
                    self._note(self.handed, *(f"{function}{HANDED_TO}{path}" for function in to))

    def _list(self, node: ast.expr, *, methods: bool = False, stored: bool = False) -> None:
        """Note that all names of an expression are listed.

        Of something unknown these are the names of the classes and modules that are handed on,
        and of all classes where `methods` are listed, or those of the class of an object. Of an
        object nothing is listed but what is `stored` in it, if so.
        """
        if _is_own_module(node):
            self._note(self.enumerates, "")
            return
        for path in self.paths_of(node):
            self._list_path(path, methods=methods, stored=stored)

    def _list_path(self, path: str, *, methods: bool = False, stored: bool = False) -> None:
        of_class = path.endswith(".__class__")
        path = path.removesuffix(".__class__")
        self._note(
            self.enumerates, f"{path}.__dict__" if stored and not of_class else path, path + HANDED
        )
        if methods or of_class:
            self._note(self.enumerates, EVERY_MEMBER if path == ANYTHING else path + LISTED)

    def _show(self, node: ast.JoinedStr | ast.BinOp) -> None:
        """Note what a text says in a sentence: no name has the blank in `f"{type(update).__name__}
        sets nothing"`.
        """
        if isinstance(node, ast.JoinedStr) and not could_be_a_name(pattern_of(node)):
            self._shown.update(
                part.value for part in node.values if isinstance(part, ast.FormattedValue)
            )

    def _list_within(self, node: ast.Attribute) -> None:
        """Note what is listed along a chain of attributes: `thing.__dict__`, `sys.modules`."""
        if node.attr in _KINDS and isinstance(node.ctx, ast.Load) and node not in self._shown:
            self._asks_for_kinds = True
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            if inner.attr == "modules" and getattr(inner.value, "id", "") == "sys":
                self._note(self.enumerates, "")
                self._lists_modules = self._lists_modules or inner not in self._looked_into
            elif inner in self._looked_into:
                self._note(
                    self.enumerates,
                    *self.paths_of(inner if inner.attr == "__dict__" else inner.value),
                )
            elif inner.attr in TABLES:
                self._list(inner.value, stored=inner.attr == "__dict__")
            elif inner.attr in _ABOVE:
                self._note(self._above, *self.paths_of(inner.value))
            inner = inner.value

    def _listed_by(self, function: str, arguments: Sequence[ast.expr]) -> None:
        """Note what a function lists all names of: the module around it where it is given
        nothing.
        """
        if arguments:
            self._list(arguments[0], methods=function in OF_OBJECTS, stored=function == "vars")
        else:
            self._note(self.enumerates, "")


def _is_own_module(node: ast.expr) -> bool:
    """Tell whether an expression is `sys.modules[__name__]`."""
    match node:
        case ast.Subscript(ast.Attribute(ast.Name("sys"), "modules"), ast.Name("__name__")):
            return True
    return False
