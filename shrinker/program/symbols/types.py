"""What paths stand for: modules, classes, a method's own object; what looking them up touches; and
what classes inherit.

Only what the syntax proves is resolved: modules and classes by their names, and ``self``, ``cls``
and ``super()``. A look-up on anything else, annotated or not, is one by name. Nothing here depends
on what is live: an answer is computed once.
"""

import builtins
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple, TypeVar

from shrinker.program.symbols.program import Key, Program

_BUILTINS = frozenset(dir(builtins))
_BOUND = frozenset({"static", "classmethod"})
"""Methods that are given no object, or the class itself, wherever they are read."""
Q = TypeVar("Q", bound=Hashable)
A = TypeVar("A")
T = TypeVar("T")


class Value(NamedTuple):
    """What an expression may be."""

    kind: str
    """``module``, ``class``, ``subclass`` (the class or one below it), ``object`` (of the class or
    one below it), ``outside`` (named, not of the tree), ``loaded`` (some module that is loaded) or
    ``anything``.
    """
    module: str = ""
    """Of a module or what is defined in it; the dotted name of something outside."""
    unit: int = -1

    @property
    def key(self) -> Key:
        """The unit of a class or object."""
        return self.module, self.unit


Values = frozenset[Value]
UNKNOWN: Values = frozenset({Value("anything")})


class Touch(NamedTuple):
    """One thing that a look-up may find."""

    kind: str
    """``unit`` (a symbol), ``member`` (of a class), ``borrowed`` (a method read from its class),
    ``heirs`` (classes that inherit from it), ``module``, ``loaded`` (a name of some module that is
    loaded) or ``name`` (looked up on anything).
    """
    module: str = ""
    unit: int = -1
    name: str = ""

    @property
    def key(self) -> Key:
        """The unit."""
        return self.module, self.unit


class Found(NamedTuple):
    """Result of following a path."""

    values: Values
    touches: frozenset[Touch] = frozenset()


_NOTHING_PROVEN = Found(UNKNOWN)


def _found(values: Iterable[Value], touches: Iterable[Touch] = ()) -> Found:
    return Found(frozenset(values), frozenset(touches))


def ordered(found: frozenset[T]) -> Iterable[T]:
    """Return the same order in every run; most are one."""
    return found if len(found) < 2 else sorted(found, key=repr)


