"""What paths stand for: modules, classes, objects, functions of the tree, and what looking them up touches.

Nothing here depends on what is live: an answer is computed once.
"""

from __future__ import annotations

import builtins
from collections import OrderedDict, defaultdict, deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from shrinker.graph.symbols.hierarchy import Hierarchy
from shrinker.graph.symbols.program import Key, Program

_BUILTINS = frozenset(dir(builtins))
_PLAIN = frozenset(
    {"int", "str", "bool", "float", "bytes", "None", "complex", "len", "range", "sum", "isinstance", "hasattr"}
)
_BAGS = frozenset({"dict", "list", "tuple", "set", "frozenset", "deque", "Dict", "List", "Tuple", "Set", "defaultdict"})
_SCALAR_NAMES = frozenset(n for kind in (str, bytes, int, float, complex, type(None)) for n in dir(kind))
_BAG_NAMES = frozenset(n for kind in (list, dict, set, tuple, deque, defaultdict, OrderedDict) for n in dir(kind))
"""What literals and containers have: whatever else is looked up on one shows that it is something else."""
_OPEN = frozenset({"typing", "typing_extensions", "collections", "abc", "types", "builtins"})
"""Packages whose annotations say nothing of what the object is."""


@dataclass(frozen=True, slots=True)
class Value:
    """What an expression may be."""

    kind: str
    """``module``, ``class``, ``subclass`` (the class or one below it), ``object``, ``rest`` (what `super()` finds), ``function``,
    ``many`` (a container of objects), ``taker`` (a method of one), ``bag`` (a container of anything), ``outside`` (named, not
    of the tree), ``foreign`` (an object of a package outside the tree), ``anything`` or ``nothing``."""
    module: str = ""
    """Of a module or what is defined in it; the dotted name of something outside."""
    unit: int = -1
    declared: bool = False
    """True when only an annotation says that an object is of this class."""

    @property
    def key(self) -> Key:
        """The unit of a class, object or function."""
        return self.module, self.unit


ANYTHING = Value("anything")
NOTHING = Value("nothing")
BAG = Value("bag")
Values = frozenset[Value]
UNKNOWN: Values = frozenset({ANYTHING})
NONE: Values = frozenset({NOTHING})


@dataclass(frozen=True, slots=True)
class Touch:
    """One thing that a look-up may find."""

    kind: str
    """``unit`` (a symbol), ``member`` (of a class), ``borrowed`` (a method read from its class), ``heirs`` (classes that
    inherit from it), ``looked`` (a name, on an object that an annotation says is of the class), ``module``, ``name``, or
    ``kin`` (a name, looked up on an object of a package outside the tree)."""
    module: str
    """Or package."""
    unit: int = -1
    name: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """Result of following a path."""

    values: Values
    touches: frozenset[Touch]


