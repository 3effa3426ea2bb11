"""The search: from the roots to everything that live code can name.

A class member is live when its class is and when something looks up its name: on an object that may be of the class, or on
one of which nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from shrinker.graph.symbols.program import Key, Module, Program
from shrinker.graph.symbols.types import Found, Touch, Types
from shrinker.values.units import Unit

_LETTERS = re.compile(r"[A-Za-z]")
_FEWEST = 3
"""Letters that a computed text must spell out to name something by itself."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is live."""

    source: Key | str
    """The unit that names it, or what the rules say."""
    kind: str
    """``name``, ``attribute``, ``string``, ``pattern``, ``import``, ``effect``, ``protocol`` …"""
    text: str = ""
    """The path or text."""


@dataclass(frozen=True, slots=True)
class Outside:
    """What is kept or asked for beside the modules."""

    roots: frozenset[str] = frozenset()
    """Modules that people run or import."""
    words: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()
    """Of each kept Python file that imports the package and is no module of it: its words, and those that it may look up."""
    texts: frozenset[str] = frozenset()
    """Words of entry points."""
    edges: Mapping[str, tuple[tuple[int, str, str], ...]] = field(default_factory=dict)
    """Of a module: line, kind and target of what the file graph found besides imports; line 0 for the whole module."""
    stay: frozenset[str] = frozenset()
    """Modules that stay as they are, with all that is in them."""


