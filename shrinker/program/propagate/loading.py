"""Imports that may go as a whole: what they load is loaded anyway, or loading it does nothing but define.

An import statement runs the module that it names. So the last name of one is dropped only where that makes no
difference: the importer certainly loads the module on another way, too, or the module is inert. Drops are judged one
after the other, each with those before it already made, so that two imports never go because of each other. What may be
the first to enter a cycle of modules stays, since they may load in that order only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from shrinker.program.propagate.cycles import Cycles
from shrinker.program.propagate.world import World
from shrinker.syntax.imports import CERTAIN, NEVER
from shrinker.values.folded import FoldedModule
from shrinker.values.summary import Loaded

_LOUD = frozenset({"antigravity", "this", "idlelib", "turtledemo"})
"""Modules of the standard library that do something when they are imported."""

_LAZY = frozenset(
    {"concurrent", "ctypes", "dbm", "email", "encodings", "http", "importlib", "logging"}
    | {"multiprocessing", "unittest", "urllib", "xml"}
)
"""Packages of the standard library that do not load all their modules themselves."""


@dataclass(slots=True)
class _Statement:
    """An import at module level."""

    runs: str
    names: Sequence[tuple[str, Sequence[Loaded]]]
    """Bound name, and what it may load; another one as names go."""


class Loading:
    """Which modules load which in one round, less what the round drops."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._statements: dict[str, list[_Statement]] = {}
        self._edges: dict[str, tuple[frozenset[str], frozenset[str], frozenset[str]]] = {}
        self._loaders: dict[str, set[str]] | None = None
        """Modules that certainly load each module, before this round's drops."""
        self._cycles = Cycles({module.module: module for module in world.modules})

    def drop(self, importer: FoldedModule, unused: frozenset[str]) -> frozenset[str]:
        """Drop imports of a module for as far as what they load is not needed.

        Args:
            importer: the module.
            unused: names at its module level that nobody uses.

        Returns:
            What the importer need not load: modules, as its imports name them.
        """
        found: set[str] = set()
        for index, statement in enumerate(self._of(importer)):
            going = [pair for pair in statement.names if pair[0] in unused]
            if not going or statement.runs == NEVER:
                continue
            before = statement.names
            statement.names = [pair for pair in before if pair[0] not in unused]
            self._edges.pop(importer.module, None)
            kept = {m for _, modules in statement.names for m in modules}
            needless = {m for _, modules in going for m in modules} - kept
            granted = self._needless(importer, needless)
            if any(self._may_enter(importer, m, self._of(importer)[:index]) for m in granted):
                granted = frozenset()
            found |= granted
            if len(granted) < len({m.module for m in needless}):
                # Folding drops a statement, or an alias that may be a module, only if all that goes is granted.
                statement.names = before
                self._edges.pop(importer.module, None)
        for modules in importer.summary.idle_locals:
            found |= self._needless(importer, set(modules))
        return frozenset(found)

    def needed(self, importer: FoldedModule) -> frozenset[str]:
        """Modules whose flags the importer imported, that it must load for what else they do.

        Folding drops such an import without a proof: nearly every one of these modules is loaded by others, too. Libraries
        that only they import are not counted: a predicate asks them.
        """
        return frozenset(
            m
            for m in importer.summary.unproven_imports
            if self._is_left_alone(m) and self._does_something(m, self._loaded_with(importer))
        )

    def _is_left_alone(self, name: str) -> bool:
        """True when no other module certainly loads the module, but for those that it loads itself, or when it is part
        of a cycle."""
        module = self._world.module(name)
        if module is None or name in self._cycles.members:
            return module is not None
        if self._loaders is None:
            self._loaders = {}
            for other in self._world.modules:
                for own in self._certain(other)[0] - {other.module}:
                    self._loaders.setdefault(own, set()).add(other.module)
        return self._loaders.get(name, set()) <= self._loaded_with(module)

    def _does_something(self, name: str, loaded: set[str]) -> bool:
        """True when a module, or one of the tree that it loads, does more than define; `loaded` are loaded anyway."""
        module = self._world.module(name)
        if name in loaded or module is None:
            return False
        loaded.add(name)
        own, _, _ = self._certain(module)
        return not module.summary.inert or any(self._does_something(other, loaded) for other in sorted(own))

    def _may_enter(self, importer: FoldedModule, name: str, before: list[_Statement]) -> bool:
        """True when an import may be the first to load a module of a cycle.

        Args:
            importer: the module of the import.
            name: what it loads.
            before: imports of the importer that run before it.
        """
        entered = set(self._cycles.entered_by(name))
        if not entered:
            return False
        names = {n for s in before if s.runs == CERTAIN for _, modules in s.names for n in modules}
        for each in (*(n.module for n in names), *_parents(importer.module)):
            module = self._world.module(each)
            if module is not None:
                entered -= self._loaded_with(module)
        return bool(entered)

    def _needless(self, importer: FoldedModule, modules: set[Loaded]) -> frozenset[str]:
        """Those of the modules that the importer loads anyway or need not load, once it does not ask for them here."""
        if not modules:
            return frozenset()
        return frozenset(m.module for m in modules if self._adds_nothing(importer, m, set()))

    def _of(self, module: FoldedModule) -> list[_Statement]:
        name = module.module
        if name not in self._statements:
            self._statements[name] = [_Statement(s.runs, s.names) for s in module.summary.statements]
        return self._statements[name]

    def _certain(self, module: FoldedModule) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """What the module level certainly loads.

        Returns:
            Modules of the tree with their packages; others with theirs; imported names that may be modules of others.
        """
        known = self._edges.get(module.module)
        if known is None:
            names = {name for s in self._of(module) if s.runs == CERTAIN for _, modules in s.names for name in modules}
            perhaps = {n.module for n in names if n.perhaps}.difference(self._world.environment.modules)
            loads = set(_with_parents(module.module))
            for name in names:
                if not name.perhaps or name.module not in perhaps:
                    loads.update(_with_parents(name.module))
            own = self._world.kept(loads)
            known = self._edges[module.module] = own, frozenset(loads - own), frozenset(perhaps)
        return known

    def _is_loaded_with(self, importer: FoldedModule, wanted: str) -> bool:
        """True when importing the importer certainly loads the wanted module, of the tree or not."""
        return wanted in self._loaded_with(importer, wanted)

    def _loaded_with(self, importer: FoldedModule, wanted: str = "") -> set[str]:
        """What importing a module certainly loads, itself included; the search ends where `wanted` is found."""
        seen = {importer.module}
        found = {importer.module}
        stack = [importer]
        while stack:
            own, others, perhaps = self._certain(stack.pop())
            found |= own
            found |= others
            found |= perhaps
            if wanted in found:
                break
            for name in own - seen:
                seen.add(name)
                module = self._world.module(name)
                assert module is not None
                stack.append(module)
        return found

    def _adds_nothing(self, importer: FoldedModule, loaded: Loaded, judged: set[str]) -> bool:
        """True when a module need not be loaded."""
        name, is_perhaps = loaded
        if name in judged:
            return True
        judged.add(name)
        module = self._world.module(name)
        top = name.partition(".")[0]
        if module is None and (is_perhaps or top in sys.stdlib_module_names):
            # A name of another module is not loaded.
            may_load = "." in name and (not is_perhaps or top in _LAZY)
            if top not in _LOUD and not (may_load and self._world.leans_on(importer, name)):
                return True
        if self._is_loaded_with(importer, name) or self._world.is_folder(name):
            return True
        if module is None or not module.summary.inert or name in self._world.asked.submodules:
            # What is outside the tree may do anything when it is loaded.
            return False
        if any(self._world.is_found_by_its_base(f"{name}.{own}") for own in module.summary.classes):
            return False
        own, others, perhaps = self._certain(module)
        needed = (*map(Loaded, (*sorted(own), *sorted(others))), *(Loaded(other, True) for other in sorted(perhaps)))
        return all(self._adds_nothing(importer, other, judged) for other in needed)


@lru_cache(maxsize=1 << 14)
def _with_parents(name: str) -> tuple[str, ...]:
    return name, *_parents(name)


def _parents(name: str) -> Iterator[str]:
    while "." in name:
        name = name.rpartition(".")[0]
        yield name
