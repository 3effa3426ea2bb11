"""Names that are looked up by `getattr` and its kin: written, computed, out of a table, or handed
over by who calls.
"""

import ast
import re
from collections.abc import Iterable

from shrinker.fold.summary import pattern_of
from shrinker.fold.symbols.listings import TABLES, Listings
from shrinker.fold.symbols.paths import owner_of
from shrinker.fold.symbols.tables import SpelledTexts, Tables
from shrinker.syntax.names import last_name
from shrinker.syntax.scopes import Scope
from shrinker.values.folded import ANY_PLACE, ANYTHING, LOADED

_MANGLED = re.compile(r"_\*(__[\w*]+)$")
_SETTING = frozenset({"delattr", "setattr"})
LOOKUPS = frozenset({"getattr", "hasattr", "setattr", "delattr", "methodcaller", "attrgetter"})


class Lookups(Listings):
    """Notes which names a unit looks up, and what it hands to those that do."""

    def __init__(self, module: Scope, tables: SpelledTexts) -> None:
        """Begin with nothing."""
        super().__init__(module, tables)
        self._private: dict[tuple[Scope, str], tuple[str, str]] = {}
        """Parameters of a private function that the unit is: where a caller gives them, by position
        and by name.
        """
        self._called: set[ast.expr] = set()
        self._fields: set[tuple[Scope, str]] = set()
        """Names that run over what `dataclasses.fields` or `msgspec.structs.fields` gives."""

    def _look_up(self, name: str, arguments: list[ast.expr]) -> list[ast.expr]:
        """Note what a function that looks a name up is asked for; those of its arguments are left
        that are read as any other.
        """
        target, asked = arguments[0], arguments[1]
        if isinstance(asked, ast.Constant) and isinstance(asked.value, str):
            self._note(self.uses, *(f"{path}.{asked.value}" for path in self.paths_of(target)))
            if asked.value in TABLES:
                self._list(target)
            if name == "setattr":
                self._give(asked.value, target)
            del arguments[1]
        elif mangled := _MANGLED.match(pattern_of(asked)):
            # `f"_{type(x).__name__}__{name}"`: a private name as its class writes it.
            self._note(self.lookups, mangled[1])
        elif self._computed(asked, self.lookups):
            if name == "setattr":
                self._give(pattern_of(asked), target)
        elif (behind := self._tables.tables_behind(asked, self._scope)) is not None:
            self._note_tabled(self.paths_of(target), behind)
        elif (place := self._own_parameter(asked)) is not None:
            for path in self.paths_of(target):
                self.by_parameter.setdefault((path, *place), self._line)
        else:
            # The name may come from anywhere.
            self._asks_for_any = self._asks_for_any or not self._is_name_of_field(asked)
            found = self.paths_of(target)
            self._note(
                self.open, *(path for path in found if path != LOADED or name not in _SETTING)
            )
        return arguments

    def _enter_loop(self, target: ast.expr, iterated: ast.expr) -> None:
        """Note what the names of a loop or comprehension may be."""
        self._tables.enter_loop(target, iterated, self._scope)
        if (
            isinstance(target, ast.Name)
            and isinstance(iterated, ast.Call)
            and last_name(iterated.func) == "fields"
        ):
            self._fields.add((self._scope, target.id))

    def _is_name_of_field(self, asked: ast.expr) -> bool:
        """True for `field.name` where `field` runs over the fields of a class: what an attribute is
        called, and no class.
        """
        match asked:
            case ast.Attribute(value=ast.Name(id=name), attr="name"):
                owner = self._scope.owner(name)
                alone = (
                    owner is not None
                    and len(owner.bindings.names.get(name, ())) <= 1
                    and name not in owner.rebound
                )
                return alone and (owner, name) in self._fields
        return False

    def _give(self, name: str, target: ast.expr) -> None:
        """An attribute is set."""
        if self.paths_of(target) == ("@self",):
            self.attributes.add(name)
        else:
            self.patches.add(name)

    def _own_name(self, asked: ast.expr) -> None:
        """Note that a name of the module is looked up in `globals()`."""
        if (behind := self._tables.tables_behind(asked, self._scope)) is not None:
            self._note_tabled(("",), behind)
        else:
            self._note(self.enumerates, "")

    def _own_parameter(self, node: ast.expr) -> tuple[str, str] | None:
        """Find where callers of a private function give what an expression is; None where it is
        none of its parameters.
        """
        if not isinstance(node, ast.Name):
            return None
        owner = owner_of(node.id, self._scope)
        if owner is None or node.id in owner.rebound or node.id in owner.bindings.names:
            return None
        return self._private.get((owner, node.id))

    def _hand_texts(self, node: ast.Call) -> None:
        """Note where a call of a private function hands it a text that is not spelled out, and
        where one of a table.
        """
        callee = last_name(node.func)
        base = node.func.value if isinstance(node.func, ast.Attribute) else None
        # `Class._ask(thing, name)` gives the object first, `thing._ask(name)` does not.
        exact = base is None or self.paths_of(base) in (("@self",), ("@super",))
        for index, argument in enumerate(node.args):
            places = [index] if exact else [index, index - 1]
            for table in self._behind(argument):
                starred = isinstance(argument, ast.Starred)
                self.hands.update(
                    (callee, ANY_PLACE if starred else str(place), table) for place in places
                )
        for keyword in node.keywords:
            self.hands.update(
                (callee, keyword.arg or ANY_PLACE, table) for table in self._behind(keyword.value)
            )

    def _behind(self, node: ast.expr) -> Iterable[str]:
        """List the tables that an expression is a text of; an empty name for one that the unit
        spells out, `ANYTHING` for any text.
        """
        behind = self._tables.tables_behind(node, self._scope)
        return (ANYTHING,) if behind is None else behind or ("",)

    def _note_tabled(self, paths: Iterable[str], tables: Tables) -> None:
        """Note what is asked for texts that some tables of the module hold, or that the unit itself
        spells out.
        """
        for path in paths:
            for table in tables or ("",):
                self.tabled.setdefault((path, table), self._line)


def is_globals(node: ast.Call) -> bool:
    """Tell whether a call gives the names of the module around it."""
    return isinstance(node.func, ast.Name) and node.func.id == "globals" and not node.args
