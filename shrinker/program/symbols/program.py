"""The units of all kept modules as one program: where names are bound, which module loads which,
and what importing one does.
"""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain

import networkx

from shrinker.values.folded import FoldedModule, Symbol
from shrinker.values.relations import grouped, reached
from shrinker.values.upstream import enclosing

Key = tuple[str, int]
"""A unit: dotted name of its module, and its number."""

_MAKING = frozenset({"__new__", "__init__", "__setattr__"})
"""Methods that, set from elsewhere, change what making an object of any class does."""


class Module:
    """The units of one module by the names that they bind."""

    def __init__(self, folded: FoldedModule) -> None:
        table = folded.units
        self.name, self.path = folded.module, folded.path
        self.units, self.exports, self.entries = table.units, table.exports, table.entries
        self.fixed = self.exports.difference(name for name, _ in self.entries)
        """Exported names of which the entry cannot be deleted."""
        self.exports_all = any("listing" in unit.flags for unit in self.units)
        """True where ``__all__`` is made of all names that the module has."""
        outer = [
            ((self.name, n), unit) for n, unit in enumerate(self.units) if unit.kind != "member"
        ]
        self.symbols = grouped((name, key) for key, unit in outer for name in unit.names)
        self.stars = [
            (k, u.imports[0][0]) for k, u in outer if u.kind == "import" and u.imports[0][1] == "*"
        ]
        self.globals = frozenset(name for unit in self.units for name in unit.stores)
        self.words = folded.summary.words
        """All that its code mentions."""

    @cached_property
    def keyed(self) -> list[tuple[Key, Symbol]]:
        """The units with their keys."""
        return [((self.name, number), unit) for number, unit in enumerate(self.units)]


