"""The search: from the roots to everything that live code can name.

A class member is live when its class is and when something looks up its name: on an object that may be of the class, or on
one of which nothing is proven.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Iterator

from shrinker.program.symbols.mixins import Mixins
from shrinker.program.symbols.program import Key, Module, Program
from shrinker.program.symbols.reasons import Node, Outside, Protocols, Reason
from shrinker.program.symbols.side_effect_imports import release_imports, release_names, settle_imports, settle_unnamed
from shrinker.program.symbols.types import Found, Touch, Types, ordered
from shrinker.program.symbols.unpickling import unpickles
from shrinker.ruleset.models import Api
from shrinker.values.units import Unit

_LAST = chr(sys.maxunicode)
"""A letter after which no other comes."""
_LETTERS = re.compile(r"[A-Za-z]")
_DEFINED = frozenset({"function", "class", "assign"})
"""Kinds of units that a star of an `api` rule stands for."""
_FEWEST = 3
"""Letters that a computed text must spell out to name something by itself."""


class Search:
    """State of one search; `run` fills it."""

    def __init__(self, program: Program, types: Types, outside: Outside, protocols: Protocols) -> None:
        """
        Args:
            program: all kept modules.
            types: follows paths.
            outside: what else may name something.
            protocols: bases outside the tree to the names that they look up on their objects.
        """
        self.program = program
        self.types = types
        self.live: dict[Key, Reason] = {}
        self.loaded: dict[str, Reason] = {}
        self.names: dict[str, Reason] = {}
        """Names looked up on something of which nothing is proven, or spelled by a string."""
        self.edges: dict[tuple[Node, Node], Reason] = {}
        """What names what, each pair once; the targets are not all live."""
        self.outside = outside
        self._protocols = protocols
        self._anywhere = frozenset(protocols.get("*") or ())
        self._stack: list[Key] = []
        self._marked: dict[Key, Reason] = {}
        self._borrowed: set[Key] = set()
        self._mixins = Mixins(program, types)
        self.awaited: dict[Key, Key] = {}
        """Bases of live classes that nothing needs so far, each with the unit that names it."""
        self._heirs: dict[str, list[Key]] = {}
        self._escaped: dict[str, Reason] = {}
        self._by_name: dict[str, list[Key]] = {}
        self._names_in: dict[str, list[Key]] = {}
        for name, module in program.modules.items():
            for members in module.members.values():
                for member, numbers in members.items():
                    self._by_name.setdefault(member, []).extend((name, n) for n in numbers)
        self._all_names = sorted({*self._by_name, *(n for m in program.modules.values() for n in m.symbols)})
        self._patterns: set[str] = set()
        self.asked: dict[str, tuple[str, int] | None] = {}
        """Names of methods that nothing live looks up, and where any code of upstream does."""
        self.settled: list[Key] = []
        """Imports that are kept for what they load, in the order in which that was found."""

    def run(self) -> None:
        """Search to the fixpoint."""
        for module in sorted(self.outside.roots):
            if module in self.program.modules:
                reason = Reason(self.outside.roots[module], "root")
                self._load(module, reason)
                self._public(self.program.modules[module], reason)
        for api in self.outside.apis:
            for module in api.modules:
                self._offer(module, api, Reason(f"root:{api.id}", "api"))
        for module in sorted(self.outside.stay):
            reason = Reason("root:file graph", "file")
            self._load(module, reason)
            for number, unit in enumerate(self.program.modules[module].units) if module in self.program.modules else ():
                self._mark((module, number), reason) if unit.kind == "member" else self.keep((module, number), reason)
        for module, path in sorted(self.outside.scripts):
            self._script(module, path)
        for words, looked in self.outside.words:
            self._words(words, looked)
        while True:
            self.drain()
            if not settle_imports(self) and not settle_unnamed(self):
                break
        release_imports(self)
        release_names(self)

    def drain(self) -> None:
        """Visit everything that became live."""
        while self._stack:
            self._visit(self._stack.pop())

    # Loading

    def _load(self, name: str, reason: Reason) -> None:
        if name not in self.program.modules:
            return
        node = f"module:{name}"
        self.edges.setdefault((reason.source, node), reason)
        if name in self.loaded:
            return
        self.loaded[name] = reason
        if "." in name:
            self._load(name.rpartition(".")[0], Reason(node, "package"))
        module = self.program.modules[name]
        for number, unit in enumerate(module.units):
            if unit.kind == "main":
                if name in self.outside.roots or name in self._escaped:
                    self.keep((name, number), Reason(node, "effect"))
            elif unit.kind == "import":
                if unit.imports[0][1] == "*" or self._escapes(unit):
                    self.keep((name, number), Reason(node, "import"))
            elif unit.kind == "class" and self._told(name, number):
                self.keep((name, number), Reason(node, "subclass hook"))
            elif unit.kind != "member" and (unit.runs or (unit.kind == "effect" and self._may_act(unit))):
                self.keep((name, number), Reason(node, "effect"))
        for key in self._heirs.get(name, ()):
            self.keep(key, Reason(node, "subclass hook"))
        for line, kind, target in self.outside.edges.get(name, ()):
            if line <= 1:
                self._edge(target, Reason(node, kind))
        for word in ("__getattr__", "__dir__", *sorted(module.fixed)):
            for number in module.symbols.get(word, ()):
                self.keep((name, number), Reason(node, "protocol"))

    def _told(self, module: str, number: int) -> bool:
        """True when making a class may do something: a base of which nothing is known, or one that is told."""
        key = (module, number)
        return self.types.hierarchy.registers(key) or any(
            self._protocols.get(base) is None for base in self.types.hierarchy.outsiders(key)
        )

    def _may_act(self, unit: Unit) -> bool:
        """True for a statement that binds nothing, or imports something that does more than define."""
        targets = [t for i in unit.imports for t in self.program.loads(*i[:2])]
        return not unit.names or any(
            t in self.program.loud or (t not in self.program.modules and not self.program.is_quiet(t)) for t in targets
        )

    def _escapes(self, unit: Unit) -> bool:
        """True for an import of something outside the tree that does more than define."""
        if "typing" in unit.flags:
            return False
        targets = self.program.loads(*unit.imports[0][:2])
        return any(t not in self.program.modules and not self.program.is_quiet(t) for t in targets)

    def _public(self, module: Module, reason: Reason) -> None:
        """Names of a root module that people import: what it exports, with the methods of classes."""
        names = set(module.exports)
        if module.name in self.program.packages or (module.path.endswith("__init__.py")):
            names.update(module.symbols)
        for name in sorted(names):
            found = self.types.imported(module.name, name)
            self._touch(found, reason)
            for value in ordered(found.values):
                if value.kind == "class":
                    self._open(value.key, reason)

    def _offer(self, name: str, api: Api, reason: Reason) -> None:
        """What code outside takes from a module, with the public members of classes."""
        if name not in self.program.modules:
            return
        self._load(name, reason)
        module = self.program.modules[name]
        for symbol, numbers in module.symbols.items():
            spelled = f"{name}.{symbol}" in api.names or any(module.units[n].kind in _DEFINED for n in numbers)
            if not spelled or not api.takes(name, symbol):
                continue
            found = self.types.imported(name, symbol)
            self._touch(found, reason)
            for value in ordered(found.values):
                if value.kind == "class":
                    self._open(value.key, reason)

    def _open(self, key: Key, reason: Reason) -> None:
        for each in self.types.hierarchy.ancestors(key):
            for name, numbers in self.program.modules[each[0]].members.get(each[1], {}).items():
                if not name.startswith("_"):
                    for number in numbers:
                        self._mark((each[0], number), reason)

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
                for symbol in module.symbols:
                    if symbol in words:
                        self._touch(self.types.imported(name, symbol), reason)
        for word in looked:
            self.look_up(word, reason)

    # Marking

    def keep(self, key: Key, reason: Reason) -> None:
        """A unit is live."""
        self.edges.setdefault((reason.source, key), reason)
        if key not in self.live:
            self.live[key] = reason
            self._stack.append(key)
            if key in self.awaited:
                # Who names the class may ask what inherits from it.
                self.keep(self.awaited.pop(key), Reason(key, "base"))

    def _mark(self, key: Key, reason: Reason) -> None:
        """A member's name was looked up: it lives once its class does."""
        unit = self.program.unit(key)
        if reason.kind != "by name" or not all(map(_is_special, unit.names)):
            self.edges.setdefault((reason.source, key), reason)
        if key in self._marked:
            return
        self._marked[key] = reason
        owner = (key[0], unit.parent)
        if owner in self.live:
            self.keep(key, reason)
        elif owner in self.awaited:
            self.keep(self.awaited.pop(owner), Reason(key, "inherited"))
        if "abstract" in unit.flags:
            # A class that does not override it can no longer be instantiated.
            for heir in self.types.heirs(owner):
                for number in self.program.modules[heir[0]].members.get(heir[1], {}).get(unit.names[0], ()):
                    self._mark((heir[0], number), Reason(key, "abstract"))

    def look_up(self, name: str, reason: Reason) -> None:
        """A name was looked up on something unknown."""
        node = f"name:{name}"
        self.edges.setdefault((reason.source, node), reason)
        if name in self.names:
            return
        self.names[name] = reason
        here = Reason(node, "by name")
        if name == "__subclasses__":
            self._keep_heirs(here)
        for key in self._by_name.get(name, ()):
            self._mark(key, here)
        for key in self._names_in.get(name, ()):
            self.keep(key, here)

    def _keep_heirs(self, reason: Reason) -> None:
        """Some class is asked for its subclasses."""
        for key, bases in self.types.hierarchy.bases.items():
            if bases and key[1] >= 0:
                self._heirs.setdefault(key[0], []).append(key)
                if key[0] in self.loaded:
                    self.keep(key, reason)

    def _touch(self, found: Found, reason: Reason) -> None:
        touches, modules = found.effects
        for touch in touches:
            self._reach(touch, reason)
        for module in modules:
            self._escape(module, reason)

    def _reach(self, touch: Touch, reason: Reason) -> None:
        match touch.kind:
            case "unit":
                self._load(touch.module, reason)
                self.keep((touch.module, touch.unit), reason)
            case "member":
                self._mark((touch.module, touch.unit), reason)
            case "borrowed":
                key = (touch.module, touch.unit)
                self._mark(key, reason)
                if key not in self._borrowed:
                    self._borrowed.add(key)
                    if key in self.live:
                        self._stack.append(key)
            case "module":
                self._load(touch.module, reason)
            case "name":
                self.look_up(touch.name, reason)
            case "heirs":
                for key in self.types.heirs((touch.module, touch.unit)):
                    self._heirs.setdefault(key[0], []).append(key)
                    if key[0] in self.loaded:
                        self.keep(key, reason)

    def _escape(self, name: str, reason: Reason) -> None:
        """A module was handed on as a value: names looked up on anything may be its own."""
        self._load(name, reason)
        if name in self._escaped or name not in self.program.modules:
            return
        self._escaped[name] = reason
        for symbol, numbers in self.program.modules[name].symbols.items():
            for number in numbers:
                self._names_in.setdefault(symbol, []).append((name, number))
                if symbol in self.names:
                    self.keep((name, number), Reason(f"name:{symbol}", "by name"))

    def _edge(self, target: str, reason: Reason) -> None:
        self._load(target, reason)
        self._escape(target, reason)

    def _pattern(self, pattern: str, reason: Reason) -> None:
        if pattern in self._patterns:
            return
        self._patterns.add(pattern)
        first, *others = pattern.split("*")
        rest = r"\w*".join(["", *map(re.escape, others)])
        if not first:
            found = re.findall(rf"^{rest}$", "\n".join(self._all_names), re.MULTILINE)
        else:
            start = bisect_left(self._all_names, first)
            end = bisect_left(self._all_names, first + _LAST, start)
            matches = re.compile(rest).fullmatch
            found = [name for name in self._all_names[start:end] if matches(name, len(first)) is not None]
        for name in found:
            self.look_up(name, reason)

    # Visiting

    def _visit(self, key: Key) -> None:
        module = self.program.modules[key[0]]
        unit = module.units[key[1]]
        if unit.parent >= 0 and module.units[unit.parent].kind == "if":
            self.keep((key[0], unit.parent), Reason(key, "around"))
        elif unit.parent >= 0 and (around := (key[0], unit.parent)) not in self.live:
            self.keep(around, Reason(key, "around"))
        if key[0] not in self.loaded:
            self._load(key[0], Reason(key, "around"))
        self._uses(key, unit)
        for text, line in unit.texts:
            if self.outside.is_label(key[0], text):
                continue
            reason = Reason(key, "string", line)
            self.look_up(text, reason)
            # Evaluated as an annotation, or looked up among the module's own names.
            for number in module.symbols.get(text, ()):
                self.keep((key[0], number), reason)
        for pattern, line in unit.patterns:
            if len(_LETTERS.findall(pattern)) >= _FEWEST and not self.outside.is_label(key[0], pattern):
                self._pattern(pattern, Reason(key, "pattern", line))
        for pattern, line in unit.lookups:
            self._pattern(pattern, Reason(key, "pattern", line))
        for index, (source, name, line) in enumerate(unit.imports):
            reason = Reason(key, "import", line)
            for loaded in self.program.loads(source, name):
                self._load(loaded, reason)
            if unit.kind == "import" or (name and name != "*"):
                whole = unit.kind == "import" and index == 0 and "whole" in unit.flags
                for touch in self.types.imported(source, name, whole=whole).effects[0]:
                    self._reach(touch, reason)
        if unit.enumerates:
            self._enumerate(key, unit)
        for line, kind, target in self.outside.edges.get(key[0], ()):
            if unit.span.line <= line <= unit.span.end_line and line > 1:
                self._edge(target, Reason(key, kind, line))
        if unit.kind == "class":
            self._class(key, module)

    def owner(self, key: Key) -> int:
        """The class of whose objects `self` is one, in a unit; -2 when it may be anything."""
        unit = self.program.unit(key)
        if key in self._borrowed:
            return -2
        return unit.parent if unit.kind == "member" else key[1] if unit.kind == "class" else -1

    def _uses(self, key: Key, unit: Unit) -> None:
        owner = self.owner(key)
        # In a chain, it is the class that names its bases.
        source = (key[0], unit.parent) if unit.kind == "base" else key
        follow, module, number = self.types.follow, key[0], key[1]
        for path, line in unit.uses:
            found = follow(module, owner, path, number)
            if found.leads:
                self._touch(found, Reason(source, "name", line))

    def _enumerate(self, key: Key, unit: Unit) -> None:
        """The unit may look up any name of something."""
        owner = self.owner(key)
        for path, line in unit.enumerates:
            reason = Reason(key, "enumeration", line)
            if not path:
                self._all_of(key[0], reason)
                continue
            for value in ordered(self.types.follow(key[0], owner, path, key[1]).values):
                if value.kind == "module":
                    self._all_of(value.module, reason)
                elif value.kind in ("class", "subclass", "object", "rest"):
                    for each in self.types.hierarchy.family(value.key):
                        for numbers in self.program.modules[each[0]].members.get(each[1], {}).values():
                            for number in numbers:
                                self._mark((each[0], number), reason)

    def _all_of(self, name: str, reason: Reason) -> None:
        self._load(name, reason)
        for number, unit in enumerate(self.program.modules[name].units if name in self.program.modules else ()):
            if unit.kind != "member":
                self.keep((name, number), reason)

    def _class(self, key: Key, module: Module) -> None:
        mixins = self._mixins.of(key)
        for number in module.children.get(key[1], ()):
            if module.units[number].kind == "base":
                base = mixins.get(number)
                if base is None or base in self.live or any(True for _ in self._needed(base)):
                    self.keep((key[0], number), Reason(key, "base"))
                else:
                    self.awaited[base] = (key[0], number)
        for member, reason in self._needed(key):
            self.keep(member, reason)
        if unpickles(self.program, self.types, key):
            # What comes in names any class below it, and clients write it with what the classes have for that.
            reason = Reason(key, "unpickled")
            for each in (key, *(k for k in self.types.hierarchy.below(key) if k[1] >= 0)):
                self._open(each, reason)
                self._heirs.setdefault(each[0], []).append(each)
                if each[0] in self.loaded:
                    self.keep(each, reason)

    def _needed(self, key: Key) -> Iterator[tuple[Key, Reason]]:
        """Members that live as soon as their class does."""
        module = self.program.modules[key[0]]
        called = self._called_from_outside(key)
        holder = self._protocols.held(f"{key[0]}.{module.units[key[1]].names[0]}")
        for name, numbers in module.members.get(key[1], {}).items():
            special = _is_special(name)
            for number in numbers:
                member = (key[0], number)
                if member in self._marked and not special:
                    yield member, self._marked[member]
                elif special or module.units[number].runs or called is None or name in called or name in self._anywhere:
                    yield member, Reason(key, "protocol")
                elif holder is not None and not name.startswith("_"):
                    yield member, Reason(f"root:{holder}", "root")

    def _called_from_outside(self, key: Key) -> set[str] | None:
        """Names that a base outside the tree may look up; None when it may be any."""
        found: set[str] = set()
        for each in (key, *self.types.hierarchy.below(key)):
            for base in self.types.hierarchy.outsiders(each):
                known = self._protocols.get(base)
                if known is None:
                    return None
                found.update(known)
        return found


def _is_special(name: str) -> bool:
    """True for a member that lives as soon as its class does, whoever else spells its name."""
    return name.startswith("__") and name.endswith("__")