class Types:
    """Follows paths through all kept modules; remembers every answer."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._paths: dict[tuple[str, int, str], Found] = {}
        self._steps: dict[tuple[Value, str], Found] = {}
        self._busy: set[object] = set()
        self._cut = False
        """True when an answer since it was set is less than exact, because it was asked for while
        it was sought.
        """
        self._units: dict[Key, Values] = {}
        self.bases: dict[Key, list[Key]] = {}
        self._outside: dict[Key, set[str]] = {}
        """Bases outside the tree, ``?`` for one that is computed."""
        self._ancestors: dict[Key, tuple[Key, ...]] = {}
        self._families: dict[Key, tuple[Key, ...]] = {}
        self._below = defaultdict[Key, list[Key]](list)
        self._attributes = defaultdict[Key, set[str]](set)
        self._find_bases()
        # Bases were looked up before the families were known.
        self._paths.clear()
        self._steps.clear()
        self._units.clear()

    def _find_bases(self) -> None:
        for key, unit in self.program.keyed():
            name, number = key
            if unit.kind == "class":
                self._add_class(key, key, -1, unit.bases)
            if unit.kind in ("class", "member"):
                self._attributes[key if unit.kind == "class" else (name, unit.parent)].update(
                    unit.attributes
                )
            for index, bases in enumerate(unit.classes):
                # A class inside: it has no members of its own here, but it joins the families of
                # its bases.
                self._add_class((name, -(number * 1000 + index + 2)), key, unit.parent, bases)
        for key in sorted(self.bases):
            for ancestor in self.ancestors(key):
                if ancestor != key:
                    self._below[ancestor].append(key)

    def _add_class(self, key: Key, unit: Key, owner: int, bases: tuple[str, ...]) -> None:
        paths = [path for base in bases for path in base.split("|")]
        values = [
            value for path in paths for value in self.follow(unit[0], owner, path, unit[1]).values
        ]
        found = [value for value in values if value.kind in ("class", "subclass")]
        self.bases[key] = list(dict.fromkeys(value.key for value in found))
        self._outside[key] = {
            v.module if v.kind == "outside" else "?" for v in values if v not in found
        }

    def ancestors(self, key: Key) -> tuple[Key, ...]:
        """Return the class and all that it inherits from, in the tree."""
        if key not in self._ancestors:
            self._ancestors[key] = (key,)
            above = [each for base in self.bases.get(key, ()) for each in self.ancestors(base)]
            self._ancestors[key] = tuple(dict.fromkeys((key, *above)))
        return self._ancestors[key]

    def below(self, key: Key) -> list[Key]:
        """Return classes that inherit from it."""
        return self._below.get(key, [])

    def heirs(self, key: Key) -> list[Key]:
        """Return classes that inherit from it, but for those inside functions."""
        return [k for k in self.below(key) if k[1] >= 0]

    def family(self, key: Key) -> tuple[Key, ...]:
        """Return every class that an attribute of an object of the class may be found in."""
        if key not in self._families:
            found = dict.fromkeys(
                each for one in (key, *self.below(key)) for each in self.ancestors(one)
            )
            self._families[key] = tuple(each for each in found if each[1] >= 0)
        return self._families[key]

    def abstract_members(self, key: Key) -> list[Key]:
        """List the abstract members that a class has, and that neither it nor a class above it
        defines.
        """
        found: list[Key] = []
        defined: set[str] = set()
        for each in self.ancestors(key):
            if each[1] < 0:
                continue
            for name, members in self.program.members.get(each, {}).items():
                abstract = [
                    member for member in members if "abstract" in self.program.unit(member).flags
                ]
                if name not in defined:
                    found += abstract
            defined.update(self.program.members.get(each, ()), self.program.unit(each).attributes)
        return found

    def outsiders(self, key: Key) -> set[str]:
        """Bases outside the tree, of the class and of what it inherits from."""
        return set().union(*(self._outside.get(k, ()) for k in self.ancestors(key)))

    def registers(self, key: Key) -> bool:
        """Tell whether making the class may tell others of it: a metaclass, or a base that is told
        of its subclasses.
        """
        above = (k for k in self.ancestors(key) if k != key)
        return self.has_metaclass(key) or any(
            "__init_subclass__" in self.program.members.get(k, ()) for k in above
        )

    def has_metaclass(self, key: Key) -> bool:
        """Tell whether a metaclass of its own makes the class."""
        return any(
            "metaclass" in self.program.unit(k).flags for k in self.ancestors(key) if k[1] >= 0
        )

    def follow(self, module: str, owner: int, path: str, unit: int) -> Found:
        """Return what a path finds that stands in a module, and in a class with this number (-1: in
        none; -2: its `self` is anything); local imports that it may start from are the unit's.
        """
        match path[0]:
            case "?":
                # Of anything, wherever it stands.
                where = "", -1, path
            case "#":
                where = module, unit, path
            case "@":
                where = module, owner, path
            case _:
                where = module, -1, path
        known = self._paths.get(where)
        return (
            known
            if known is not None
            else self._sought(self._paths, where, self._follow, _NOTHING_PROVEN)
        )

    def _follow(self, where: tuple[str, int, str]) -> Found:
        module, number, path = where
        # Of a path that starts at a local import the number is the unit's, of any other one the
        # class's.
        head, _, name = path.rpartition(".")
        if not head:
            return self._root(module, number, name)
        before = self.follow(module, number, head, number)
        steps = [self._step(value, name) for value in before.values]
        touches = before.touches.union(*[step.touches for step in steps])
        return Found(frozenset().union(*[step.values for step in steps]), touches)

    def _sought(self, known: dict[Q, A], question: Q, seek: Callable[[Q], A], unproven: A) -> A:
        """Return the answer to a question; what leads back to it is not proven.

        Only what is as good as it can be is remembered.
        """
        if question in known:
            return known[question]
        if question in self._busy:
            self._cut = True
            return unproven
        self._busy.add(question)
        before, self._cut = self._cut, False
        answer = seek(question)
        self._busy.discard(question)
        if not self._cut or not self._busy:
            known[question] = answer
        self._cut = (self._cut or before) and bool(self._busy)
        return answer

    def _value_of(self, key: Key) -> Values:
        """Return what a name bound by this unit may be."""
        unit, found, stores = self.program.unit(key), UNKNOWN, self.program.modules[key[0]].globals
        if unit.kind == "class":
            found = frozenset({Value("class", *key)}) | (
                UNKNOWN if "replaced" in unit.flags else frozenset()
            )
        elif unit.kind == "import":
            found = self.imported(*unit.imports[0][:2], whole="whole" in unit.flags).values
        elif unit.kind == "assign" and len(unit.names) == 1 and stores.isdisjoint(unit.names):
            # `x = x` adds nothing to what `x` is.
            others = [each for each in self.program.bound(key[0], unit.names[0]) if each != key]
            paths = (
                self._all(others) if (p,) == unit.names else self.follow(key[0], -1, p, key[1])
                for p in unit.value
            )
            found = frozenset().union(*(path.values for path in paths))
        return found if self.program.patched.isdisjoint(unit.names) else found | UNKNOWN

    def imported(self, module: str, name: str, *, whole: bool = False) -> Found:
        """Return what an import binds."""
        program = self.program
        if name and program.is_module(module):
            step = self._step(Value("module", module), name)
            return Found(step.values, step.touches | {Touch("module", module)})
        if name:
            # Made while the program runs, if it is of the tree.
            own = module.partition(".")[0] in program.top and name != "*"
            return _by_name(name) if own else _found([Value("outside", f"{module}.{name}")])
        bound = module.partition(".")[0] if whole else module
        touches = [Touch("module", module)] if program.is_module(module) else []
        return _found([Value("module" if program.is_module(bound) else "outside", bound)], touches)

    def _root(self, module: str, number: int, name: str) -> Found:
        if name[0] == "#":
            return self.imported(*self.program.unit((module, number)).imports[int(name[1:])][:2])
        if name == "%":
            return _found([Value("loaded")])
        if name[0] == "?" or (number < 0 and name[0] == "@"):
            return _NOTHING_PROVEN
        if name[0] == "@":
            return _found([Value("subclass" if name == "@cls" else "object", module, number)])
        if bound := self.program.bound(module, name):
            return self._all(bound)
        return (
            _found([Value("outside", f"builtins.{name}")]) if name in _BUILTINS else _NOTHING_PROVEN
        )

    def _all(self, keys: Iterable[Key]) -> Found:
        keys = [*keys]
        values = (self._sought(self._units, key, self._value_of, UNKNOWN) for key in keys)
        return _found(frozenset().union(*values), [Touch("unit", *key) for key in keys])

    def _step(self, value: Value, name: str) -> Found:
        return self._sought(self._steps, (value, name), self._look, _NOTHING_PROVEN)

    def _look(self, where: tuple[Value, str]) -> Found:
        value, name = where
        match value.kind:
            case "outside":
                # `type.__subclasses__(cls)` asks any class.
                touches = [Touch("name", name=name)] if name == "__subclasses__" else []
                return _found([Value("outside", f"{value.module}.{name}")], touches)
            case "module":
                return self._in_module(value.module, name)
            case "class" | "subclass" | "object":
                return self._in_class(value, name)
            case "loaded":
                return _found(UNKNOWN, [Touch("loaded", name=name), Touch("name", name=name)])
        return _by_name(name)

    def _in_module(self, module: str, name: str) -> Found:
        found = self._all(self.program.bound(module, name))
        inner = f"{module}.{name}"
        if self.program.is_module(inner):
            return Found(
                found.values | {Value("module", inner)}, found.touches | {Touch("module", inner)}
            )
        return found if found.touches else _by_name(name)

    def _in_class(self, value: Value, name: str) -> Found:
        key = value.key
        if name == "__subclasses__":
            return _found(UNKNOWN, [Touch("heirs", *key)])
        touches: list[Touch] = []
        for each in self.ancestors(key) if value.kind == "class" else self.family(key):
            for member in self.program.members.get(each, {}).get(name, ()):
                bound = value.kind == "object" or not self.program.unit(member).flags.isdisjoint(
                    _BOUND
                )
                touches.append(Touch("member" if bound else "borrowed", *member))
        # Or it, or a class beside it in its family, gives an attribute of this name a value.
        if touches or any(name in self._attributes.get(each, ()) for each in self.family(key)):
            return _found(UNKNOWN, touches)
        # It forwards, inherits from outside the tree, or somebody sets it.
        return _by_name(name)


def _by_name(name: str) -> Found:
    """Return a look-up of which nothing is proven."""
    return _found(UNKNOWN, [Touch("name", name=name)])
