"""Bases that give a class nothing once no member of theirs is live: they leave the class's header, and then go themselves.

Only where nobody can tell the difference. What is left of the order in which Python looks for members (C3, as in "A Monotonic
Superclass Linearization for Dylan", 1996) must be as before, in the class and in each that inherits from it, and neither class
may be one of which making it, or storing an attribute of its objects, does something of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

from shrinker.program.symbols.hierarchy import BARE, Hierarchy
from shrinker.program.symbols.program import Key, Program
from shrinker.program.symbols.types import Types

T = TypeVar("T", bound=Hashable)
_Entry = Key | str
"""A class of the tree, or the dotted name of one outside."""


class Mixins:
    """Which bases a class may lose."""

    def __init__(self, program: Program, types: Types) -> None:
        """
        Args:
            program: all kept modules.
            types: resolves bases.
        """
        self._program = program
        self._types = types
        self._hierarchy: Hierarchy = types.hierarchy
        self._heirs: dict[Key, list[Key]] = {}
        for heir, bases in self._hierarchy.bases.items():
            for base in bases:
                self._heirs.setdefault(base, []).append(heir)

    def of(self, key: Key) -> dict[int, Key]:
        """The bases of a class that may leave its header, by the number of the unit that names each.

        Args:
            key: of the class.
        """
        module = self._program.modules[key[0]]
        found: dict[int, Key] = {}
        for number in module.children.get(key[1], ()):
            unit = module.units[number]
            if unit.kind != "base":
                continue
            base = self._class(key, unit.value[0]) if len(unit.value) == 1 else None
            if isinstance(base, tuple) and self._is_plain(base) and self._heirs.get(base) == [key]:
                found[number] = base
        return found if found and self._is_open(key) and self._keeps_order(key, set(found.values())) else {}

    def _class(self, key: Key, path: str) -> _Entry | None:
        """What the base of a class is; None when it may be several things."""
        values = list(self._types.follow(key[0], -1, path, key[1]).values)
        if len(values) != 1:
            return None
        match values[0].kind:
            case "class":
                return values[0].key
            case "outside":
                return values[0].module
        return None

    def _is_plain(self, key: Key) -> bool:
        """True for a class that inherits from nothing, with methods and nothing else."""
        unit = self._program.unit(key)
        if unit.bases or unit.flags or unit.runs or unit.uses or unit.texts or unit.attributes:
            return False
        return not unit.imports and not unit.classes and not unit.patterns

    def _is_open(self, key: Key) -> bool:
        """True when an object of the class, or of one below it, is what Python makes of any class."""
        hierarchy = self._hierarchy
        around = (key, *hierarchy.below(key))
        if any(each[1] < 0 for each in around) or any("replaced" in self._program.unit(each).flags for each in around):
            return False
        if any(hierarchy.registers(each) or hierarchy.has_attribute(each, "__slots__") for each in around):
            return False
        # What two classes outside have in common is not known here.
        return all(
            len({b for b in hierarchy.outsiders(each) if b.rpartition(".")[2] not in BARE}) <= 1 for each in around
        )

    def _keeps_order(self, key: Key, gone: set[Key]) -> bool:
        for each in (key, *self._hierarchy.below(key)):
            before = self._linear(each, frozenset())
            if before is None or self._linear(each, frozenset(gone)) != [k for k in before if k not in gone]:
                return False
        return True

    def _linear(self, key: _Entry, without: frozenset[Key]) -> list[_Entry] | None:
        """The order of a class; None for one that is not known."""
        if isinstance(key, str):
            return [key]
        bases: list[_Entry] = []
        for path in self._program.unit(key).bases:
            base = self._class(key, path)
            if base is None:
                return None
            if base not in without:
                bases.append(base)
        orders: list[list[_Entry]] = []
        for base in bases:
            order = self._linear(base, without)
            if order is None:
                return None
            orders.append(order)
        rest = merge([*orders, bases])
        return None if rest is None else [key, *rest]


def merge(orders: Sequence[Sequence[T]]) -> list[T] | None:
    """Python's merge of the orders of the bases and of their own order; None where it would refuse the class."""
    left = [list(order) for order in orders if order]
    found: list[T] = []
    while left:
        head = next((o[0] for o in left if not any(o[0] in other[1:] for other in left)), None)
        if head is None:
            return None
        found.append(head)
        left = [rest for order in left if (rest := [entry for entry in order if entry != head])]
    return found