class Types:
    """Follows paths; remembers every answer."""

    def __init__(self, program: Program, *, trust: bool, opaque: Collection[str] = ()) -> None:
        """
        Args:
            program: all kept modules.
            trust: take annotations of parameters, attributes and results for what they say.
            opaque: functions outside the tree whose results are never objects of the tree; ``package.*`` for all of one.
        """
        self.program = program
        self.trust = trust
        self._opaque = frozenset(opaque)
        self._paths: dict[tuple[str, int, str], Found] = {}
        self._steps: dict[tuple[Value, str], Found] = {}
        self._busy: set[object] = set()
        self._cut = False
        """True when an answer since it was set is less than exact, because it was asked for while it was sought."""
        self._units: dict[Key, Values] = {}
        self._gifts: dict[tuple[str, Value], Values] = {}
        self._given: dict[str, list[tuple[Key, tuple[str, ...], tuple[str, ...]]]] = {}
        for module in program.modules.values():
            for number, unit in enumerate(module.units):
                for name, receivers, paths in unit.gives:
                    self._given.setdefault(name, []).append(((module.name, number), receivers, paths))
        self.hierarchy = Hierarchy(program, self)
        self.hierarchy.build()
        # Bases were looked up before the families were known.
        self._paths.clear()
        self._steps.clear()
        self._units.clear()
        self._gifts.clear()

    def follow(self, module: str, owner: int, path: str, unit: int) -> Found:
        """What a path finds.

        Args:
            module: where it stands.
            owner: number of the class around it, or -1; its `self` is anything when -2.
            path: the path.
            unit: whose local imports it may start from.
        """
        where = (module, unit if path[0] == "#" else owner if path[0] == "@" else -1, path)
        known = self._paths.get(where)
        if known is not None:
            return known
        if where in self._busy:
            self._cut = True
            return Found(UNKNOWN, frozenset())
        before_cut = self._enter(where)
        head, _, last = path.rpartition(".")
        name = last.rstrip("()~!%*")
        marks = last[len(name) :]
        if head:
            before = self.follow(module, owner, head, unit)
            values: set[Value] = set()
            touches = set(before.touches)
            for value in before.values:
                step = self._step(value, name)
                values |= step.values
                touches |= step.touches
            found = Found(frozenset(values), frozenset(touches))
        else:
            found = self._root(module, owner, name, unit)
        while marks:
            if marks.startswith("()"):
                found = Found(self._called(found.values), found.touches)
                marks = marks[2:]
            elif marks.startswith("~"):
                found = Found(self._annotated(found.values), found.touches)
                marks = marks[1:]
            elif marks.startswith("*"):
                found = Found(self._contained(found.values), found.touches)
                marks = marks[1:]
            elif marks.startswith("%"):
                found = Found(self._taken(found.values), found.touches)
                marks = marks[1:]
            else:
                marks = marks[1:]
        if self._leave(where, before_cut):
            self._paths[where] = found
        return found

    def _enter(self, question: object) -> bool:
        self._busy.add(question)
        before, self._cut = self._cut, False
        return before

    def _leave(self, question: object, before: bool) -> bool:
        """True when the answer is as good as it can be, so that it may be remembered."""
        self._busy.discard(question)
        final = not self._cut or not self._busy
        self._cut = (self._cut or before) and bool(self._busy)
        return final

    def value_of(self, key: Key) -> Values:
        """What a name bound by this unit may be."""
        known = self._units.get(key)
        if known is not None:
            return known
        if key in self._busy:
            self._cut = True
            return UNKNOWN
        before = self._enter(key)
        unit = self.program.unit(key)
        found: Values
        match unit.kind:
            case "class":
                found = frozenset({Value("class", *key)})
            case "function" | "member":
                found = frozenset({Value("function", *key)})
                if unit.runs:
                    found |= UNKNOWN
            case "import":
                found = self.imported(*unit.imports[0], whole="whole" in unit.flags).values
            case "assign" if len(unit.names) == 1 and self.is_declared(unit.value):
                found = self.union(key, unit.value)
            case "assign" if not self.program.modules[key[0]].globals.isdisjoint(unit.names):
                found = UNKNOWN
            case "assign" if len(unit.names) == 1:
                found = self.union(key, unit.value)
            case _:
                found = UNKNOWN
        if self._leave(key, before):
            self._units[key] = found
        return found

    def union(self, key: Key, paths: Iterable[str]) -> Values:
        """Everything that these paths of a unit may be; annotations count when they are trusted."""
        unit = self.program.unit(key)
        owner = unit.parent if unit.kind == "member" else key[1] if unit.kind == "class" else -1
        paths = list(paths)
        if self.is_declared(paths):
            paths = [p for p in paths if _is_annotation(p)]
        else:
            paths = [p for p in paths if not _is_annotation(p)] or ["?"]
        out: set[Value] = set()
        for path in paths:
            out |= self.follow(key[0], owner, path, key[1]).values
        return frozenset(out) or NONE

    def is_declared(self, paths: Collection[str]) -> bool:
        """True when an annotation that is trusted says what something is."""
        return self.trust and "?~" not in paths and any(_is_annotation(p) for p in paths)

    def given(self, name: str, to: Value) -> Values:
        """What code other than a class's own gives an attribute of this name, of a module or of objects like `to`."""
        if name not in self._given:
            return frozenset()
        where = (name, to)
        known = self._gifts.get(where)
        if known is None:
            self._gifts[where] = UNKNOWN
            found: set[Value] = set()
            for key, receivers, paths in self._given[name]:
                if any(self._may_be(v, to) for v in self.union(key, receivers)):
                    found |= self.union(key, paths)
            known = self._gifts[where] = frozenset(found)
        return known

    def heirs(self, key: Key) -> list[Key]:
        """Classes that inherit from it, but for those inside functions."""
        return [k for k in self.hierarchy.below(key) if k[1] >= 0]

    def _may_be(self, value: Value, to: Value) -> bool:
        if value.kind in ("anything", "bag"):
            return True
        if to.kind in ("module", "foreign") or value.kind == "module":
            return value == to
        if value.kind == "foreign":
            return any(b == "?" or b.partition(".")[0] == value.module for b in self.hierarchy.outsiders(to.key))
        if value.unit < 0 or value.kind in ("function", "many", "taker"):
            return False
        return to.key in self.hierarchy.family(value.key) or value.key in self.hierarchy.family(to.key)

    def imported(self, module: str, name: str, *, whole: bool = False) -> Found:
        """What an import binds."""
        if not name:
            bound = module.partition(".")[0] if whole else module
            touches = frozenset({Touch("module", module)} if self.program.is_module(module) else ())
            if not self.program.is_module(bound):
                return Found(frozenset({Value("outside", bound)}), touches)
            return Found(frozenset({Value("module", bound)}), touches)
        if not self.program.is_module(module):
            return Found(frozenset({Value("outside", f"{module}.{name}")}), frozenset())
        step = self._step(Value("module", module), name)
        return Found(step.values, step.touches | {Touch("module", module)})

    def _root(self, module: str, owner: int, name: str, unit: int) -> Found:
        if name[0] == "?" or (owner == -2 and name[0] == "@"):
            return Found(UNKNOWN, frozenset())
        if name == "0":
            return Found(NONE, frozenset())
        if name == "[":
            return Found(frozenset({BAG}), frozenset())
        if name[0] == "#":
            return self.imported(*self.program.unit((module, unit)).imports[int(name[1:])])
        if name[0] == "@":
            if owner < 0:
                return Found(UNKNOWN, frozenset())
            kind = {"@self": "object", "@cls": "subclass", "@super": "rest"}[name]
            return Found(frozenset({Value(kind, module, owner)}), frozenset())
        bound = self.program.bound(module, name)
        if not bound:
            return Found(frozenset({Value("outside", f"builtins.{name}")}), frozenset())
        values: set[Value] = set()
        touches: set[Touch] = set()
        for key in bound:
            touches.add(Touch("unit", *key))
            values |= self.value_of(key)
        return Found(frozenset(values), frozenset(touches))

    def _step(self, value: Value, name: str) -> Found:
        where = (value, name)
        known = self._steps.get(where)
        if known is not None:
            return known
        if where in self._busy:
            self._cut = True
            return Found(UNKNOWN, frozenset())
        before = self._enter(where)
        found = self._look(value, name)
        if self._leave(where, before):
            self._steps[where] = found
        return found

    def _look(self, value: Value, name: str) -> Found:
        match value.kind:
            case "nothing" if name in _SCALAR_NAMES:
                return Found(NONE, frozenset())
            case "outside":
                return Found(frozenset({Value("outside", f"{value.module}.{name}")}), frozenset())
            case "many" if name in _BAG_NAMES:
                return Found(frozenset({replace(value, kind="taker")}), frozenset())
            case "bag" if name in _BAG_NAMES:
                return Found(frozenset({BAG}), frozenset())
            case "foreign":
                values = frozenset({value}) if f"{value.module}.*" in self._opaque else UNKNOWN
                values |= self.given(name, value)
                return Found(values, frozenset({Touch("kin", value.module, name=name)}))
            case "module":
                return self._in_module(value.module, name)
            case "class" | "subclass" | "object" | "rest":
                return self._in_class(value, name)
        return Found(UNKNOWN, frozenset({Touch("name", "", name=name)}))

    def _in_module(self, module: str, name: str) -> Found:
        bound = self.program.bound(module, name)
        values: set[Value] = set()
        touches: set[Touch] = set()
        for key in bound:
            touches.add(Touch("unit", *key))
            values |= self.value_of(key)
        inner = f"{module}.{name}"
        if self.program.is_module(inner):
            touches.add(Touch("module", inner))
            values.add(Value("module", inner))
        if not values:
            values.add(ANYTHING)
        values |= self.given(name, Value("module", module))
        if not touches:
            touches.add(Touch("name", "", name=name))
        return Found(frozenset(values), frozenset(touches))

    def _in_class(self, value: Value, name: str) -> Found:
        key = value.key
        if name == "__class__":
            return Found(frozenset({Value("subclass", *key)}), frozenset())
        if name == "__subclasses__":
            return Found(UNKNOWN, frozenset({Touch("heirs", *key)}))
        family = {
            "class": self.hierarchy.ancestors,
            "rest": self.hierarchy.rest,
        }.get(value.kind, self.hierarchy.family)(key)
        values: set[Value] = set()
        touches: set[Touch] = {Touch("looked", *key, name)} if value.declared else set()
        is_class = value.kind in ("class", "subclass")
        if is_class and self.hierarchy.is_enumeration(key) and self.hierarchy.has_attribute(key, name):
            return Found(frozenset({Value("object", *key)}), frozenset())
        for each in family:
            module = self.program.modules[each[0]]
            for number in module.members.get(each[1], {}).get(name, ()):
                unit = module.units[number]
                static = not unit.flags.isdisjoint({"static", "classmethod"})
                borrowed = value.kind in ("class", "subclass") and not static
                touches.add(Touch("borrowed" if borrowed else "member", each[0], number))
                if "property" in unit.flags and value.kind in ("object", "rest"):
                    values |= self.union((each[0], number), unit.value)
                else:
                    values |= self.value_of((each[0], number))
        declared = [each for each in family if self.hierarchy.is_declared(each, name)]
        for each in declared or family:
            values |= self.hierarchy.attribute(each, name, declared=bool(declared))
        if values and not declared:
            values |= self.given(name, value)
        if not values:
            if not self.hierarchy.forwards(key) and (value.kind == "rest" or self.hierarchy.has_more(key)):
                return Found(UNKNOWN, frozenset(touches))
            return Found(UNKNOWN, frozenset({*touches, Touch("name", "", name=name)}))
        return Found(frozenset(values), frozenset(touches))

    def _called(self, values: Values) -> Values:
        out: set[Value] = set()
        for value in values:
            match value.kind:
                case "class" | "subclass":
                    out.add(Value("object", *value.key))
                case "function":
                    out |= self.union(value.key, self.program.unit(value.key).value)
                case "taker":
                    out |= {replace(value, kind="object"), replace(value, kind="many")}
                case "outside" if value.module.removeprefix("builtins.") in _PLAIN:
                    out.add(NOTHING)
                case "outside" if value.module.rpartition(".")[2] in _BAGS:
                    out.add(BAG)
                case "outside" if self._is_opaque(value.module):
                    out.add(Value("foreign", value.module.partition(".")[0]))
                case "foreign" if f"{value.module}.*" in self._opaque:
                    out.add(value)
                case "nothing":
                    out.add(NOTHING)
                case _:
                    out.add(ANYTHING)
        return frozenset(out)

    def _is_opaque(self, name: str) -> bool:
        while name not in self._opaque:
            name, dot, _ = name.removesuffix(".*").rpartition(".")
            if not dot:
                return False
            name += ".*"
        return True

    def _annotated(self, values: Values) -> Values:
        if not self.trust:
            return UNKNOWN
        out: set[Value] = set()
        for value in values:
            match value.kind:
                case "class" if not self.hierarchy.is_protocol(value.key):
                    out.add(Value("object", *value.key, declared=True))
                case "outside" if value.module.removeprefix("builtins.") in _PLAIN:
                    out.add(NOTHING)
                case "outside" if value.module.rpartition(".")[2] in _BAGS:
                    out.add(BAG)
                case "outside" if value.module.partition(".")[0] not in _OPEN:
                    out.add(Value("foreign", value.module.partition(".")[0]))
                case "nothing" | "bag":
                    out.add(value)
                case _:
                    out.add(ANYTHING)
        return frozenset(out)

    def _contained(self, values: Values) -> Values:
        many = {replace(v, kind="many") for v in values if v.kind in ("object", "many")}
        return frozenset(
            [*many, *(v for v in values if v.kind == "nothing")]
            + [BAG for v in values if v.kind not in ("object", "many", "nothing")]
        )

    def _taken(self, values: Values) -> Values:
        out: set[Value] = set()
        for value in values:
            match value.kind:
                case "many":
                    out |= {replace(value, kind="object"), value}
                case "nothing":
                    out.add(value)
                case "foreign" if f"{value.module}.*" in self._opaque:
                    out.add(value)
                case "object":
                    made = [
                        self._called(step.values)
                        for name in ("__getitem__", "__iter__")
                        if (step := self._step(value, name)).values != UNKNOWN
                    ]
                    out.update(*made) if made else out.add(ANYTHING)
                case _:
                    out.add(ANYTHING)
        return frozenset(out)


def _is_annotation(path: str) -> bool:
    return path.rstrip("*")[-1:] == "~"
