"""The search: from the roots to everything that live code can name."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

from shrinker.program.symbols.liveness import Liveness, Node, Outside, Reason
from shrinker.program.symbols.program import Key
from shrinker.program.symbols.types import Found, Types, Value, ordered
from shrinker.ruleset.models import Api
from shrinker.syntax.names import is_special
from shrinker.values.folded import (
    ANY_PLACE,
    ANYTHING,
    EVERY_MEMBER,
    FEWEST_LETTERS,
    HANDED,
    HANDED_TO,
    LISTED,
    LOADED,
    NAMES_OF_CLASSES,
    Symbol,
)
from shrinker.values.relations import grouped, reached

_LETTERS = re.compile(r"[A-Za-z]")
_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PRIVATE = re.compile(r"_[a-z]")
_DEFINED = frozenset({"function", "class", "assign"})
"""Kinds of units that a star of an `api` rule stands for."""
_LOADING = frozenset({"class", "effect", "import"})
"""Kinds of units whose imports run when their module is loaded."""
_FINDING = frozenset({"api", "by name", "enumeration", "root", "subclass hook", "unpickled"})
"""Kinds of reasons by which code comes by a class that it does not name."""


class Search(Liveness):
    """From the roots, and from each unit that is live, to what they name."""

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

    def start(self) -> None:
        """Make live what the roots and what stands beside the modules name."""
        modules = self.program.modules
        for name in sorted(self.outside.roots.keys() & modules.keys()):
            reason = Reason(self.outside.roots[name], "root")
            self._load(name, reason)
            # People import what it exports, of a package all.
            package = name in self.program.packages or modules[name].path.endswith("__init__.py")
            whole = package or modules[name].exports_all
            for symbol in sorted(modules[name].exports.union(modules[name].symbols if whole else ())):
                self._give(name, symbol, reason)
        for api in self.outside.rules.apis:
            for name in (name for name in api.modules if name in modules):
                self._offer(name, api, Reason(f"root:{api.id}", "api"))
        for name in sorted(self.outside.stay & modules.keys()):
            reason = Reason("root:file graph", "file")
            self._load(name, reason)
            for key, unit in modules[name].keyed:
                self._mark(key, reason) if unit.kind == "member" else self.keep(key, reason)
        for module, path in sorted(self.outside.scripts):
            self._script(module, path)
        for words, looked in self.outside.words:
            self._words(words, looked)
        for word in sorted(self.outside.data):
            self.look_up(word, Reason("root:other files", "string"))

    def drain(self) -> None:
        """Visit everything that became live."""
        while self._stack:
            self._visit(self._stack.pop())

    def acting(self) -> frozenset[str]:
        """Find the modules that do something when they are imported, by themselves.

        Beside what runs there, making a class may tell others of it, and a class may be found
        through one above it.
        """
        classes = (key for key, unit in self.program.keyed() if unit.kind == "class")
        telling = {key[0] for key in classes if self._told(key)}
        return self.program.acting.union(telling, self._heirs)

    def setting(self) -> dict[str, list[str]]:
        """Find by module the submodules that its imports load and that live code reads."""
        found: dict[str, list[str]] = {}
        for key, unit in self.program.keyed():
            if unit.kind in _LOADING and (read := self.read_submodules(unit)):
                found.setdefault(key[0], []).extend(read)
        return found

    def read_submodules(self, unit: Symbol) -> list[str]:
        """List what a unit loads that live code reads through the package around it."""
        found: list[str] = []
        for module, name, _ in unit.imports:
            names = self.program.submodules(module, name)
            found += [each for each in names if self.submodules.is_read(each, self.names)]
        return found

    def look_up_written(self) -> bool:
        """Look up the names of keywords, parameters and fields of live code; tell if one was new.

        `getattr(engine, key)` for each keyword that it is called with finds methods of that name.
        """
        fresh: dict[str, Key] = {}
        for key in sorted(self.live):
            unit = self.program.unit(key)
            names = (*unit.written, *(unit.attributes if unit.kind == "class" else ()))
            for name in names:
                if name not in self.names and (name in self._by_name or name in self._names_in):
                    fresh.setdefault(name, key)
        for name, key in fresh.items():
            self.look_up(name, Reason(key, "written", self.program.unit(key).span.line))
        return bool(fresh)

    def keep_abstract(self) -> bool:
        """Keep abstract methods of live classes of which Python makes no object for their sake.

        Without any of them, `kind()` would succeed for such a class, and `inspect.isabstract(kind)`
        say no. Only of a class that code comes by without naming it may anybody ask that.

        Returns:
            True when there was a new one.
        """
        classes = [key for key in sorted(self.live) if self.program.unit(key).kind == "class"]
        asked: Collection[Key] = classes
        if "__abstractmethods__" not in self.names:
            asked = [key for key in classes if not any(m in self.live for m in self.types.abstract_members(key))]
            found = {value.key for value in self.handed}
            edges = ((to, reason) for (_, to), reason in self.edges.items() if isinstance(to, tuple))
            found.update(to for to, reason in edges if reason.kind in _FINDING)
            asked = [key for key in asked if key in found]
        fresh: dict[Key, Reason] = {}
        for key in asked:
            missing = (member for member in self.types.abstract_members(key) if member not in self._marked)
            fresh.update(dict.fromkeys(missing, Reason(key, "abstract")))
        for member, reason in fresh.items():
            self._mark(member, reason)
        return bool(fresh)

    def hand_on_submodules(self) -> bool:
        """Take loaded submodules of packages that live code holds for values.

        Returns:
            True when there was a new one.
        """
        held = [name for name in sorted(self.loaded) if self.submodules.is_handed_on(name, self.names)]
        fresh = [name for name in held if name not in self._escaped]
        for name in fresh:
            self._escape(name, Reason(f"module:{name.rpartition('.')[0]}", "submodule"))
        return bool(fresh)

    def from_removed(self) -> dict[tuple[Node, Node], Reason]:
        """What units name that are not live, for explanations: after this the search decides nothing any more."""
        removed = dict.fromkeys(key for key, _ in self.program.keyed() if key not in self.live)
        self.edges = {}
        for key in removed:
            self._visit(key)
        # What follows from it is none of their names.
        return {pair: reason for pair, reason in self.edges.items() if pair[0] in removed}

    def _offer(self, name: str, api: Api, reason: Reason) -> None:
        """What code outside takes from a module, with the public members of classes."""
        self._load(name, reason)
        for symbol, keys in self.program.modules[name].symbols.items():
            spelled = f"{name}.{symbol}" in api.names or any(self.program.unit(key).kind in _DEFINED for key in keys)
            if spelled and api.takes(name, symbol):
                self._give(name, symbol, reason)

    def _give(self, module: str, name: str, reason: Reason) -> None:
        """People take a name from a module, with the public members of a class."""
        found = self.types.imported(module, name)
        self._touch(found, reason)
        for value in ordered(found.values):
            if value.kind == "class":
                self._mark_all(self.types.ancestors(value.key), reason)

    def _mark_all(self, classes: Iterable[Key], reason: Reason, private: tuple[str, ...] = ()) -> None:
        """The public members of some classes, and the private ones that are meant."""
        for name, members in (row for key in classes for row in self.program.members.get(key, {}).items()):
            for member in members if _is_meant(name, private) else ():
                self._mark(member, reason)

    def _script(self, module: str, path: str) -> None:
        """What a command calls: it is looked up in the module, and the rest on what that gives."""
        reason = Reason("root:entry point", "entry point")
        self._load(module, reason)
        name, *rest = path.split(".")
        self._touch(self.types.imported(module, name), reason)
        for member in rest:
            self.look_up(member, reason)

    def _words(self, words: frozenset[str], looked: frozenset[str]) -> None:
        reason = Reason("root:other files", "string")
        for name, module in self.program.modules.items():
            if words.issuperset(name.split(".")):
                self._load(name, reason)
                for symbol in (symbol for symbol in module.symbols if symbol in words):
                    self._touch(self.types.imported(name, symbol), reason)
        for word in looked:
            self.look_up(word, reason)

    def _visit(self, key: Key) -> None:
        name, unit = key[0], self.program.unit(key)
        module, around = self.program.modules[name], (name, unit.parent)
        if unit.parent >= 0 and (around not in self.live or self.program.unit(around).kind == "if"):
            self.keep(around, Reason(key, "around"))
        if name not in self.loaded:
            self._load(name, Reason(key, "around"))
        owner = self.owner(key)
        for path, line in unit.uses:
            found = self.types.follow(name, owner, path, key[1])
            self._touch(found, Reason(key, "name", line))
            root = path.partition(".")[0]
            self.submodules.note(found, self.types.follow(name, owner, root, key[1]))
            base, _, last = path.rpartition(".")
            if last == "__all__" and base:
                self._exported_by(self.types.follow(name, owner, base, key[1]), Reason(key, "enumeration", line))
        for text, line in unit.texts:
            if not self.outside.is_label(name, text):
                reason = Reason(key, "string", line)
                self.look_up(text, reason)
                # Evaluated as an annotation, or looked up among the module's own names.
                if text in module.symbols:
                    self._touch(self.types.follow(name, -1, text, key[1]), reason)
        # `name = "on_" + event`, then `getattr(listener, name)`.
        fewest = FEWEST_LETTERS - 1 if unit.open else FEWEST_LETTERS
        spelled = [row for row in unit.patterns if len(_LETTERS.findall(row[0])) >= fewest]
        for pattern, line in (*(row for row in spelled if not self.outside.is_label(name, row[0])), *unit.lookups):
            if pattern == NAMES_OF_CLASSES:
                self._look_up_classes(Reason(key, "pattern", line))
            else:
                self._pattern(pattern, Reason(key, "pattern", line))
        for index, (source, imported, line) in enumerate(unit.imports):
            reason = Reason(key, "import", line)
            if imported == "__all__":
                self._exported_by(Found(frozenset({Value("module", source)})), Reason(key, "enumeration", line))
            for loaded in self.program.loads(source, imported):
                self._load(loaded, reason)
            if unit.kind == "import" or imported not in ("", "*"):
                whole = unit.kind == "import" and index == 0 and "whole" in unit.flags
                for touch in ordered(self.types.imported(source, imported, whole=whole).touches):
                    self._reach(touch, reason)
        if unit.enumerates or unit.open or unit.tabled or unit.by_parameter:
            self._enumerate(key, unit)
        if not self._mixing and any(map(_mixes, (unit.bases, *unit.classes))):
            self._mixing = True
            for value in ordered(frozenset(self.handed)):
                self._lend(self.types.ancestors(value.key) if value.kind != "module" else ())
        if unit.handed:
            self._hand_on(key, unit)
        for line, kind, target in self.outside.edges.get(name, ()):
            if unit.span.line <= line <= unit.span.end_line and line > 1:
                self._escape(target, Reason(key, kind, line))
                self.submodules.spell(target)
        if unit.kind == "class":
            self._class(key)

    def owner(self, key: Key) -> int:
        """The class of whose objects `self` is one, in a unit; -2 when it may be anything."""
        unit = self.program.unit(key)
        if key in self._borrowed:
            return -2
        return unit.parent if unit.kind == "member" else key[1] if unit.kind == "class" else -1

    def _enumerate(self, key: Key, unit: Symbol) -> None:
        """The unit may look up any name of something: a private one only where it looks at all names, or where its module has a text that the
        name begins with. What is handed to it to be looked up is a name that somebody writes, and nobody but its owner writes a private one."""
        owner = self.owner(key)
        begun = tuple(t for each in self.program.modules[key[0]].units for t, _ in each.texts if _PRIVATE.match(t))
        paths = [*((path, line, ("",)) for path, line in unit.enumerates), *((*each, begun) for each in unit.open)]
        tabled = ((path, line) for path, table, line in unit.tabled if not self._is_spelled_out(key, table))
        paths += [(path, line, ("",)) for path, line in tabled]
        handed = ((path, line) for path, *places, line in unit.by_parameter if not self._callers_spell_out(key, places))
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
                ordered(self.types.follow(key[0], owner, listed, key[1]).values) if path else [Value("module", key[0])]
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
        """Names are made of those of classes: `Add` may be looked up as `Add`, `add` or, for `AddAll`, `add_all`."""
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
        if found is None or Value("anything") not in found.values or self.outside.lists_others(key[0]):
            return
        if ending == LISTED:
            self._of_anything(EVERY_MEMBER, reason)
        if key[0] not in self._listing:
            self._listing[key[0]] = reason
            for value in ordered(frozenset(self._given[key[0]])):
                self._list_value(value, reason)

    def _hand_on(self, key: Key, unit: Symbol) -> None:
        """Classes and modules are handed on as values: where names of anything are listed, so may theirs be."""
        owner = self.owner(key)
        for pair, _ in unit.handed:
            function, _, path = pair.rpartition(HANDED_TO)
            found = self.types.follow(key[0], owner, path, key[1])
            values = {*found.values}
            for module, number in self._definitions(found) if function else ():
                # A list that holds classes is handed on.
                held = self.program.unit((module, number)).handed
                paths = (each.removeprefix(HANDED_TO) for each, _ in held if each.startswith(HANDED_TO))
                values.update(*(self.types.follow(module, -1, each, number).values for each in paths))
            given = frozenset(value for value in values if value.kind in ("class", "subclass", "module"))
            if given:
                called = self.types.follow(key[0], owner, function, key[1]) if function else Found(frozenset())
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
            classes = self.types.family(value.key) if value.kind == "subclass" else self.types.ancestors(value.key)
            self._mark_all(classes, reason, ("",))

    def _lend(self, classes: Iterable[Key]) -> None:
        """Functions are taken out of classes: called by another class, `self` may be anything in them."""
        for each in classes:
            for members in self.program.members.get(each, {}).values():
                for member in members:
                    if member not in self._borrowed:
                        self._borrowed.add(member)
                        if member in self.live:
                            self._stack.append(member)

    def _is_spelled_out(self, key: Key, table: str) -> bool:
        """Tell whether each text of a table of the unit's module is looked up as a text by itself.

        Another module that mentions the table may write into it, and a text that a rule calls a label is not looked up.
        """
        module = self.program.modules[key[0]]
        others = (each for name, each in self.program.modules.items() if name != key[0])
        if table and any(table in each.words for each in others):
            return False
        holding = [unit for unit in module.units if table in dict(unit.uses)] if table else [self.program.unit(key)]
        return not any(self.outside.is_label(key[0], text) for unit in holding for text, _ in unit.texts)

    def _callers_spell_out(self, key: Key, places: Iterable[str]) -> bool:
        """Tell whether each caller of a private function gives it, at one of some places, a text that is written in the caller's module."""
        unit = self.program.unit(key)
        name = unit.names[0]
        if unit.kind not in ("function", "member") or name in self._spelled_names or self._is_called_from_outside(key):
            # Who looks the function up by its name may call it with anything.
            return False
        meant = {ANY_PLACE, *places}
        given = ((caller, table) for caller, place, table in self._handed.get(name, ()) if place in meant)
        return all(table != ANYTHING and self._is_spelled_out(caller, table) for caller, table in given)

    def _is_called_from_outside(self, key: Key) -> bool:
        """Tell whether a base outside the tree may call a method."""
        unit = self.program.unit(key)
        if unit.kind != "member":
            return False
        called = self._called_from_outside((key[0], unit.parent))
        return called is None or unit.names[0] in called or unit.names[0] in self._anywhere

    @cached_property
    def _handed(self) -> Mapping[str, Sequence[tuple[Key, str, str]]]:
        """Private functions by name: who calls one with a text that is not his own, at which place, and out of which table."""
        rows = ((name, (key, place, table)) for key, unit in self.program.keyed() for name, place, table in unit.hands)
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
        return frozenset(text for _, unit in self.program.keyed() for text, _ in unit.texts).union(*beside)

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

    def _class(self, key: Key) -> None:
        self._look_up_protocol(key)
        if self._naming is not None:
            self._look_up_class(key, self._naming)
        asked_outside = self._called_from_outside(key)
        holder = self.outside.holder(f"{key[0]}.{self.program.unit(key).names[0]}")
        for name, members in self.program.members.get(key, {}).items():
            special = is_special(name)
            asked = special or asked_outside is None or name in asked_outside or name in self._anywhere
            for member in members:
                if member in self._marked and not special:
                    self.keep(member, self._marked[member])
                elif asked or self.program.unit(member).runs:
                    self.keep(member, Reason(key, "protocol"))
                elif holder is not None and not name.startswith("_"):
                    self.keep(member, Reason(f"root:{holder}", "root"))
        for decorator in self.program.unit(key).decorators:
            # It is given the class.
            called = self.types.follow(key[0], key[1], decorator, key[1])
            self._give_to(frozenset({Value("class", *key)}), self._modules_of(called))
        if self.types.has_metaclass(key):
            # It is given the whole body of each class.
            self._mark_all([key], Reason(key, "metaclass"), ("",))
        if _unpickles(self.types, key):
            # What comes in names any class below it, and clients write it with what the classes have for that.
            reason = Reason(key, "unpickled")
            for each in (key, *self.types.heirs(key)):
                self._mark_all(self.types.ancestors(each), reason)
                self._keep_heir(each, reason)

    def _look_up_protocol(self, key: Key) -> None:
        """`isinstance` of a class that is checked at run time looks up each of its members."""
        unit = self.program.unit(key)
        paths = (self.types.follow(key[0], key[1], path, key[1]) for path, _ in unit.uses)
        asked = any(value.module in _CHECKED for found in paths for value in found.values)
        if asked:
            for name in (*self.program.members.get(key, ()), *unit.attributes):
                if not is_special(name):
                    self.look_up(name, Reason(key, "protocol"))

    def _called_from_outside(self, key: Key) -> frozenset[str] | None:
        """Names that a base outside the tree may look up; None when it may be any."""
        bases = (base for each in (key, *self.types.below(key)) for base in self.types.outsiders(each))
        names = [*map(self.outside.protocol, bases)]
        return None if None in names else frozenset().union(*filter(None, names))


