"""What is live and why, what is loaded, and what becomes live with it; and what a search is told of
the world beside the modules.

A class member is live when its class is and when something looks up its name: on an object that may
be of the class, or on one of which nothing is proven.
"""

import re
import sys
from bisect import bisect_left
from collections import ChainMap, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from shrinker.program.symbols.program import Key
from shrinker.program.symbols.submodules import SubmoduleReads
from shrinker.program.symbols.types import Found, Touch, Types, ordered
from shrinker.ruleset.match import name_matches
from shrinker.ruleset.models import Ruleset
from shrinker.syntax.names import is_special
from shrinker.values.relations import grouped

_MANGLED = re.compile(r"_[A-Za-z]\w*?(__\w*[^\W_])")
_LAST = chr(sys.maxunicode)
"""A letter after which no other comes."""

Node = Key | str
"""A unit; or ``module:``, ``name:`` and ``root:`` with what they are of."""


class Reason(NamedTuple):
    """Why something is live."""

    source: Node
    kind: str
    """``name``, ``attribute``, ``string``, ``pattern``, ``import``, ``effect``, ``protocol`` …"""
    line: int = 0
    """Of the file of the source; 0 when no line says so."""


Named = Callable[[frozenset[str]], Mapping[str, tuple[str, int]]]
"""Of some names, those that any code of upstream looks up or spells, removed or not, with path and
line of a place.
"""


@dataclass(frozen=True, slots=True)
class Outside:
    """What is kept or asked for beside the modules."""

    rules: Ruleset
    roots: Mapping[str, str] = field(default_factory=dict)
    """Modules that people run or import, and the nodes of the rules that say so."""
    words: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()
    """Of each kept Python file that imports the package and is no module of it: its words, and
    those that it may look up.
    """
    data: frozenset[str] = frozenset()
    """Names in kept files of settings: code that reads them may look each up, or set it."""
    scripts: frozenset[tuple[str, str]] = frozenset()
    """Module and function, or ``Class.method``, of each command that installing the package makes.
    """
    edges: Mapping[str, Sequence[tuple[int, str, str]]] = field(default_factory=dict)
    """Of a module: line, kind and target of what the file graph found besides imports; line 0 for
    the whole module.
    """
    stay: frozenset[str] = frozenset()
    """Modules that stay as they are, with all that is in them."""
    named: Named = lambda names: dict.fromkeys(names, ("", 0))
    _protocols: dict[str, frozenset[str] | None] = field(default_factory=dict)

    def is_label(self, module: str, text: str) -> bool:
        """True for a text of a module, computed or not, that a rule says names nothing: it is shown
        or counted.
        """
        return any(rule.says(module, text) for rule in self.rules.labels)

    def protocol(self, base: str) -> frozenset[str] | None:
        """Return names that a base outside the tree looks up on its objects; None for a base of
        which nothing is known: it may be any.
        """
        if base not in self._protocols:
            rules = self.rules.protocols
            found = [
                rule
                for rule in rules
                if base in rule.bases or (base != "*" and _names(rule.bases, base))
            ]
            self._protocols[base] = (
                frozenset(n for rule in found for n in rule.calls) if found else None
            )
        return self._protocols[base]

    def lists_others(self, module: str) -> bool:
        """True for a module that lists names of objects from outside the tree alone."""
        return any(_names(rule.lists, module) for rule in self.rules.outsides)

    def holder(self, name: str) -> str | None:
        """Return the rule that says that people's own code holds objects of a class of the tree."""
        return next((rule.id for rule in self.rules.outsides if _names(rule.holds, name)), None)


def _names(patterns: Iterable[str], base: str) -> bool:
    return any(p != "*" and name_matches(p, base) for p in patterns)


