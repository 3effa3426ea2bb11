"""All kept modules after a folding, as one: who mentions what."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from shrinker.facts.environment import Environment
from shrinker.program.propagate.asked import Asked
from shrinker.program.propagate.hierarchy import ClassHierarchy
from shrinker.values.folded import FoldedModule


def _any_of(patterns: set[str]) -> re.Pattern[str]:
    return re.compile(
        "|".join("[a-zA-Z0-9_]*".join(re.escape(part) for part in p.split("*")) for p in sorted(patterns)) or "(?!)"
    )


class World:
    """The kept folded modules of one round."""

    def __init__(
        self,
        modules: Iterable[FoldedModule],
        environment: Environment,
        hierarchy: ClassHierarchy,
        roots: frozenset[str],
        named_outside: frozenset[str],
        asked_by_removed: frozenset[str],
        outside: Iterable[frozenset[str]] = (),
        taken: frozenset[str] = frozenset(),
    ) -> None:
        """
        Args:
            modules: every kept module.
            environment: the closed world.
            hierarchy: classes of the kept modules.
            roots: modules that people import: their ``__all__`` is public.
            named_outside: words of kept files that are no module of the package.
            asked_by_removed: names that removed modules import from the tree.
            outside: words of each such file that is kept.
            taken: names that rules say code outside takes: as public as what root modules export.
        """
        self.modules = tuple(modules)
        self.environment = environment
        self.hierarchy = hierarchy
        self.outside = named_outside
        """Words of kept files that are no module of the package."""
        words: set[str] = set()
        self.asked_by_removed = asked_by_removed
        self.lost: set[str] = set(asked_by_removed)
        self.lost_own: set[str] = set()
        self.reads: set[str] = set()
        self._outside = tuple(outside)
        self.texts: set[str] = set()
        self.public: set[str] = set(taken)
        self.imported: set[tuple[str, str]] = set()
        self.subclassed: set[str] = set()
        self._own_stores: list[tuple[re.Pattern[str], str]] = []
        self.stores: dict[str, set[str]] = {}
        """Attributes to what they are set to: texts of literals, empty for anything else."""
        self.fields: dict[str, set[str]] = {}
        """Attributes to the qualified classes that set them for certain."""
        self.decided: set[str] = set()
        self.defined: set[str] = set()
        """Last names of all functions, classes and methods."""
        self._starred_by: dict[str, set[str]] = {}
        self._by_name: dict[str, FoldedModule] = {}
        self._loads: dict[str, frozenset[str]] = {}
        self._forwarders: set[str] = set()
        self._bound: dict[str, frozenset[str]] = {}
        patterns: set[str] = set()
        own: set[str] = set()
        attributes: set[str] = set()
        for module in self.modules:
            summary = module.summary
            self._by_name[module.module] = module
            words.update(summary.words)
            attributes.update(summary.reads)
            if summary.dynamic:
                self.reads.update(summary.reads)
            self.texts.update(summary.texts)
            self.lost.update(summary.lost)
            self.lost_own.update(summary.lost_own)
            self.subclassed.update(summary.subclassed)
            for pattern, owner in summary.patterns:
                if not any(rule.says(module.module, pattern) for rule in environment.rules.labels):
                    (own if owner else patterns).add(pattern)
            self.decided.update(summary.decided)
            self.defined.update(summary.fixed)
            self.defined.update(name.rpartition(".")[2] for name in summary.free)
            for name, value, owner in summary.stores:
                if owner:
                    self._own_stores.append((_any_of({name}), f"{module.module}.{owner}"))
                else:
                    self.stores.setdefault(name, set()).add(value)
            for owner, name in summary.fields:
                self.fields.setdefault(name, set()).add(f"{module.module}.{owner}")
            if module.module in roots:
                self.public.update(summary.exports)
            for site in module.imports:
                if site.name == "*":
                    self._starred_by.setdefault(site.module, set()).add(module.module)
                elif site.name is not None:
                    self.imported.add((site.module, site.name))
            if any(name == "__getattr__" for name, _ in module.defines):
                self._forwarders.add(module.module)
        self._pattern = _any_of(patterns)
        self._own_pattern = _any_of(own)
        self._stored_pattern = _any_of({p for p in self.stores if "*" in p})
        self._loose_pattern = _any_of(
            {n.pattern for m in self.modules if m.summary.dynamic for n in m.summary.patterns}
        )
        self.asked = Asked(self._by_name)
        self._words, self._attributes = words, attributes

    def module(self, name: str) -> FoldedModule | None:
        """The kept module of this dotted name."""
        return self._by_name.get(name)

    def kept(self, names: Iterable[str]) -> frozenset[str]:
        """Those of the dotted names that are kept modules."""
        return frozenset(self._by_name.keys() & names)

    def is_folder(self, name: str) -> bool:
        """True for a package of the tree without an ``__init__.py``: there is nothing to run."""
        environment = self.environment
        return (
            name in environment.modules
            and name not in environment.outlines
            and environment.removed_module(name) is None
            and any(other.startswith(name + ".") for other in self._by_name)
        )

    def is_found_by_its_base(self, name: str) -> bool:
        """True for a class (by qualified name) that one of its bases may know without naming it."""
        ancestors = self.hierarchy.ancestors(name)
        if not ancestors:
            return False
        if self.hierarchy.has_foreign_base(name):
            return True
        return not self.subclassed.isdisjoint({"*", *(a.rpartition(".")[2] for a in ancestors)})

    def mentions(self, name: str) -> bool:
        """True when kept code or another kept file writes the name, or may compute it."""
        return self.writes(name) or self.computes(name)

    def writes(self, name: str) -> bool:
        """True when kept code or another kept file writes the name."""
        return name in self._words or name in self.outside

    def computes(self, name: str) -> bool:
        """True when kept code may put the name together."""
        return self._pattern.fullmatch(name) is not None or self._own_pattern.fullmatch(name) is not None

    def words_of(self, module: FoldedModule) -> frozenset[str]:
        """What one module mentions."""
        return frozenset(module.summary.words)

    def may_compute_store(self, name: str, owners: set[str]) -> bool:
        """True when a `setattr` of a computed name may mean this attribute of an instance of one of these classes."""
        if self._stored_pattern.fullmatch(name) is not None:
            return True
        for pattern, owner in self._own_stores:
            # `self` is an instance of the class around it or of one that inherits from it.
            instances = {owner, *self.hierarchy.descendants(owner)}
            if pattern.fullmatch(name) and any(
                not instances.isdisjoint({other, *self.hierarchy.descendants(other)}) for other in owners
            ):
                return True
        return False

    def uses_of(self, module: str, name: str) -> bool:
        """True when another module may use the name of this module."""
        if name in self.reads or self._loose_pattern.fullmatch(name) is not None or module in self.asked.everything:
            return True
        if module in self.asked.anything and (name in self._attributes or self._pattern.fullmatch(name) is not None):
            return True
        path = module.split(".")
        if any(name in words and words.issuperset(path) for words in self._outside):
            return True
        # A module's own `__getattr__` is asked only for what the module does not bind.
        if any(
            ((m, name) in self.imported or (m, name) in self.asked.names) and name not in self._bound_in(m)
            for m in self._forwarders
        ):
            return True
        seen = {module}
        stack = [module]
        while stack:
            for importer in self._starred_by.get(stack.pop(), ()):
                if importer not in seen:
                    seen.add(importer)
                    stack.append(importer)
        return any(
            (m, name) in self.imported or (m, name) in self.asked.names or (m != module and name in self._read_by(m))
            for m in seen
        )

    def _bound_in(self, module: str) -> frozenset[str]:
        """Names that a module defines, or imports under their own name."""
        if module not in self._bound:
            found = self._by_name[module]
            imported = {site.name for site in found.imports if site.name is not None and site.kind == "import"}
            self._bound[module] = frozenset({name for name, _ in found.defines} | imported)
        return self._bound[module]

    def leans_on(self, importer: FoldedModule, name: str) -> bool:
        """True when a module may read a submodule from outside the tree that it leaves to the importer to load."""
        around, _, last = name.rpartition(".")
        return any(
            module is not importer
            and last in self.words_of(module)
            and not plain.isdisjoint({around, around.partition(".")[0]})
            and name not in everything
            for module, plain, everything in self._outside_imports
        )

    @cached_property
    def _outside_imports(self) -> tuple[tuple[FoldedModule, frozenset[str], frozenset[str]], ...]:
        """Of each module what it imports as a whole, and all that its imports may load."""
        return tuple(
            (
                module,
                frozenset(site.module for site in module.imports if site.name is None),
                frozenset(n for s in module.imports for n in (s.module, f"{s.module}.{s.name}")),
            )
            for module in self.modules
        )

    def _read_by(self, module: str) -> frozenset[str]:
        if module not in self._loads:
            found = self._by_name.get(module)
            self._loads[module] = frozenset(found.summary.loads if found is not None else ())
        return self._loads[module]

    @cached_property
    def public_classes(self) -> frozenset[str]:
        """Last names of the classes that people get from a root module, with what they inherit."""
        found = set(self.public)
        for module in self.modules:
            for name, _ in module.defines:
                if name in self.public:
                    found |= {a.rpartition(".")[2] for a in self.hierarchy.ancestors(f"{module.module}.{name}")}
        return frozenset(found)
