"""Finders that find nothing themselves: one runs a function right after a module was imported, one notes what is asked for."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from equivalence.simulation.calls import MODULE, record

Hook = Callable[[ModuleType], None]


class AfterImport(MetaPathFinder):
    """Stands first among the finders; lets the others find a module and adds the hook to its loader."""

    def __init__(self, hooks: Mapping[str, Hook]) -> None:
        self._hooks = dict(hooks)
        self._searching: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that another finder gives, with the hook behind its loader's work."""
        if fullname not in self._hooks or fullname in self._searching:
            return None
        self._searching.add(fullname)
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._searching.discard(fullname)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            # Not before: code may look for a module without importing it.
            if (hook := self._hooks.pop(fullname, None)) is not None:
                hook(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


class Imported(MetaPathFinder):
    """Notes which modules of a package are asked for: what was not cannot have changed what a process showed."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._start = f"{package}."

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Note it, and leave the finding to others."""
        if name == self._package or name.startswith(self._start):
            record(MODULE, name)
