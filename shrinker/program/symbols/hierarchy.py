"""Classes of the program, what they inherit, and what their attributes hold."""

from collections.abc import Callable

from shrinker.program.symbols.lookups import Found
from shrinker.program.symbols.program import Key, Program


class Hierarchy:
    """Bases and families of classes."""

    def __init__(self, program: Program) -> None:
        """
        Args:
            program: all kept modules.
        """
        self._program = program
        self.bases: dict[Key, list[Key]] = {}
        self.outside: dict[Key, set[str]] = {}
        """Bases outside the tree, ``?`` for one that is computed."""
        self._ancestors: dict[Key, tuple[Key, ...]] = {}
        self._families: dict[Key, tuple[Key, ...]] = {}
        self._below: dict[Key, list[Key]] = {}
        self._attributes: dict[Key, set[str]] = {}

    def build(self, follow: Callable[[str, int, str, int], Found]) -> None:
        """Resolve the bases of all classes; once, before anything else is asked.

        Args:
            follow: what a path finds, as `Types.follow`.
        """
        for name, module in self._program.modules.items():
            for number, unit in enumerate(module.units):
                if unit.kind == "class":
                    self._add((name, number), (name, number), -1, unit.bases, follow)
                owner = unit.parent if unit.kind == "member" else number if unit.kind == "class" else None
                if owner is not None:
                    self._attributes.setdefault((name, owner), set()).update(unit.attributes)
                for index, bases in enumerate(unit.classes):
                    # A class inside: it has no members of its own here, but it joins the families of its bases.
                    self._add((name, -(number * 1000 + index + 2)), (name, number), unit.parent, bases, follow)
        for key in sorted(self.bases):
            for ancestor in self.ancestors(key):
                if ancestor != key:
                    self._below.setdefault(ancestor, []).append(key)

    def _add(
        self, key: Key, unit: Key, owner: int, bases: tuple[str, ...], follow: Callable[[str, int, str, int], Found]
    ) -> None:
        found: list[Key] = []
        outside: set[str] = set()
        for base in bases:
            for path in base.split("|"):
                for value in follow(unit[0], owner, path, unit[1]).values:
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

    def outsiders(self, key: Key) -> set[str]:
        """Bases outside the tree, of the class and of what it inherits from."""
        return set().union(*(self.outside.get(k, ()) for k in self.ancestors(key)))

    def registers(self, key: Key) -> bool:
        """True when making the class may tell others of it: a metaclass, or a base that is told of its subclasses."""
        return any(
            "metaclass" in self._program.unit(k).flags
            or (k != key and "__init_subclass__" in self._program.modules[k[0]].members.get(k[1], ()))
            for k in self.ancestors(key)
            if k[1] >= 0
        )

    def has_attribute(self, key: Key, name: str) -> bool:
        """True when the class, or one beside it in its family, gives an attribute of this name a value."""
        return any(name in self._attributes.get(k, ()) for k in self.family(key))