class Program:
    """Every kept module."""

    def __init__(self, folded: Iterable[FoldedModule], inert: Iterable[str]) -> None:
        """Inert are the top-level packages outside the tree whose import does nothing that other
        code sees.
        """
        # In which order processes folded them is chance.
        self.modules: dict[str, Module] = {
            m.module: Module(m) for m in sorted(folded, key=lambda m: m.module)
        }
        self._inert = frozenset(inert)
        self.patched = frozenset(
            name for m in self.modules.values() for unit in m.units for name in unit.patches
        )
        """Names that are set on something other than the own object: on a module or class, they may
        replace what is there.
        """
        self._loads: dict[tuple[str, str], tuple[str, ...]] = {}
        self._calm: dict[tuple[str, str], bool] = {}
        self._leading: dict[frozenset[str], frozenset[str]] = {}
        """The last question of `leading_to` with its answer."""
        self._methods = frozenset(
            name
            for m in self.modules.values()
            for unit in m.units
            if unit.kind == "member"
            for name in unit.names
        )
        for module in self.modules.values():
            module.units = tuple(self._proven(module.name, unit) for unit in module.units)
        self.packages = frozenset(n.rpartition(".")[0] for n in self.modules)
        self.top = {n.partition(".")[0] for n in self.modules}
        self.members: dict[Key, dict[str, list[Key]]] = {}
        """Members of each class by their names."""
        for key, unit in self.keyed():
            if unit.kind == "member":
                self.members.setdefault((key[0], unit.parent), {}).setdefault(
                    unit.names[0], []
                ).append(key)

    def keyed(self) -> Iterator[tuple[Key, Symbol]]:
        """Return all units with their keys."""
        return chain.from_iterable(module.keyed for module in self.modules.values())

    def _proven(self, module: str, unit: Symbol) -> Symbol:
        """Return a unit that runs for the sake of calls alone, all of them pure, does nothing."""
        if not unit.unproven or not all(self._is_pure(module, name) for name in unit.unproven):
            return unit
        return replace(unit, runs=False)

    def _is_pure(self, module: str, name: str) -> bool:
        """Tell whether calling what a name of a module stands for makes a value and does nothing
        else.

        A name with a dot before it is that of a method, which does where no class of the tree has
        one.
        """
        if name[0] == ".":
            return name[1:] not in self._methods
        if (module, name) not in self._calm:
            # What leads back to itself is not proven.
            self._calm[module, name] = False
            self._calm[module, name] = self._makes_a_value(module, name)
        return self._calm[module, name]

    def _makes_a_value(self, module: str, name: str) -> bool:
        bound = [key for key in self.bound(module, name) if name in self.unit(key).names]
        if len(bound) != 1 or name in self.patched or name in self.modules[bound[0][0]].globals:
            return False
        (where, _), unit = bound[0], self.unit(bound[0])
        if unit.kind == "import":
            source, imported, _ = unit.imports[0]
            return bool(imported) and self._is_pure(source, imported)
        if unit.kind == "class" and not self.patched.isdisjoint(_MAKING):
            return False
        return unit.pure is not None and all(self._is_pure(where, each) for each in unit.pure)

    def unit(self, key: Key) -> Symbol:
        """Return the unit of a key."""
        return self.modules[key[0]].units[key[1]]

    def bound(self, module: str, name: str, seen: set[str] | None = None) -> list[Key]:
        """Return symbols that bind a name in a module, or in a module whose names it takes with a
        star.
        """
        found = self.modules.get(module)
        if found is None or name in found.symbols:
            return found.symbols[name] if found else []
        seen = seen if seen is not None else set()
        seen.add(module)
        out: list[Key] = []
        for key, source in found.stars:
            if source not in seen and (more := self.bound(source, name, seen)):
                out += [key, *more]
        return out

    def is_module(self, name: str) -> bool:
        """True for a kept module, or a folder of some."""
        return name in self.modules or name in self.packages

    @cached_property
    def _loading(self) -> dict[str, list[str]]:
        """What each module imports at its module level, whatever is live."""
        units = (
            (k[0], u)
            for k, u in self.keyed()
            if u.kind in ("import", "effect") and "typing" not in u.flags
        )
        imports = ((name, each) for name, unit in units for each in unit.imports)
        return grouped(
            (name, target)
            for name, (source, imported, _) in imports
            for target in self.loads(source, imported)
        )

    @cached_property
    def imports(self) -> Mapping[str, tuple[str, ...]]:
        """Of that, modules of the tree."""
        return {
            name: tuple(
                dict.fromkeys(each for each in targets if each in self.modules and each != name)
            )
            for name, targets in self._loading.items()
        }

    @cached_property
    def running(self) -> frozenset[str]:
        """Modules whose own statements do something besides binding names when they are
        imported.
        """
        units = (
            (key[0], unit) for key, unit in self.keyed() if unit.kind not in ("member", "main")
        )
        return frozenset(name for name, unit in units if unit.runs and "special" not in unit.flags)

    @cached_property
    def acting(self) -> frozenset[str]:
        """Those, and modules that load a package from outside which may do something."""
        return self.running.union(
            name for name, found in self._loading.items() if any(map(self.is_foreign, found))
        )

    @cached_property
    def _importers(self) -> Mapping[str, Sequence[str]]:
        return grouped(
            (target, name) for name, targets in self.imports.items() for target in targets
        )

    def leading_to(self, modules: frozenset[str]) -> frozenset[str]:
        """Find the modules that load any of these when they are imported, these among them."""
        if modules not in self._leading:
            found = reached(modules, lambda name: self._importers.get(name, ()))
            self._leading = {modules: frozenset(found)}
        return self._leading[modules]

    @cached_property
    def order(self) -> tuple[str, ...]:
        """All modules, each after those that it imports, as far as there is no cycle."""
        graph = networkx.DiGraph()
        graph.add_nodes_from(sorted(self.modules))
        graph.add_edges_from(
            (name, target) for name, targets in self.imports.items() for target in reversed(targets)
        )
        return tuple(networkx.dfs_postorder_nodes(graph))

    def is_foreign(self, module: str) -> bool:
        """True for what is outside the tree and may do more than define when it is imported."""
        top = module.partition(".")[0]
        return module not in self.modules and top not in self.top and top not in self._inert

    @cached_property
    def importing(self) -> Mapping[str, list[tuple[Key, tuple[str, ...]]]]:
        """Imports of each name at the module level of each module, whatever is live, and what they
        load.
        """
        outer = (
            (key, unit) for key, unit in self.keyed() if unit.kind == "import" and unit.parent < 0
        )
        return grouped((key[0], (key, self.sets(*unit.imports[0][:2]))) for key, unit in outer)

    def sets(self, module: str, name: str) -> tuple[str, ...]:
        """List what an import loads, and what it may set on packages outside the tree."""
        return tuple(dict.fromkeys((*self.loads(module, name), *self.submodules(module, name))))

    def loads(self, module: str, name: str) -> tuple[str, ...]:
        """Return modules that an import loads, with the packages around them."""
        if (module, name) not in self._loads:
            self._loads[module, name] = tuple(self._find_loads(module, name))
        return self._loads[module, name]

    def submodules(self, module: str, name: str) -> list[str]:
        """List the modules that an import sets on the packages around them.

        Of what is outside the tree nothing tells whether `name` is a module: it may be one.
        """
        found = list(self.loads(module, name))
        if not self.is_module(module):
            inner = [f"{module}.{name}"] if name not in ("", "*") else []
            found = [*inner, module, *enclosing(module)]
        return [each for each in found if "." in each]

    def _find_loads(self, module: str, name: str) -> list[str]:
        if not self.is_module(module):
            return [module] if module.partition(".")[0] not in self.top else []
        inner = f"{module}.{name}"
        loaded = inner in self.modules and not self._defines(module, name)
        found = [module, inner] if loaded else [module]
        return [
            *found,
            *(around for each in found for around in enclosing(each) if around in self.modules),
        ]

    def is_missing(self, module: str, name: str) -> bool:
        """Tell whether importing a name from a module of the tree raises ImportError."""
        found = self.modules.get(module)
        if found is None or name in ("", "*") or found.stars or "__getattr__" in found.symbols:
            return False
        return (
            name not in found.symbols
            and name not in found.globals
            and not self.is_module(f"{module}.{name}")
        )

    def _defines(self, package: str, name: str) -> bool:
        """Tell whether a package gives a name another value than its submodule of that name."""
        if package not in self.modules:
            return False
        bound = (self.unit(key) for key in self.modules[package].symbols.get(name, ()))
        own = (package, name)
        return any(unit.kind != "import" or unit.imports[0][:2] != own for unit in bound)


