"""What is noted of one unit: the names that it asks for, each with the first line that does, and
the paths of its expressions.
"""

import ast
from typing import Any

from shrinker.fold.symbols.paths import Paths
from shrinker.fold.symbols.tables import SpelledTexts
from shrinker.syntax.scopes import Scope
from shrinker.values.folded import ANYTHING

_PLACED = ("uses", "texts", "patterns", "lookups", "enumerates", "open", "handed")
"""What is collected with the first line that has it."""
_UNPLACED = ("written", "stores", "attributes", "patches")


class Notes:
    """What was found so far."""

    def __init__(self, module: Scope, tables: SpelledTexts) -> None:
        """Begin with nothing, at the top of a module whose tables of texts are known."""
        self._tables = tables
        self._line = 0
        self._scope = module
        self._follow = Paths()
        self.uses: dict[str, int] = {}
        self.texts: dict[str, int] = {}
        self.patterns: dict[str, int] = {}
        self.lookups: dict[str, int] = {}
        self.enumerates: dict[str, int] = {}
        self.open: dict[str, int] = {}
        self.tabled: dict[tuple[str, str], int] = {}
        self.by_parameter: dict[tuple[str, str, str], int] = {}
        self.hands: set[tuple[str, str, str]] = set()
        self.handed: dict[str, int] = {}
        self.written: set[str] = set()
        self.stores: set[str] = set()
        self.attributes: set[str] = set()
        self.patches: set[str] = set()
        self.classes: list[tuple[str, ...]] = []

    def fields(self) -> dict[str, Any]:
        """List what was collected, as fields of `Symbol`."""
        self._note(self.uses, *sorted(self._follow.lost))
        found: dict[str, Any] = {
            name: tuple(sorted(getattr(self, name).items())) for name in _PLACED
        }
        found |= {name: tuple(sorted(getattr(self, name))) for name in _UNPLACED}
        for name in ("tabled", "by_parameter"):
            found[name] = tuple((*key, line) for key, line in sorted(getattr(self, name).items()))
        found["hands"] = tuple(sorted(self.hands))
        return {**found, "imports": self._follow.imports, "classes": tuple(self.classes)}

    def paths_of(self, node: ast.expr) -> tuple[str, ...]:
        """Return paths of an expression where the unit is read now."""
        return self._follow.of(node, self._scope)

    def _paths(self, node: ast.expr) -> tuple[str, ...]:
        found = self.paths_of(node)
        for path in found:
            if path != ANYTHING:
                self.uses.setdefault(path, self._line)
        return found

    def _note(self, into: dict[str, int], *names: str) -> None:
        """Names on the line that is read now; what an earlier one has keeps that."""
        for name in names:
            into.setdefault(name, self._line)
