"""Which modules the module level of a module certainly loads, by the imports that are live."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from shrinker.program.symbols.program import Key, Program


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
        self._cyclic: dict[str, bool] = {}
        self._asked: dict[str, frozenset[str]] = {}

    def direct(self, name: str) -> frozenset[str]:
        """Modules that the live imports of a module load, with the packages around them."""
        known = self._direct.get(name)
        if known is None:
            known = self._direct[name] = frozenset(
                target
                for number, targets in self._program.importing(name)
                if (name, number) in self._live
                for target in targets
            )
        return known

    def refresh(self) -> None:
        """More imports became live."""
        self._direct.clear()
        self._reached.clear()
        self._cyclic.clear()
        self._asked.clear()

    def before(self, name: str) -> frozenset[str]:
        """Modules that are certainly loaded before a module: the packages around it, and what those load without it."""
        found: set[str] = set()
        around = name.rpartition(".")[0]
        while around:
            reached = self._reach((around,))
            found |= {around} if name in reached else reached
            around = around.rpartition(".")[0]
        return frozenset(found)

    def matters(self, target: str, before: Collection[str], beside: Iterable[str]) -> bool:
        """True when loading a module may do something that would not be done anyway, or in another order.

        Args:
            target: the module.
            before: modules that are loaded before.
            beside: modules that the importer loads, too.
        """
        if target in before or target not in self._program.loud:
            return False
        anyway = self._reach(beside)
        seen: set[str] = set()
        stack = [target]
        while stack:
            name = stack.pop()
            if name in seen or name in before:
                continue
            seen.add(name)
            # Modules in a cycle may load in one order only.
            cyclic = self._is_cyclic(name)
            if name in anyway and not cyclic:
                continue
            if cyclic or name in self._program.acting:
                return True
            stack.extend(self._program.imports.get(name, ()))
        return False

    def _is_cyclic(self, name: str) -> bool:
        """True when a module that a module loads asks for it again.

        That a package is loaded before what is in it does not count: `import package.part` within the package asks for no
        package that is not there.
        """
        known = self._cyclic.get(name)
        if known is None:
            seen: set[str] = set()
            stack = [name]
            while stack and name not in seen:
                importer = stack.pop()
                for target in self._asked_by(importer):
                    if target not in seen:
                        seen.add(target)
                        stack.append(target)
            known = self._cyclic[name] = name in seen
        return known

    def _asked_by(self, name: str) -> frozenset[str]:
        """What the live imports of a module load, but for packages that are loaded anyway."""
        known = self._asked.get(name)
        if known is None:
            known = self._asked[name] = self.direct(name) - self._around(name)
        return known

    def _around(self, name: str) -> set[str]:
        """The packages around a module, and a package itself, as far as it does not ask for them by name."""
        asked = {
            target
            for number, targets in self._program.importing(name)
            if (name, number) in self._live
            for target in targets[:1]
        }
        found: set[str] = set()
        each = name
        while each:
            found.add(each)
            each = each.rpartition(".")[0]
        return found - asked

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