_LOADERS = frozenset(
    f"{package}.{name}" for package in ("pickle", "dill", "cloudpickle") for name in ("load", "loads", "Unpickler")
)
_OWN = frozenset({"classmethod", "static"})
_CHECKED = frozenset({"typing.runtime_checkable", "typing_extensions.runtime_checkable"})


def _mixes(bases: tuple[str, ...]) -> bool:
    """Tell whether a class may inherit from several others, of which nothing says which."""
    return len(bases) > 1 and any("?" in base.split("|") for base in bases)


def _is_meant(name: str, private: tuple[str, ...]) -> bool:
    """True for a public name, and for a private one that begins like one of some texts."""
    return not name.startswith("_") or name.startswith(private)


def _unpickles(types: Types, key: Key) -> bool:
    """True for a class of which a class method or static method unpickles something, itself or by a function of its module. An object that
    unpickles what another process of the server sent is none: who sends it is kept code, which names the class."""

    def uses(member: Key) -> Iterator[Found]:
        # What hangs on the class or the object is never one of these.
        return (types.follow(key[0], -1, path, member[1]) for path, _ in types.program.unit(member).uses)

    def called(member: Key) -> Iterator[Key]:
        touches = (touch for found in uses(member) for touch in found.touches if touch.module == key[0])
        return (t.key for t in touches if t.kind == "unit" and types.program.unit(t.key).kind == "function")

    methods = chain.from_iterable(types.program.members.get(key, {}).values())
    reading = reached((member for member in methods if not _OWN.isdisjoint(types.program.unit(member).flags)), called)
    values = (value for member in reading for found in uses(member) for value in found.values)
    return any(value.kind == "outside" and value.module in _LOADERS for value in values)
