"""Classes of the program, what they inherit, and what their attributes hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shrinker.graph.symbols.program import Key, Program

if TYPE_CHECKING:
    from shrinker.graph.symbols.types import Types, Value

_BARE = frozenset({"ABC", "object", "Generic", "Protocol"})
"""Bases outside the tree that give a class nothing."""


class Hierarchy:
    """Bases and families of classes."""

    def __init__(self, program: Program, types: Types) -> None:
        """
        Args:
            program: all kept modules.
            types: resolves bases and attributes.
        """
        self._program = program
        self._types = types
        self.bases: dict[Key, list[Key]] = {}
        self.outside: dict[Key, set[str]] = {}
        """Bases outside the tree, ``?`` for one that is computed."""
        self._ancestors: dict[Key, tuple[Key, ...]] = {}
        self._families: dict[Key, tuple[Key, ...]] = {}
        self._below: dict[Key, list[Key]] = {}
        self._attributes: dict[Key, dict[str, list[tuple[Key, tuple[str, ...]]]]] = {}
        self._known: dict[tuple[Key, str], frozenset[Value]] = {}
        self._computed: set[Key] = set()
        self._methods: dict[Key, frozenset[str]] = {}

    def build(self) -> None:
        """Resolve the bases of all classes; once, before anything else is asked."""
        for name, module in self._program.modules.items():
            for number, unit in enumerate(module.units):
                if unit.kind == "class":
                    self._add((name, number), (name, number), -1, unit.bases)
                    self._attributes.setdefault((name, number), {})
                owner = unit.parent if unit.kind == "member" else number if unit.kind == "class" else None
                if owner is not None:
                    known = self._attributes.setdefault((name, owner), {})
                    for attribute, paths in unit.types:
                        known.setdefault(attribute, []).append(((name, number), paths))
                    if "computed" in unit.flags:
                        self._computed.add((name, owner))
                for index, bases in enumerate(unit.classes):
                    # A class inside: it has no members of its own here, but it joins the families of its bases.
                    self._add((name, -(number * 1000 + index + 2)), (name, number), unit.parent, bases)
        for key in sorted(self.bases):
            for ancestor in self.ancestors(key):
                if ancestor != key:
                    self._below.setdefault(ancestor, []).append(key)

    def _add(self, key: Key, unit: Key, owner: int, bases: tuple[str, ...]) -> None:
        found: list[Key] = []
        outside: set[str] = set()
        for base in bases:
            for path in base.split("|"):
                for value in self._types.follow(unit[0], owner, path, unit[1]).values:
                    if value.kind in ("class", "subclass"):
                        found.append(value.key)
                    elif value.kind == "outside":
                        outside.add(value.module)
                    else:
                        outside.add("?")
        self.bases[key] = list(dict.fromkeys(found))
        self.outside[key] = outside

    def ancestors(self, key: Key) -> tuple[Key, ...]:
        """The class and all that it inherits from, in the tree."""
        if key not in self._ancestors:
            self._ancestors[key] = (key,)
            found = [key]
            for base in self.bases.get(key, ()):
                found.extend(self.ancestors(base))
            self._ancestors[key] = tuple(dict.fromkeys(found))
        return self._ancestors[key]

    def below(self, key: Key) -> list[Key]:
        """Classes that inherit from it."""
        return self._below.get(key, [])

    def family(self, key: Key) -> tuple[Key, ...]:
        """Every class that an attribute of an object of the class may be found in."""
        if key not in self._families:
            found = list(self.ancestors(key))
            for child in self.below(key):
                found.extend(self.ancestors(child))
            self._families[key] = tuple(k for k in dict.fromkeys(found) if k[1] >= 0)
        return self._families[key]

    def rest(self, key: Key) -> tuple[Key, ...]:
        """Where `super()` in the class may find something."""
        below = {key, *self.below(key)}
        return tuple(k for k in self.family(key) if k not in below)

    def outsiders(self, key: Key) -> set[str]:
        """Bases outside the tree, of the class and of what it inherits from."""
        return set().union(*(self.outside.get(k, ()) for k in self.ancestors(key)))

    def forwards(self, key: Key) -> bool:
        """True when an object of the class may answer for names that no class of the tree shows."""
        return any(
            not {"__getattr__", "__getattribute__"}.isdisjoint(self._program.modules[k[0]].members.get(k[1], ()))
            for k in self.family(key)
        )

    def registers(self, key: Key) -> bool:
        """True when making the class may tell others of it: a metaclass, or a base that is told of its subclasses."""
        return any(
            "metaclass" in self._program.unit(k).flags
            or (k != key and "__init_subclass__" in self._program.modules[k[0]].members.get(k[1], ()))
            for k in self.ancestors(key)
            if k[1] >= 0
        )

    def methods(self, key: Key) -> frozenset[str]:
        """Names of the members of the class and of all that it inherits from."""
        if key not in self._methods:
            found: set[str] = set()
            for each in self.ancestors(key):
                found.update(self._program.modules[each[0]].members.get(each[1], ()))
            self._methods[key] = frozenset(found)
        return self._methods[key]

    def is_enumeration(self, key: Key) -> bool:
        """True for an enumeration: its attributes are its objects."""
        return any(base.partition(".")[0] == "enum" for base in self.outsiders(key))

    def is_protocol(self, key: Key) -> bool:
        """True for a class that objects need not inherit from to be of it."""
        return any(base.rpartition(".")[2] == "Protocol" for base in self.outside.get(key, ()))

    def has_attribute(self, key: Key, name: str) -> bool:
        """True when the class or one that it inherits from gives an attribute of this name a value."""
        return any(name in self._attributes.get(k, ()) for k in self.ancestors(key))

    def is_declared(self, key: Key, name: str) -> bool:
        """True when the class annotates the attribute."""
        return any(self._types.is_declared(paths) for _, paths in self._attributes.get(key, {}).get(name, ()))

    def has_more(self, key: Key) -> bool:
        """True when a base outside the tree may give the class attributes that the tree does not show."""
        return any(b.rpartition(".")[2] not in _BARE for k in (key, *self.below(key)) for b in self.outsiders(k))

    def attribute(self, key: Key, name: str, *, declared: bool) -> frozenset[Value]:
        """What an attribute may hold that the class itself sets; empty when it sets none of that name.

        Args:
            key: the class.
            name: the attribute.
            declared: only what annotations say.
        """
        from shrinker.graph.symbols.types import ANYTHING

        found: set[Value] = set()
        for unit, paths in self._attributes.get(key, {}).get(name, ()):
            if not declared or self._types.is_declared(paths):
                found |= self._types.union(unit, paths)
        if found and not declared and key in self._computed:
            found.add(ANYTHING)
        return frozenset(found)
