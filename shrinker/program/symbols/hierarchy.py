"""Classes of the program, what they inherit, and what their attributes hold."""

from collections import defaultdict
from collections.abc import Callable

from shrinker.program.symbols.lookups import Found
from shrinker.program.symbols.program import Key, Program

Follow = Callable[[str, int, str, int], Found]


class Hierarchy:
    """Bases and families of the classes of all kept modules."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.bases: dict[Key, list[Key]] = {}
        self.outside: dict[Key, set[str]] = {}
        """Bases outside the tree, ``?`` for one that is computed."""
        self._ancestors: dict[Key, tuple[Key, ...]] = {}
        self._families: dict[Key, tuple[Key, ...]] = {}
        self._below = defaultdict[Key, list[Key]](list)
        self._attributes = defaultdict[Key, set[str]](set)

    def build(self, follow: Follow) -> None:
        """Resolve the bases of all classes, by `Types.follow`; once, before anything else is asked."""
        for key, unit in self._program.keyed():
            name, number = key
            if unit.kind == "class":
                self._add(key, key, -1, unit.bases, follow)
            if unit.kind in ("class", "member"):
                self._attributes[key if unit.kind == "class" else (name, unit.parent)].update(unit.attributes)
            for index, bases in enumerate(unit.classes):
                # A class inside: it has no members of its own here, but it joins the families of its bases.
                self._add((name, -(number * 1000 + index + 2)), key, unit.parent, bases, follow)
        for key in sorted(self.bases):
            for ancestor in self.ancestors(key):
                if ancestor != key:
                    self._below[ancestor].append(key)

    def _add(self, key: Key, unit: Key, owner: int, bases: tuple[str, ...], follow: Follow) -> None:
        paths = [path for base in bases for path in base.split("|")]
        values = [value for path in paths for value in follow(unit[0], owner, path, unit[1]).values]
        found = [value for value in values if value.kind in ("class", "subclass")]
        self.bases[key] = list(dict.fromkeys(value.key for value in found))
        self.outside[key] = {v.module if v.kind == "outside" else "?" for v in values if v not in found}

    def ancestors(self, key: Key) -> tuple[Key, ...]:
        """The class and all that it inherits from, in the tree."""
        if key not in self._ancestors:
            self._ancestors[key] = (key,)
            above = [each for base in self.bases.get(key, ()) for each in self.ancestors(base)]
            self._ancestors[key] = tuple(dict.fromkeys((key, *above)))
        return self._ancestors[key]

    def below(self, key: Key) -> list[Key]:
        """Classes that inherit from it."""
        return self._below.get(key, [])

    def family(self, key: Key) -> tuple[Key, ...]:
        """Every class that an attribute of an object of the class may be found in."""
        if key not in self._families:
            found = dict.fromkeys(each for one in (key, *self.below(key)) for each in self.ancestors(one))
            self._families[key] = tuple(each for each in found if each[1] >= 0)
        return self._families[key]

    def outsiders(self, key: Key) -> set[str]:
        """Bases outside the tree, of the class and of what it inherits from."""
        return set().union(*(self.outside.get(k, ()) for k in self.ancestors(key)))

    def registers(self, key: Key) -> bool:
        """True when making the class may tell others of it: a metaclass, or a base that is told of its subclasses."""
        return any(
            "metaclass" in self._program.unit(k).flags
            or (k != key and "__init_subclass__" in self._program.members.get(k, ()))
            for k in self.ancestors(key)
            if k[1] >= 0
        )

    def has_attribute(self, key: Key, name: str) -> bool:
        """True when the class, or one beside it in its family, gives an attribute of this name a value."""
        return any(name in self._attributes.get(k, ()) for k in self.family(key))
