"""Names that come out of tables or from callers: whether the program spells each of them out, so
that it is looked up as a text by itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from shrinker.program.symbols.liveness import Liveness
from shrinker.program.symbols.program import Key
from shrinker.values.folded import ANY_PLACE, ANYTHING
from shrinker.values.relations import grouped


class SpelledNames(Liveness):
    """Asks the whole program, whatever of it is live."""

    def _is_spelled_out(self, key: Key, table: str) -> bool:
        """Tell whether each text of a table of the unit's module is looked up as a text by itself.

        Another module that mentions the table may write into it, and a text that a rule calls a
        label is not looked up.
        """
        module = self.program.modules[key[0]]
        others = (each for name, each in self.program.modules.items() if name != key[0])
        if table and any(table in each.words for each in others):
            return False
        holding = (
            [unit for unit in module.units if table in dict(unit.uses)]
            if table
            else [self.program.unit(key)]
        )
        return not any(
            self.outside.is_label(key[0], text) for unit in holding for text, _ in unit.texts
        )

    def _callers_spell_out(self, key: Key, places: Iterable[str]) -> bool:
        """Tell whether each caller of a private function gives it, at one of some places, a text
        that is written in the caller's module.
        """
        unit = self.program.unit(key)
        name = unit.names[0]
        if (
            unit.kind not in ("function", "member")
            or name in self._spelled_names
            or self._is_called_from_outside(key)
        ):
            # Who looks the function up by its name may call it with anything.
            return False
        meant = {ANY_PLACE, *places}
        given = (
            (caller, table) for caller, place, table in self._handed.get(name, ()) if place in meant
        )
        return all(
            table != ANYTHING and self._is_spelled_out(caller, table) for caller, table in given
        )

    def _is_called_from_outside(self, key: Key) -> bool:
        """Tell whether a base outside the tree may call a method."""
        unit = self.program.unit(key)
        if unit.kind != "member":
            return False
        called = self._called_from_outside((key[0], unit.parent))
        return called is None or unit.names[0] in called or unit.names[0] in self._anywhere

    def _called_from_outside(self, key: Key) -> frozenset[str] | None:
        """Return names that a base outside the tree may look up; None when it may be any."""
        bases = (
            base for each in (key, *self.types.below(key)) for base in self.types.outsiders(each)
        )
        names = [*map(self.outside.protocol, bases)]
        return None if None in names else frozenset().union(*filter(None, names))

    @cached_property
    def _handed(self) -> Mapping[str, Sequence[tuple[Key, str, str]]]:
        """Private functions by name: who calls one with a text that is not his own, at which place,
        and out of which table.
        """
        rows = (
            (name, (key, place, table))
            for key, unit in self.program.keyed()
            for name, place, table in unit.hands
        )
        renamed = (
            (imported, (key, ANY_PLACE, ANYTHING))
            for key, unit in self.program.keyed()
            if unit.kind == "import"
            for _, imported, _ in unit.imports
            if imported not in unit.names
        )
        return grouped([*rows, *renamed])

    @cached_property
    def _spelled_names(self) -> frozenset[str]:
        """Texts of the modules, and words of what stands beside them."""
        beside = (words for words, _ in self.outside.words)
        return frozenset(text for _, unit in self.program.keyed() for text, _ in unit.texts).union(
            *beside
        )
