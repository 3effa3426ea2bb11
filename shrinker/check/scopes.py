"""Python's scopes, as far as they say which module a name is."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

_DEEPEST = 16


@dataclass(slots=True)
class Scope:
    """A module, class, function or comprehension."""

    kind: str
    parent: Scope | None
    names: dict[str, set[str] | None] = field(default_factory=dict)
    """Name to the modules it may be by imports; `None` when it may be anything."""
    stands: dict[str, set[str] | None] = field(default_factory=dict)
    """The same by imports and by assignments of dotted names; empty where nothing but `None` is assigned."""
    lifted: set[str] = field(default_factory=set)
    """Names declared `global`."""

    def bind(self, name: str, target: str | None) -> None:
        """Bind a name to a dotted name, or to anything."""
        for found in (self.names, self.stands):
            known = found.setdefault(name, set())
            if target is None:
                found[name] = None
            elif known is not None:
                known.add(target)


def look_up(scope: Scope, name: str) -> set[str] | None:
    """Modules that `name`, read in `scope`, may be; `None` when it may be anything else too."""
    at = _binding(scope, name)
    return None if at is None else at.names[name]


def stands_for(scope: Scope, name: str) -> set[str] | None:
    """Dotted names that `name`, read in `scope`, may stand for, none where nothing binds it; `None` when it may be anything."""
    at = _binding(scope, name)
    return set() if at is None else at.stands.get(name, set())


def _binding(scope: Scope, name: str) -> Scope | None:
    at: Scope | None = scope
    while at is not None:
        # Names of a class body are not seen from the functions inside it.
        if (at is scope or at.kind != "class") and name in at.names and name not in at.lifted:
            return at
        at = at.parent
    return None


@dataclass(slots=True)
class Aliases:
    """Assignments of a dotted name to a name (``ops = native.ops``), to be settled when all bindings of the file are known."""

    found: list[tuple[Scope, str, str, tuple[str, ...]]] = field(default_factory=list)
    """Scope, name, and what is assigned: its first name and the rest."""

    def add(self, scope: Scope, name: str, value: ast.expr | None) -> bool:
        """Take an assignment, of which `None` or nothing says nothing; False for a value that is neither this nor a dotted name."""
        scope.names[name] = None
        if value is None or (isinstance(value, ast.Constant) and value.value is None):
            scope.stands.setdefault(name, set())
            return True
        rest: list[str] = []
        while isinstance(value, ast.Attribute):
            rest.append(value.attr)
            value = value.value
        if not isinstance(value, ast.Name):
            return False
        self.found.append((scope, name, value.id, tuple(reversed(rest))))
        return True

    def settle(self) -> None:
        """Bind each name to what the assigned name may stand for."""
        before: list[set[str] | None] | None = None
        while before != (before := [self._bind(*each) for each in self.found]):
            pass

    @staticmethod
    def _bind(scope: Scope, name: str, root: str, rest: tuple[str, ...]) -> set[str] | None:
        targets = stands_for(scope, root)
        known = scope.stands.setdefault(name, set())
        # What goes round (``node = last.next`` and ``last = node``) would never end.
        if not targets or known is None or any(target.count(".") > _DEEPEST for target in targets):
            scope.stands[name] = None
        else:
            known.update([".".join([target, *rest]) for target in targets])
        return set(targets) if targets else None