class Protocols(Protocol):
    """What bases outside the tree look up."""

    def get(self, base: str) -> Collection[str] | None:
        """Names that the base looks up on its objects; None when it may be any."""


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
        """Names looked up on something of which nothing is known, or spelled by a string."""
        self.unknown_bases: dict[str, int] = {}
        self._outside = outside
        self._protocols = protocols
        self._anywhere = frozenset(protocols.get("*") or ())
        self._stack: list[Key] = []
        self._marked: dict[Key, Reason] = {}
        self._borrowed: set[Key] = set()
        self._asked: set[Touch] = set()
        self._looked: dict[Key, set[str]] = {}
        """Classes that annotations name, and what is looked up on objects that they say are of them."""
        self._heirs: dict[str, list[Key]] = {}
        self._read: dict[str, Reason] = {}
        self._escaped: dict[str, Reason] = {}
        self._by_name: dict[str, list[Key]] = {}
        self._names_in: dict[str, list[Key]] = {}
        for name, module in program.modules.items():
            for members in module.members.values():
                for member, numbers in members.items():
                    self._by_name.setdefault(member, []).extend((name, n) for n in numbers)
        self._all_names = "\n".join(sorted({*self._by_name, *(n for m in program.modules.values() for n in m.symbols)}))
        self._patterns: set[str] = set()

    def run(self) -> None:
        """Search to the fixpoint."""
        for module in sorted(self._outside.roots):
            if module in self.program.modules:
                self._load(module, Reason("root", "root"))
                self._public(self.program.modules[module])
        for module in sorted(self._outside.stay):
            reason = Reason("file graph", "file")
            self._load(module, reason)
            for number, unit in enumerate(self.program.modules[module].units) if module in self.program.modules else ():
                self._mark((module, number), reason) if unit.kind == "member" else self._keep((module, number), reason)
        for word in sorted(self._outside.texts):
            self._name(word, Reason("entry point", "string", word))
        for words, looked in self._outside.words:
            self._words(words, looked)
        while True:
            while self._stack:
                self._visit(self._stack.pop())
            if not self._settle_imports() and not self._settle_twins() and not self._settle_reads():
                break

    # Loading

    def _load(self, name: str, reason: Reason) -> None:
        if name in self.loaded or name not in self.program.modules:
            return
        self.loaded[name] = reason
        if "." in name:
            self._load(name.rpartition(".")[0], Reason(name, "package"))
        module = self.program.modules[name]
        for number, unit in enumerate(module.units):
            if unit.kind == "main":
                if name in self._outside.roots or name in self._escaped:
                    self._keep((name, number), Reason(name, "effect"))
            elif unit.kind == "import":
                if unit.imports[0][1] == "*" or self._escapes(unit):
                    self._keep((name, number), Reason(name, "import"))
            elif unit.kind == "class" and self._told(name, number):
                self._keep((name, number), Reason(name, "subclass hook"))
            elif unit.kind != "member" and (unit.runs or (unit.kind == "effect" and self._may_act(unit))):
                self._keep((name, number), Reason(name, "effect"))
        for key in self._heirs.get(name, ()):
            self._keep(key, Reason(name, "subclass hook"))
        for line, kind, target in self._outside.edges.get(name, ()):
            if line <= 1:
                self._edge(target, Reason(name, kind))
        for word in ("__getattr__", "__dir__", *sorted(module.fixed)):
            for number in module.symbols.get(word, ()):
                self._keep((name, number), Reason(name, "protocol"))

    def _told(self, module: str, number: int) -> bool:
        """True when making a class may do something: a base of which nothing is known, or one that is told."""
        key = (module, number)
        return self.types.hierarchy.registers(key) or any(
            self._protocols.get(base) is None for base in self.types.hierarchy.outsiders(key)
        )

    def _may_act(self, unit: Unit) -> bool:
        """True for a statement that binds nothing, or imports something that does more than define."""
        targets = [t for i in unit.imports for t in self.program.loads(*i)]
        return not unit.names or any(
            t in self.program.loud or (t not in self.program.modules and not self.program.is_quiet(t)) for t in targets
        )

    def _escapes(self, unit: Unit) -> bool:
        """True for an import of something outside the tree that does more than define."""
        if "typing" in unit.flags:
            return False
        targets = self.program.loads(*unit.imports[0])
        return any(t not in self.program.modules and not self.program.is_quiet(t) for t in targets)

    def _settle_imports(self) -> bool:
        """Keep one name of each import that must run for what it loads; True when there was something to do."""
        found = False
        for name in sorted(self.loaded):
            module = self.program.modules[name]
            beside = {
                t
                for number, unit in enumerate(module.units)
                if unit.kind == "import" and unit.parent < 0 and (name, number) in self.live
                for t in self.program.loads(*unit.imports[0])
            }
            for number, unit in enumerate(module.units):
                if unit.kind != "import" or "typing" in unit.flags or (name, number) in self.live:
                    continue
                # That a module is loaded elsewhere says nothing of when: a function may do it, which nothing calls.
                targets = {t for t in self.program.loads(*unit.imports[0]) if t in self.program.loud}
                if not targets <= beside:
                    self._keep((name, number), Reason(name, "import"))
                    beside |= targets
                    found = True
        return found

    def _settle_reads(self) -> bool:
        """A name that live code reads and that is left nowhere was looked up on something else than it seemed."""
        before = len(self.live)
        for name, reason in sorted(self._read.items(), key=lambda item: item[0]):
            members = self._by_name.get(name, ())
            if members and name not in self.names and not any(key in self.live for key in members):
                self._name(name, reason)
        return len(self.live) > before

    def _settle_twins(self) -> bool:
        """Annotations may be wrong: what is looked up on a class's objects is looked up on classes much like it."""
        changed = False
        hierarchy = self.types.hierarchy
        classes = [key for key in self.live if self.program.unit(key).kind == "class"]
        for key, names in self._looked.items():
            asked = names & hierarchy.methods(key)
            family = set(hierarchy.family(key))
            for other in classes:
                if other in family:
                    continue
                common = asked & hierarchy.methods(other)
                if len(common) < 2 or 2 * len(common) < min(len(asked), len(hierarchy.methods(other))):
                    continue
                for name in common:
                    for each in hierarchy.family(other):
                        for number in self.program.modules[each[0]].members.get(each[1], {}).get(name, ()):
                            if (each[0], number) not in self._marked:
                                changed = True
                                self._mark((each[0], number), Reason(key, "look-alike", name))
        return changed

    def _public(self, module: Module) -> None:
        """Names of a root module that people import: what it exports, with the methods of classes."""
        names = set(module.exports)
        if module.name in self.program.packages or (module.path.endswith("__init__.py")):
            names.update(module.symbols)
        for name in sorted(names):
            found = self.types.imported(module.name, name)
            self._touch(found, Reason("root", "root", f"{module.name}.{name}"))
            for value in found.values:
                if value.kind == "class":
                    self._open(value.key)

    def _open(self, key: Key) -> None:
        for each in self.types.hierarchy.ancestors(key):
            for name, numbers in self.program.modules[each[0]].members.get(each[1], {}).items():
                if not name.startswith("_"):
                    for number in numbers:
                        self._mark((each[0], number), Reason("root", "root", name))

    def _words(self, words: frozenset[str], looked: frozenset[str]) -> None:
        for name, module in self.program.modules.items():
            if words.issuperset(name.split(".")):
                self._load(name, Reason("outside", "string"))
                for symbol in module.symbols:
                    if symbol in words:
                        self._touch(self.types.imported(name, symbol), Reason("outside", "string", symbol))
        for word in looked:
            self._name(word, Reason("outside", "string", word))

    # Marking

    def _keep(self, key: Key, reason: Reason) -> None:
        if key not in self.live:
            self.live[key] = reason
            self._stack.append(key)

    def _mark(self, key: Key, reason: Reason) -> None:
        """A member's name was looked up: it lives once its class does."""
        if key in self._marked:
            return
        self._marked[key] = reason
        unit = self.program.unit(key)
        owner = (key[0], unit.parent)
        if owner in self.live:
            self._keep(key, reason)
        if "abstract" in unit.flags:
            # A class that does not override it can no longer be instantiated.
            for heir in self.types.heirs(owner):
                for number in self.program.modules[heir[0]].members.get(heir[1], {}).get(unit.names[0], ()):
                    self._mark((heir[0], number), Reason(key, "abstract", unit.names[0]))

    def _name(self, name: str, reason: Reason) -> None:
        """A name was looked up on something unknown."""
        if name in self.names:
            return
        self.names[name] = reason
        if name == "__subclasses__":
            self._keep_heirs(reason)
        for key in self._by_name.get(name, ()):
            self._mark(key, reason)
        for key in self._names_in.get(name, ()):
            self._keep(key, reason)

    def _keep_heirs(self, reason: Reason) -> None:
        """Some class is asked for its subclasses."""
        for key, bases in self.types.hierarchy.bases.items():
            if bases and key[1] >= 0:
                self._heirs.setdefault(key[0], []).append(key)
                if key[0] in self.loaded:
                    self._keep(key, reason)

    def _kin(self, asked: Touch, reason: Reason) -> None:
        """A name was looked up on an object of a package outside the tree, which may be of a class that inherits there."""
        if asked in self._asked:
            return
        self._asked.add(asked)
        for key in self._by_name.get(asked.name, ()):
            bases = self.types.hierarchy.outsiders((key[0], self.program.unit(key).parent))
            if any(b == "?" or b.partition(".")[0] == asked.module for b in bases):
                self._mark(key, reason)

    def _touch(self, found: Found, reason: Reason) -> None:
        for touch in found.touches:
            self._reach(touch, reason)
        for value in found.values:
            if value.kind == "module":
                self._escape(value.module, reason)

    def _reach(self, touch: Touch, reason: Reason) -> None:
        match touch.kind:
            case "unit":
                self._load(touch.module, reason)
                self._keep((touch.module, touch.unit), reason)
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
                self._name(touch.name, reason)
            case "kin":
                self._kin(touch, reason)
            case "looked":
                self._looked.setdefault((touch.module, touch.unit), set()).add(touch.name)
            case "heirs":
                for key in self.types.heirs((touch.module, touch.unit)):
                    self._heirs.setdefault(key[0], []).append(key)
                    if key[0] in self.loaded:
                        self._keep(key, reason)

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
                    self._keep((name, number), self.names[symbol])

    def _edge(self, target: str, reason: Reason) -> None:
        self._load(target, reason)
        self._escape(target, reason)

    def _pattern(self, pattern: str, reason: Reason) -> None:
        if pattern in self._patterns:
            return
        self._patterns.add(pattern)
        expression = r"\w*".join(re.escape(p) for p in pattern.split("*"))
        for name in re.findall(rf"^{expression}$", self._all_names, re.MULTILINE):
            self._name(name, reason)

    # Visiting

    def _visit(self, key: Key) -> None:
        module = self.program.modules[key[0]]
        unit = module.units[key[1]]
        if unit.parent >= 0:
            self._keep((key[0], unit.parent), Reason(key, "around"))
        self._load(key[0], Reason(key, "around"))
        owner = unit.parent if unit.kind == "member" else key[1] if unit.kind == "class" else -1
        if key in self._borrowed:
            owner = -2
        for path in unit.uses:
            for part in path.split(".")[1:]:
                self._read.setdefault(part.rstrip("()~!%*"), Reason(key, "name", path))
            self._touch(self.types.follow(key[0], owner, path, key[1]), Reason(key, "name", path))
        for text in unit.texts:
            self._text(text, Reason(key, "string", text))
        for pattern in unit.patterns:
            if len(_LETTERS.findall(pattern)) >= _FEWEST:
                self._pattern(pattern, Reason(key, "pattern", pattern))
        for pattern in unit.lookups:
            if _LETTERS.search(pattern) or "_" in pattern:
                self._pattern(pattern, Reason(key, "pattern", pattern))
        if unit.kind == "import":
            found = self.types.imported(*unit.imports[0], whole="whole" in unit.flags)
            for touch in found.touches:
                self._reach(touch, Reason(key, "import"))
            for name in self.program.loads(*unit.imports[0]):
                self._load(name, Reason(key, "import"))
        else:
            for source, name in unit.imports:
                for loaded in self.program.loads(source, name):
                    self._load(loaded, Reason(key, "import"))
                if name and name != "*":
                    for touch in self.types.imported(source, name).touches:
                        self._reach(touch, Reason(key, "import"))
        if unit.enumerates:
            self._enumerate(key, unit, owner)
        for line, kind, target in self._outside.edges.get(key[0], ()):
            if unit.span.line <= line <= unit.span.end_line and line > 1:
                self._edge(target, Reason(key, kind))
        if unit.kind == "class":
            self._class(key, module)

    def _enumerate(self, key: Key, unit: Unit, owner: int) -> None:
        """The unit looks at all names of something."""
        reason = Reason(key, "enumeration")
        modules = {key[0]} if "" in unit.enumerates else set()
        keys: list[Key] = []
        for path in unit.enumerates:
            for value in self.types.follow(key[0], owner, path, key[1]).values if path else ():
                if value.kind == "module":
                    modules.add(value.module)
                elif value.kind in ("class", "subclass", "object"):
                    keys.append(value.key)
                elif value.kind == "anything":
                    # The class around is the likeliest; a name of another one is spelled somewhere.
                    keys.extend([(key[0], owner)] if owner >= 0 else [])
        for name in sorted(modules & self.program.modules.keys()):
            self._load(name, reason)
            for number, each in enumerate(self.program.modules[name].units):
                if each.kind != "member":
                    self._keep((name, number), reason)
        for own in keys:
            for each_key in self.types.hierarchy.family(own):
                for numbers in self.program.modules[each_key[0]].members.get(each_key[1], {}).values():
                    for number in numbers:
                        self._mark((each_key[0], number), reason)

    def _text(self, text: str, reason: Reason) -> None:
        self._name(text, reason)

    def _class(self, key: Key, module: Module) -> None:
        members = module.members.get(key[1], {})
        called = self._called_from_outside(key)
        for name, numbers in members.items():
            special = name.startswith("__") and name.endswith("__")
            for number in numbers:
                member = (key[0], number)
                if member in self._marked:
                    self._keep(member, self._marked[member])
                elif special or module.units[number].runs or called is None or name in called or name in self._anywhere:
                    self._keep(member, Reason(key, "protocol", name))

    def _called_from_outside(self, key: Key) -> set[str] | None:
        """Names that a base outside the tree may look up; None when it may be any."""
        found: set[str] = set()
        unknown = False
        for each in (key, *self.types.hierarchy.below(key)):
            for base in self.types.hierarchy.outsiders(each):
                known = self._protocols.get(base)
                if known is None:
                    self.unknown_bases[base] = self.unknown_bases.get(base, 0) + 1
                    unknown = True
                else:
                    found.update(known)
        return None if unknown else found


def dead_units(search: Search) -> dict[str, list[int]]:
    """Units of loaded modules that nothing live can name, by module; of a dead class or block only itself."""
    out: dict[str, list[int]] = {}
    for name, module in search.program.modules.items():
        if name not in search.loaded:
            continue
        found = [
            number
            for number, unit in enumerate(module.units)
            if (name, number) not in search.live
            and (unit.parent < 0 or (name, unit.parent) in search.live)
            and (unit.names or unit.kind in ("if", "main"))
        ]
        if found:
            out[name] = found
    return out