class Loading:
    """What imports load in one state of a search, in which these units stay."""

    def __init__(
        self,
        program: Program,
        live: Container[Key],
        acting: frozenset[str],
        setting: Mapping[str, Collection[str]],
    ) -> None:
        """Take what holds in this state.

        Args:
            program: the units of all modules.
            live: those that stay.
            acting: modules that do something when they are imported, by themselves.
            setting: of a module, the submodules that it loads and that live code reads through
                the package around them.
        """
        self._program = program
        self._live = live
        self._acting = acting
        self._setting = setting
        self._loud = program.leading_to(acting.union(setting))
        self._direct: dict[str, frozenset[str]] = {}
        self._reached: dict[frozenset[str], frozenset[str]] = {}

    def direct(self, name: str) -> frozenset[str]:
        """Return modules that the live imports of a module load, with the packages around them."""
        if name not in self._direct:
            loads = (
                targets
                for key, targets in self._program.importing.get(name, ())
                if key in self._live
            )
            self._direct[name] = frozenset().union(*loads)
        return self._direct[name]

    def before(self, name: str) -> frozenset[str]:
        """Return modules that are certainly loaded before a module: the packages around it, and
        what those load without it.
        """
        found: set[str] = set()
        for around in enclosing(name):
            reached = self._reach((around,))
            found |= {around} if name in reached else reached
        return frozenset(found)

    def is_done(self, target: str, before: frozenset[str], above: Iterable[str]) -> bool:
        """Tell whether a module is certainly loaded where an import stands: `before` its module
        is, or by what that loads `above` the import.
        """
        return target in before or target in self._reach(above)

    def matters(
        self, target: str, before: frozenset[str], above: Iterable[str], beside: Iterable[str]
    ) -> bool:
        """Tell whether loading a module may do something that would not be done anyway, or in
        another
        order: beside what is loaded `before` the importer (which is among it), what the importer
        loads `above` the import, and what it loads `beside` that.
        """
        if target in before or target not in self._loud:
            return False
        before |= self._reach(above)
        if target in before:
            return False
        anyway = self._reach(beside)
        seen: set[str] = set()
        stack = [target]
        while stack:
            name = stack.pop()
            if name in seen or name in before:
                continue
            seen.add(name)
            # Modules in a cycle may load in one order only, and a package is loaded before its
            # parts.
            cyclic = name in self._reach(self.direct(name))
            if cyclic or (name in self._acting and name not in anyway):
                return True
            if name in anyway:
                if self._overtaken(name, before, anyway):
                    return True
                continue
            if not all(each in before or each in anyway for each in self._setting.get(name, ())):
                return True
            stack.extend(self._program.imports.get(name, ()))
        return False

    def _overtaken(self, name: str, before: frozenset[str], anyway: frozenset[str]) -> bool:
        """Tell whether a module that acts may come later than others that act, if it is loaded with
        those.
        """
        running = self._program.running
        if name not in running:
            return False
        own = self._reach(self.direct(name)) | {name}
        return any(other in running for other in anyway - before - own)

    def _reach(self, names: Iterable[str]) -> frozenset[str]:
        start = frozenset(names)
        if start not in self._reached:
            self._reached[start] = frozenset(reached(start, self.direct))
        return self._reached[start]
