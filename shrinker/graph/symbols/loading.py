"""Which modules the module level of a module certainly loads, by the imports that are live."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from shrinker.graph.symbols.program import Key, Program


class Loading:
    """Answers for one state of a search."""

    def __init__(self, program: Program, live: Collection[Key]) -> None:
        """
        Args:
            program: all kept modules.
            live: units that stay.
        """
        self._program = program
        self._live = live
        self._direct: dict[str, frozenset[str]] = {}
        self._reached: dict[frozenset[str], frozenset[str]] = {}

    def direct(self, name: str) -> set[str]:
        """Modules that the live imports of a module load, with the packages around them."""
        known = self._direct.get(name)
        if known is None:
            module = self._program.modules.get(name)
            known = self._direct[name] = frozenset(
                target
                for number, unit in enumerate(module.units if module is not None else ())
                if unit.kind == "import" and unit.parent < 0 and (name, number) in self._live
                for target in self._program.loads(*unit.imports[0][:2])
            )
        return set(known)

    def is_loaded(self, target: str, beside: Iterable[str]) -> bool:
        """True when loading some modules certainly loads another one, and it does not matter which of them comes first."""
        return target in self._reach(beside) and target not in self._reach(self.direct(target))

    def _reach(self, names: Iterable[str]) -> frozenset[str]:
        start = frozenset(names)
        known = self._reached.get(start)
        if known is None:
            found: set[str] = set()
            stack = list(start)
            while stack:
                name = stack.pop()
                if name not in found:
                    found.add(name)
                    stack.extend(self.direct(name))
            known = self._reached[start] = frozenset(found)
        return known
