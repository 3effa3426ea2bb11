"""The search: from the roots to everything that live code can name."""

import re
from collections.abc import Collection, Iterator
from itertools import chain

from shrinker.program.symbols.listing import Listing
from shrinker.program.symbols.liveness import Node, Reason
from shrinker.program.symbols.program import Key
from shrinker.program.symbols.types import Found, Types, Value, ordered
from shrinker.ruleset.models import Api
from shrinker.syntax.names import is_special
from shrinker.values.folded import (
    FEWEST_LETTERS,
    NAMES_OF_CLASSES,
    Symbol,
)
from shrinker.values.relations import reached

_LETTERS = re.compile(r"[A-Za-z]")
_DEFINED = frozenset({"function", "class", "assign"})
"""Kinds of units that a star of an `api` rule stands for."""
_LOADING = frozenset({"class", "effect", "import"})
"""Kinds of units whose imports run when their module is loaded."""
_FINDING = frozenset({"api", "by name", "enumeration", "root", "subclass hook", "unpickled"})
"""Kinds of reasons by which code comes by a class that it does not name."""


class Search(Listing):
    """From the roots, and from each unit that is live, to what they name."""

    def start(self) -> None:
        """Make live what the roots and what stands beside the modules name."""
        modules = self.program.modules
        for name in sorted(self.outside.roots.keys() & modules.keys()):
            reason = Reason(self.outside.roots[name], "root")
            self._load(name, reason)
            # People import what it exports, of a package all.
            package = name in self.program.packages or modules[name].path.endswith("__init__.py")
            whole = package or modules[name].exports_all
            for symbol in sorted(
                modules[name].exports.union(modules[name].symbols if whole else ())
            ):
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
            asked = [
                key
                for key in classes
                if not any(m in self.live for m in self.types.abstract_members(key))
            ]
            found = {value.key for value in self.handed}
            edges = (
                (to, reason) for (_, to), reason in self.edges.items() if isinstance(to, tuple)
            )
            found.update(to for to, reason in edges if reason.kind in _FINDING)
            asked = [key for key in asked if key in found]
        fresh: dict[Key, Reason] = {}
        for key in asked:
            missing = (
                member for member in self.types.abstract_members(key) if member not in self._marked
            )
            fresh.update(dict.fromkeys(missing, Reason(key, "abstract")))
        for member, reason in fresh.items():
            self._mark(member, reason)
        return bool(fresh)

    def hand_on_submodules(self) -> bool:
        """Take loaded submodules of packages that live code holds for values.

        Returns:
            True when there was a new one.
        """
        held = [
            name for name in sorted(self.loaded) if self.submodules.is_handed_on(name, self.names)
        ]
        fresh = [name for name in held if name not in self._escaped]
        for name in fresh:
            self._escape(name, Reason(f"module:{name.rpartition('.')[0]}", "submodule"))
        return bool(fresh)

    def from_removed(self) -> dict[tuple[Node, Node], Reason]:
        """Return what units name that are not live, for explanations: after this the search decides
        nothing any more.
        """
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
            spelled = f"{name}.{symbol}" in api.names or any(
                self.program.unit(key).kind in _DEFINED for key in keys
            )
            if spelled and api.takes(name, symbol):
                self._give(name, symbol, reason)

    def _give(self, module: str, name: str, reason: Reason) -> None:
        """People take a name from a module, with the public members of a class."""
        found = self.types.imported(module, name)
        self._touch(found, reason)
        for value in ordered(found.values):
            if value.kind == "class":
                self._mark_all(self.types.ancestors(value.key), reason)

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
                self._exported_by(
                    self.types.follow(name, owner, base, key[1]), Reason(key, "enumeration", line)
                )
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
        for pattern, line in (
            *(row for row in spelled if not self.outside.is_label(name, row[0])),
            *unit.lookups,
        ):
            if pattern == NAMES_OF_CLASSES:
                self._look_up_classes(Reason(key, "pattern", line))
            else:
                self._pattern(pattern, Reason(key, "pattern", line))
        for index, (source, imported, line) in enumerate(unit.imports):
            reason = Reason(key, "import", line)
            if imported == "__all__":
                self._exported_by(
                    Found(frozenset({Value("module", source)})), Reason(key, "enumeration", line)
                )
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

    def _class(self, key: Key) -> None:
        self._look_up_protocol(key)
        if self._naming is not None:
            self._look_up_class(key, self._naming)
        asked_outside = self._called_from_outside(key)
        holder = self.outside.holder(f"{key[0]}.{self.program.unit(key).names[0]}")
        for name, members in self.program.members.get(key, {}).items():
            special = is_special(name)
            asked = (
                special or asked_outside is None or name in asked_outside or name in self._anywhere
            )
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
            # What comes in names any class below it, and clients write it with what the classes
            # have for that.
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


_LOADERS = frozenset(
    f"{package}.{name}"
    for package in ("pickle", "dill", "cloudpickle")
    for name in ("load", "loads", "Unpickler")
)
_OWN = frozenset({"classmethod", "static"})
_CHECKED = frozenset({"typing.runtime_checkable", "typing_extensions.runtime_checkable"})


def _mixes(bases: tuple[str, ...]) -> bool:
    """Tell whether a class may inherit from several others, of which nothing says which."""
    return len(bases) > 1 and any("?" in base.split("|") for base in bases)


def _unpickles(types: Types, key: Key) -> bool:
    """True for a class of which a class method or static method unpickles something, itself or by a
    function of its module. An object that unpickles what another process of the server sent is
    none: who sends it is kept code, which names the class.
    """

    def uses(member: Key) -> Iterator[Found]:
        # What hangs on the class or the object is never one of these.
        return (
            types.follow(key[0], -1, path, member[1]) for path, _ in types.program.unit(member).uses
        )

    def called(member: Key) -> Iterator[Key]:
        touches = (
            touch for found in uses(member) for touch in found.touches if touch.module == key[0]
        )
        return (
            t.key
            for t in touches
            if t.kind == "unit" and types.program.unit(t.key).kind == "function"
        )

    methods = chain.from_iterable(types.program.members.get(key, {}).values())
    reading = reached(
        (member for member in methods if not _OWN.isdisjoint(types.program.unit(member).flags)),
        called,
    )
    values = (value for member in reading for found in uses(member) for value in found.values)
    return any(value.kind == "outside" and value.module in _LOADERS for value in values)