class Liveness:
    """State of a search: how one thing that is live makes others so."""

    def __init__(self, types: Types, outside: Outside) -> None:
        self.program = types.program
        self.types = types
        self.live: dict[Key, Reason] = {}
        self.loaded: dict[str, Reason] = {}
        self.names: dict[str, Reason] = {}
        """Names looked up on something of which nothing is proven, or spelled by a string."""
        self.edges: dict[tuple[Node, Node], Reason] = {}
        """What names what, each pair once; the targets are not all live."""
        self.alone: dict[Key, Reason] = {}
        """Imported names that are not live and of which the module is loaded all the same."""
        self.outside = outside
        self.asked: dict[str, tuple[str, int] | None] = {}
        """Names of methods that nothing live looks up, and where any code of upstream does."""
        loaded = tuple(pattern for rule in outside.rules.outsides for pattern in rule.loads)
        self.submodules = SubmoduleReads(self.program, loaded)
        self._anywhere = outside.protocol("*") or frozenset()
        self._stack: list[Key] = []
        self._marked: dict[Key, Reason] = {}
        self._borrowed: set[Key] = set()
        self._heirs = defaultdict[str, list[Key]](list)
        self._escaped: dict[str, Reason] = {}
        members = (row for names in self.program.members.values() for row in names.items())
        self._by_name = grouped((name, key) for name, keys in members for key in keys)
        self._names_in = defaultdict[str, list[Key]](list)
        self._all_names = sorted(
            {*self._by_name, *(n for m in self.program.modules.values() for n in m.symbols)}
        )
        self._patterns: set[str] = set()
        self._loaded_names: dict[str, Reason] = {}
        """Names looked up on some module that is loaded."""
        self._handing: Reason | None = None
        """Where any module that is loaded may become a value."""

    def _load(self, name: str, reason: Reason) -> None:
        module = self.program.modules.get(name)
        if module is None:
            return
        node = f"module:{name}"
        self.edges.setdefault((reason.source, node), reason)
        if name in self.loaded:
            return
        self.loaded[name] = reason
        if "." in name:
            self._load(name.rpartition(".")[0], Reason(node, "package"))
        for key, unit in module.keyed:
            match unit.kind:
                case "main":
                    kind = "effect" if name in self.outside.roots or name in self._escaped else ""
                case "import":
                    kind = "import" if unit.imports[0][1] == "*" else ""
                case "class" if self._told(key):
                    kind = "subclass hook"
                case _:
                    kind = (
                        "effect"
                        if unit.kind != "member" and (unit.runs or unit.kind == "effect")
                        else ""
                    )
            if kind:
                self.keep(key, Reason(node, kind))
        for key in self._heirs.get(name, ()):
            self.keep(key, Reason(node, "subclass hook"))
        for line, kind, target in self.outside.edges.get(name, ()):
            if line <= 1:
                self._escape(target, Reason(node, kind))
        if self._handing is not None:
            self._escape(name, self._handing)
        for symbol in sorted(module.symbols.keys() & self._loaded_names.keys()):
            for key in module.symbols[symbol]:
                self.keep(key, self._loaded_names[symbol])
        for word in ("__getattr__", "__dir__", *sorted(module.fixed)):
            for key in module.symbols.get(word, ()):
                self.keep(key, Reason(node, "protocol"))

    def _told(self, key: Key) -> bool:
        """Tell whether making a class may do something: a base of which nothing is known, or one
        that is told.
        """
        return self.types.registers(key) or any(
            self.outside.protocol(b) is None for b in self.types.outsiders(key)
        )

    def keep(self, key: Key, reason: Reason) -> None:
        """A unit is live."""
        self.edges.setdefault((reason.source, key), reason)
        if key not in self.live:
            self.live[key] = reason
            self._stack.append(key)

    def load_alone(self, key: Key, reason: Reason) -> None:
        """An import runs for what loading its module does, and for none of its names."""
        self.alone[key] = reason
        for each in self.program.loads(*self.program.unit(key).imports[0][:2]):
            self._load(each, reason)

    def running(self) -> Container[Key]:
        """Units that stay, and imports that run for what they load alone."""
        return ChainMap(self.live, self.alone)

    def _mark(self, key: Key, reason: Reason) -> None:
        """A member's name was looked up: it lives once its class does."""
        unit = self.program.unit(key)
        if reason.kind != "by name" or not all(map(is_special, unit.names)):
            self.edges.setdefault((reason.source, key), reason)
        if key in self._marked:
            return
        self._marked[key] = reason
        owner = (key[0], unit.parent)
        if owner in self.live:
            self.keep(key, reason)
        if "abstract" in unit.flags:
            # A class that does not override it can no longer be instantiated.
            for heir in self.types.heirs(owner):
                for member in self.program.members.get(heir, {}).get(unit.names[0], ()):
                    self._mark(member, Reason(key, "abstract"))

    def look_up(self, name: str, reason: Reason) -> None:
        """A name was looked up on something unknown."""
        node = f"name:{name}"
        self.edges.setdefault((reason.source, node), reason)
        if name in self.names:
            return
        self.names[name] = reason
        here = Reason(node, "by name")
        for heir, bases in self.types.bases.items() if name == "__subclasses__" else ():
            if bases and heir[1] >= 0:
                self._keep_heir(heir, here)
        for key in self._by_name.get(name, ()):
            self._mark(key, here)
        for key in self._names_in.get(name, ()):
            self.keep(key, here)
        if mangled := _MANGLED.fullmatch(name):
            # `_Handler__secret` is `__secret` as the class Handler writes it.
            self.look_up(mangled[1], here)

    def _keep_heir(self, key: Key, reason: Reason) -> None:
        """A class is found through one above it: now, or as soon as its module is loaded."""
        self._heirs[key[0]].append(key)
        if key[0] in self.loaded:
            self.keep(key, reason)

    def _touch(self, found: Found, reason: Reason) -> None:
        for touch in ordered(found.touches):
            self._reach(touch, reason)
        for value in ordered(found.values):
            if value.kind == "module":
                self._escape(value.module, reason)

    def _reach(self, touch: Touch, reason: Reason) -> None:
        key = touch.key
        match touch.kind:
            case "unit":
                self._load(touch.module, reason)
                self.keep(key, reason)
            case "member":
                self._mark(key, reason)
            case "borrowed":
                self._mark(key, reason)
                if key not in self._borrowed:
                    self._borrowed.add(key)
                    if key in self.live:
                        self._stack.append(key)
            case "module":
                self._load(touch.module, reason)
            case "name":
                self.look_up(touch.name, reason)
            case "loaded":
                self._look_up_loaded(touch.name, reason)
            case "heirs":
                for heir in self.types.heirs(key):
                    self._keep_heir(heir, reason)

    def _look_up_loaded(self, name: str, reason: Reason) -> None:
        """A name was looked up on some module that is loaded."""
        if name not in self._loaded_names:
            self._loaded_names[name] = reason
            for module in [self.program.modules[each] for each in self.loaded]:
                for key in module.symbols.get(name, ()):
                    self.keep(key, reason)

    def _hand_on_loaded(self, reason: Reason) -> None:
        """Any module that is loaded may be a value: names looked up on anything may be its own."""
        if self._handing is None:
            self._handing = reason
            for name in list(self.loaded):
                self._escape(name, reason)

    def _escape(self, name: str, reason: Reason) -> None:
        """A module was handed on as a value: names looked up on anything may be its own."""
        if name in self._escaped or name not in self.program.modules:
            self._load(name, reason)
            return
        # Known before it is loaded: a program that a text names runs what a program runs.
        self._escaped[name] = reason
        self._load(name, reason)
        for symbol, keys in self.program.modules[name].symbols.items():
            for key in keys:
                if symbol in sys.stdlib_module_names and "whole" in self.program.unit(key).flags:
                    # `import itertools` is for the module itself: nobody takes it from there by a
                    # text.
                    continue
                self._names_in[symbol].append(key)
                if symbol in self.names:
                    self.keep(key, Reason(f"name:{symbol}", "by name"))

    def _pattern(self, pattern: str, reason: Reason) -> None:
        if pattern in self._patterns:
            return
        self._patterns.add(pattern)
        first = pattern.partition("*")[0]
        start = bisect_left(self._all_names, first)
        end = bisect_left(self._all_names, first + _LAST, start)
        spelled = r"\w*".join(map(re.escape, pattern.split("*")))
        for name in re.findall(
            rf"^{spelled}$", "\n".join(self._all_names[start:end]), re.MULTILINE
        ):
            self.look_up(name, reason)
