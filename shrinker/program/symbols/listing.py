"""Code that goes through names: of modules, classes and objects that it reaches, and of what is
handed to it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable

from shrinker.program.symbols.liveness import Outside, Reason
from shrinker.program.symbols.program import Key
from shrinker.program.symbols.spelled import SpelledNames
from shrinker.program.symbols.types import Found, Types, Value, ordered
from shrinker.values.folded import EVERY_MEMBER, HANDED, HANDED_TO, LISTED, LOADED, Symbol

_PRIVATE = re.compile(r"_[a-z]")
_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Listing(SpelledNames):
    """Keeps what code that lists names may come across."""

    def __init__(self, types: Types, outside: Outside) -> None:
        super().__init__(types, outside)
        self.handed: set[Value] = set()
        """Classes and modules that live code hands on as values."""
        self._given = defaultdict[str, set[Value]](set)
        """Those that are handed to code of each module."""
        self._listing: dict[str, Reason] = {}
        """Modules of which live code lists the names of something of which nothing is known."""
        self._naming: Reason | None = None
        """Where live code looks up names that it makes of those of classes."""
        self._mixing = False
        """True when live code makes a class of several bases, some of them unknown."""

    def owner(self, key: Key) -> int:
        """Return the class of whose objects `self` is one, in a unit; -2 when it may be
        anything.
        """
        unit = self.program.unit(key)
        if key in self._borrowed:
            return -2
        return unit.parent if unit.kind == "member" else key[1] if unit.kind == "class" else -1

    def _enumerate(self, key: Key, unit: Symbol) -> None:
        """The unit may look up any name of something: a private one only where it looks at all
        names, or where its module has a text that the name begins with. What is handed to it to be
        looked up is a name that somebody writes, and nobody but its owner writes a private one.
        """
        owner = self.owner(key)
        begun = tuple(
            t
            for each in self.program.modules[key[0]].units
            for t, _ in each.texts
            if _PRIVATE.match(t)
        )
        paths = [
            *((path, line, ("",)) for path, line in unit.enumerates),
            *((*each, begun) for each in unit.open),
        ]
        tabled = (
            (path, line)
            for path, table, line in unit.tabled
            if not self._is_spelled_out(key, table)
        )
        paths += [(path, line, ("",)) for path, line in tabled]
        handed = (
            (path, line)
            for path, *places, line in unit.by_parameter
            if not self._callers_spell_out(key, places)
        )
        paths += [(path, line, begun) for path, line in handed]
        for path, line, private in paths:
            reason = Reason(key, "enumeration", line)
            if path.endswith((HANDED, LISTED)):
                self._list_unknown(key, path, reason)
                continue
            if path[:1] == LOADED and path != LOADED:
                for module in self.program.modules:
                    if module.startswith(path[1:]):
                        self.submodules.spell(module)
                        self._escape(module, reason)
                continue
            listed, stored = path.removesuffix(".__dict__"), path.endswith(".__dict__")
            if listed[:1] == "?" and not self.outside.lists_others(key[0]):
                self._of_anything(listed, reason)
            found = (
                ordered(self.types.follow(key[0], owner, listed, key[1]).values)
                if path
                else [Value("module", key[0])]
            )
            for value in found:
                if stored and value.kind == "object":
                    # What is stored in an object is none of its methods.
                    continue
                if value.kind in ("module", "outside"):
                    self.submodules.enumerate(value)
                if value.kind == "module":
                    self._all_of(value.module, reason, private)
                elif value.kind in ("class", "subclass", "object"):
                    self._mark_all(self.types.family(value.key), reason, private)
                if value.kind == "loaded":
                    self._hand_on_loaded(reason)
                if value.kind == "class":
                    self._lend(self.types.ancestors(value.key))

    def _look_up_classes(self, reason: Reason) -> None:
        """Names are made of those of classes: `Add` may be looked up as `Add`, `add` or, for
        `AddAll`, `add_all`.
        """
        if self._naming is None:
            self._naming = reason
            for key in [key for key in self.live if self.program.unit(key).kind == "class"]:
                self._look_up_class(key, reason)

    def _look_up_class(self, key: Key, reason: Reason) -> None:
        name = self.program.unit(key).names[0]
        for each in (name, name.lower(), _WORD_STARTS.sub("_", name).lower()):
            self.look_up(each, reason)

    def _list_unknown(self, key: Key, path: str, reason: Reason) -> None:
        """All names of something are listed: what they are where nothing says what it is."""
        path, ending = path[: -len(LISTED)], path[-len(LISTED) :]
        found = self.types.follow(key[0], self.owner(key), path, key[1]) if path else None
        if (
            found is None
            or Value("anything") not in found.values
            or self.outside.lists_others(key[0])
        ):
            return
        if ending == LISTED:
            self._of_anything(EVERY_MEMBER, reason)
        if key[0] not in self._listing:
            self._listing[key[0]] = reason
            for value in ordered(frozenset(self._given[key[0]])):
                self._list_value(value, reason)

    def _hand_on(self, key: Key, unit: Symbol) -> None:
        """Classes and modules are handed on as values: where names of anything are listed, so may
        theirs be.
        """
        owner = self.owner(key)
        for pair, _ in unit.handed:
            function, _, path = pair.rpartition(HANDED_TO)
            found = self.types.follow(key[0], owner, path, key[1])
            values = {*found.values}
            for module, number in self._definitions(found) if function else ():
                # A list that holds classes is handed on.
                held = self.program.unit((module, number)).handed
                paths = (
                    each.removeprefix(HANDED_TO) for each, _ in held if each.startswith(HANDED_TO)
                )
                values.update(
                    *(self.types.follow(module, -1, each, number).values for each in paths)
                )
            given = frozenset(
                value for value in values if value.kind in ("class", "subclass", "module")
            )
            if given:
                called = (
                    self.types.follow(key[0], owner, function, key[1])
                    if function
                    else Found(frozenset())
                )
                self._give_to(given, self._modules_of(called))

    def _modules_of(self, function: Found) -> set[str]:
        """Find the modules of what may be called."""
        found = {module for module, _ in self._definitions(function)}
        names = (touch.name for touch in function.touches if touch.kind == "name")
        return found.union(member[0] for name in names for member in self._by_name.get(name, ()))

    def _definitions(self, found: Found) -> set[Key]:
        """Find the units that a look-up leads to, beyond the imports that hand them on."""
        units: set[Key] = set()
        stack = [*found.touches]
        while stack:
            touch = stack.pop()
            if touch.kind not in ("unit", "member", "borrowed") or touch.key in units:
                continue
            units.add(touch.key)
            unit = self.program.unit(touch.key)
            if unit.kind == "import":
                stack += self.types.imported(*unit.imports[0][:2]).touches
        return units

    def _give_to(self, values: frozenset[Value], modules: Iterable[str]) -> None:
        """Code of some modules is given classes or modules."""
        for value in ordered(values - self.handed):
            self.handed.add(value)
            if self._mixing and value.kind != "module":
                # Of any class beside it, `self` may be an object.
                self._lend(self.types.ancestors(value.key))
        for module in sorted(modules):
            for value in ordered(values - self._given[module]):
                self._given[module].add(value)
                if module in self._listing:
                    self._list_value(value, self._listing[module])

    def _list_value(self, value: Value, reason: Reason) -> None:
        if value.kind == "module":
            self._all_of(value.module, reason, ("",))
        else:
            classes = (
                self.types.family(value.key)
                if value.kind == "subclass"
                else self.types.ancestors(value.key)
            )
            self._mark_all(classes, reason, ("",))

    def _lend(self, classes: Iterable[Key]) -> None:
        """Functions are taken out of classes: called by another class, `self` may be anything in
        them.
        """
        for each in classes:
            for members in self.program.members.get(each, {}).values():
                for member in members:
                    if member not in self._borrowed:
                        self._borrowed.add(member)
                        if member in self.live:
                            self._stack.append(member)

    def _of_anything(self, path: str, reason: Reason) -> None:
        """Look up the names of something unknown: all, or those that a text begins or ends."""
        if path == EVERY_MEMBER:
            self._mark_all(self.program.members, reason, ("",))
        elif pattern := path[1:]:
            self._pattern(pattern, reason)

    def _exported_by(self, found: Found, reason: Reason) -> None:
        """Keep all names that modules export.

        `getattr(api, name) for name in api.__all__` may look each of them up.
        """
        for value in ordered(found.values):
            held = [value.module] if value.kind == "module" else sorted(self._escaped)
            for module in held:
                if module in self.program.modules:
                    for name in sorted(self.program.modules[module].exports):
                        self._touch(self.types.imported(module, name), reason)
                    if self.program.modules[module].exports_all:
                        self._all_of(module, reason, ())

    def _all_of(self, name: str, reason: Reason, private: tuple[str, ...]) -> None:
        self._load(name, reason)
        for key, unit in self.program.modules[name].keyed if name in self.program.modules else ():
            if unit.kind != "member" and (not unit.names or _is_meant(unit.names[0], private)):
                self.keep(key, reason)

    def _mark_all(
        self, classes: Iterable[Key], reason: Reason, private: tuple[str, ...] = ()
    ) -> None:
        """The public members of some classes, and the private ones that are meant."""
        for name, members in (
            row for key in classes for row in self.program.members.get(key, {}).items()
        ):
            for member in members if _is_meant(name, private) else ():
                self._mark(member, reason)


def _is_meant(name: str, private: tuple[str, ...]) -> bool:
    """True for a public name, and for a private one that begins like one of some texts."""
    return not name.startswith("_") or name.startswith(private)
