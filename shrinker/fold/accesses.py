"""What a module asks of other modules by attribute: ``package.module.name``, in absolute names.

A module object that is used in any other way than by its attributes may be asked for anything, and so may every module
by code that imports modules of computed names.
"""

from __future__ import annotations

import ast
import re

from shrinker.facts.walk import children, walk
from shrinker.fold.definitions import dotted

_DYNAMIC = frozenset({"import_module", "__import__", "spec_from_file_location", "module_from_spec", "exec_module"})
"""Calls that give a module which no import names."""
_OWN_NAMES = frozenset({"globals", "exec", "eval"})
"""Builtins that read names of the module they are called in."""
_SCOPES = (
    ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp
) | ast.GeneratorExp
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

    def finish(self, package: str, texts: set[str], tree: ast.Module) -> tuple[set[str], set[str], set[str], bool]:
        """What was collected.

        Args:
            package: of the module.
            texts: its strings that are a name.
            tree: the module.

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
        suspects = {node.id for node in self._names} & _OWN_NAMES - self._targets.keys()
        if suspects and _looks_at_own_names(tree, suspects):
            chains.add(OWN)
        for node in self._names:
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


def _looks_at_own_names(tree: ast.Module, builtins: set[str]) -> bool:
    """True when code of the module asks one of these builtins, which read names of their module.

    A variable that only shares its name with one (`exec = None`) is none: a name that a function gives a value is the
    function's own, all through it.
    """
    stack: list[tuple[ast.AST, frozenset[str]]] = [(tree, frozenset())]
    while stack:
        node, local = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (bound := _rebound_builtins(node)):
            local |= bound
        for child in children(node):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load) and child.id in builtins - local:
                return True
            stack.append((child, local))
    return False


def _rebound_builtins(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    stored = {n.id for n in walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} & _OWN_NAMES
    if not stored:
        return frozenset()
    # What a function inside it binds is that one's own, and what is declared `global` is the module's.
    inner = [n for n in walk(function) if n is not function and isinstance(n, _SCOPES)]
    elsewhere = {n.id for i in inner for n in walk(i) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    outer = {name for n in walk(function) if isinstance(n, ast.Global | ast.Nonlocal) for name in n.names}
    return frozenset(stored - elsewhere - outer)
