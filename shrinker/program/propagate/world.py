"""All kept modules after a folding, as one: who mentions what."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from shrinker.facts.environment import Environment
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
            taken: names that rules say code outside takes: as public as what root modules export.
        """
        self.modules = tuple(modules)
        self.hierarchy = hierarchy
        self._words = set(named_outside)
        self.lost: set[str] = set(asked_by_removed)
        self.lost_own: set[str] = set()
        self.texts: set[str] = set()
        self.public: set[str] = set(taken)
        self.subclassed: set[str] = set()
        self._own_stores: list[tuple[re.Pattern[str], str]] = []
        self.stores: dict[str, set[str]] = {}
        """Attributes to what they are set to: texts of literals, empty for anything else."""
        self.fields: dict[str, set[str]] = {}
        """Attributes to the qualified classes that set them for certain."""
        self.decided: set[str] = set()
        self.defined: set[str] = set()
        """Last names of all functions, classes and methods."""
        patterns: set[str] = set()
        for module in self.modules:
            summary = module.summary
            self._words.update(summary.words)
            self.texts.update(summary.texts)
            self.lost.update(summary.lost)
            self.lost_own.update(summary.lost_own)
            self.subclassed.update(summary.subclassed)
            for pattern in summary.patterns:
                if not any(rule.says(module.module, pattern) for rule in environment.rules.labels):
                    patterns.add(pattern)
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
        self._pattern = _any_of(patterns)
        self._stored_pattern = _any_of({p for p in self.stores if "*" in p})

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
        return name in self._words or self._pattern.fullmatch(name) is not None

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

    @cached_property
    def public_classes(self) -> frozenset[str]:
        """Last names of the classes that people get from a root module, with what they inherit."""
        found = set(self.public)
        for module in self.modules:
            for name, _ in module.defines:
                if name in self.public:
                    found |= {a.rpartition(".")[2] for a in self.hierarchy.ancestors(f"{module.module}.{name}")}
        return frozenset(found)
