"""Which names of which modules kept code reads by attribute, followed through re-exports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shrinker.values.folded import FoldedModule


class Asked:
    """Answers for the kept modules of one round."""

    def __init__(self, by_name: Mapping[str, FoldedModule]) -> None:
        """
        Args:
            by_name: every kept module.
        """
        self._by_name = by_name
        self.names: set[tuple[str, str]] = set()
        """Module and the name that is read of it."""
        self.anything: set[str] = set()
        """Modules that are handed on as a value: any attribute that is read anywhere may be one of theirs."""
        self.everything: set[str] = set()
        """Modules that look at all names of their own."""
        self.submodules: set[str] = set()
        """Modules that are read as an attribute of their package by code that does not import them itself."""
        self._binds: dict[str, dict[str, list[str]]] = {}
        seen: set[str] = set()
        for module in by_name.values():
            own = module.summary.chains
            if module.summary.looks_at_itself:
                self.everything.add(module.module)
            for chain in own:
                if chain not in seen:
                    seen.add(chain)
                    self._follow(chain)
            self._note_submodules(module, own)

    def _follow(self, chain: str) -> None:
        stack = [chain]
        seen: set[str] = set()
        followed: set[tuple[str, str]] = set()
        while stack:
            current = stack.pop()
            if current in seen:
                continue
            seen.add(current)
            parts = current.split(".")
            for length in range(1, len(parts)):
                around, name = ".".join(parts[:length]), parts[length]
                if around in self._by_name:
                    self.names.add((around, name))
                    if (around, name) not in followed:
                        # Once: a package may bind the name of a module to what the module holds under that name.
                        followed.add((around, name))
                        rest = parts[length + 1 :]
                        stack.extend(".".join([target, *rest]) for target in self._bound(around).get(name, ()))
            if current in self._by_name:
                self.anything.add(current)

    def _bound(self, module: str) -> dict[str, list[str]]:
        if module not in self._binds:
            found = self._binds[module] = {}
            for name, target in self._by_name[module].summary.binds:
                found.setdefault(name, []).append(target)
        return self._binds[module]

    def _note_submodules(self, module: FoldedModule, chains: Iterable[str]) -> None:
        imported: set[str] | None = None
        for chain in chains:
            while "." in chain:
                if chain in self._by_name:
                    if imported is None:
                        imported = {s.module for s in module.imports}
                        imported |= {f"{s.module}.{s.name}" for s in module.imports if s.name}
                    if chain not in imported:
                        self.submodules.add(chain)
                chain = chain.rpartition(".")[0]
