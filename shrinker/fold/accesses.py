"""What a module asks of other modules by attribute: ``package.module.name``, in absolute names.

A module object that is used in any other way than by its attributes may be asked for anything, and so may every module
by code that imports modules of computed names.
"""

from __future__ import annotations

import ast
import re

from shrinker.fold.definitions import dotted

_DYNAMIC = frozenset({"import_module", "__import__", "spec_from_file_location", "module_from_spec", "exec_module"})
"""Calls that give a module which no import names."""
_OWN_NAMES = frozenset({"globals", "exec", "eval"})
"""Builtins that read names of the module they are called in."""
_DOTTED = re.compile(r"\b[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)+")
_LONGEST = 1000
"""Characters: a longer string is no path."""
OWN = "."
"""Stands for the module itself, of which code looks at all names."""


class Accesses:
    """Collects names, attributes and imports while `summary` walks a module."""

    def __init__(self) -> None:
        self._targets: dict[str, set[str]] = {}
        self._stars: set[str] = set()
        self._names: list[ast.Name] = []
        self._attributes: list[ast.Attribute] = []
        self._inner: set[int] = set()
        self._texts: set[str] = set()

    def bind(self, alias: ast.alias, source: str | None) -> None:
        """An import: of `source`, or of a whole module."""
        if alias.name == "*":
            self._stars.add(source or "")
        elif source is not None:
            self._targets.setdefault(alias.asname or alias.name, set()).add(f"{source}.{alias.name}")
        elif alias.asname:
            self._targets.setdefault(alias.asname, set()).add(alias.name)
        else:
            top = alias.name.partition(".")[0]
            self._targets.setdefault(top, set()).add(top)

    def name(self, node: ast.Name) -> None:
        """A name that is read."""
        self._names.append(node)

    def attribute(self, node: ast.Attribute) -> None:
        """An attribute, read or set."""
        self._inner.add(id(node.value))
        if not isinstance(node.ctx, ast.Store):
            self._attributes.append(node)

    def text(self, text: str) -> None:
        """A string."""
        if "." in text and len(text) < _LONGEST:
            self._texts.update(_DOTTED.findall(text))

    def finish(self, package: str, texts: set[str]) -> tuple[set[str], set[str], set[str], bool]:
        """What was collected.

        Args:
            package: of the module.
            texts: its strings that are a name.

        Returns:
            Absolute dotted names that are read, `OWN` among them; ``name=target`` of the imports from the tree; names
            that the module may read of a module which it got as a value; whether it imports modules of computed names.
        """
        top = package.partition(".")[0]
        own = {
            name: {t for t in targets if t.partition(".")[0] == top}
            for name, targets in self._targets.items()
            if any(t.partition(".")[0] == top for t in targets)
        }
        stars = {s for s in self._stars if s.partition(".")[0] == top}
        chains = {t.replace(":", ".") for t in self._texts if t.startswith((f"{top}.", f"{top}:"))}
        roots: set[str] = set()
        loose: set[str] = set()
        for node in self._names:
            if node.id in _OWN_NAMES and node.id not in self._targets:
                chains.add(OWN)
            if id(node) not in self._inner:
                chains.update(self._absolute(node.id, "", own, stars))
            roots.add(node.id)
        for attribute in self._attributes:
            whole = dotted(attribute)
            root, _, rest = whole.partition(".")
            if whole.endswith("sys.modules"):
                chains.add(OWN)
                roots.add("import_module")
            if id(attribute) not in self._inner and root:
                chains.update(self._absolute(root, "." + rest, own, stars))
            roots.add(attribute.attr)
            if root not in ("self", "cls") and (root in own or root not in self._targets):
                loose.add(attribute.attr)
        binds = {f"{name}={target}" for name, targets in own.items() for target in targets}
        return chains, binds, loose | texts, not roots.isdisjoint(_DYNAMIC)

    def _absolute(self, root: str, rest: str, own: dict[str, set[str]], stars: set[str]) -> set[str]:
        if root in own:
            return {target + rest for target in own[root]}
        if stars and root not in self._targets:
            return {f"{star}.{root}{rest}" for star in stars}
        return set()
