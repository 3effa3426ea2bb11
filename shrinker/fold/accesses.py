"""What a module asks of other modules by attribute: ``package.module.name``, in absolute names.

A module object that is used in any other way than by its attributes may be asked for anything, and so may every module
by code that imports modules of computed names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import NamedTuple

from shrinker.fold.reading import Reading
from shrinker.syntax.imports import absolute
from shrinker.syntax.names import dotted
from shrinker.syntax.walk import children, walk

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


class Accesses(NamedTuple):
    """See `ModuleSummary`."""

    chains: set[str]
    looks_at_itself: bool
    binds: set[tuple[str, str]]
    reads: set[str]
    dynamic: bool


def accesses(reading: Reading, package: str, texts: Iterable[str], names: set[str]) -> Accesses:
    """What a module asks of others.

    Args:
        reading: the folded module.
        package: of the module.
        texts: its strings.
        names: those of its strings that are a name.
    """
    top = package.partition(".")[0]
    targets, starred = imported_names(reading, package)
    own = {name: kept for name, found in targets.items() if (kept := _within(found, top))}
    stars = _within(starred, top)
    chains = {
        text.replace(":", ".")
        for whole in texts
        if "." in whole and len(whole) < _LONGEST
        for text in _DOTTED.findall(whole)
        if text.startswith((f"{top}.", f"{top}:"))
    }
    attributes = [*reading.plain.attributes, *reading.typing.attributes]
    inner = {id(node.value) for node in attributes}
    read = [n for found in (reading.plain, reading.typing) for n in found.names if n.ctx.__class__ is not ast.Store]
    roots = {n.id for n in read}
    suspects = roots & _OWN_NAMES - targets.keys()
    itself = bool(suspects) and _looks_at_own_names(reading.tree, suspects)
    for name in {n.id for n in read if id(n) not in inner}:
        chains.update(_absolute(name, "", own, stars, targets))
    loose: set[str] = set()
    for attribute in attributes:
        if attribute.ctx.__class__ is ast.Store:
            continue
        base = attribute.value
        while base.__class__ is ast.Attribute:
            base = base.value
        root = base.id if base.__class__ is ast.Name else ""
        name = attribute.attr
        if name == "modules" and dotted(attribute).endswith("sys.modules"):
            itself = True
            roots.add("import_module")
        if (root in own or (stars and root and root not in targets)) and id(attribute) not in inner:
            chains.update(_absolute(root, dotted(attribute)[len(root) :], own, stars, targets))
        if root != "self" and root != "cls" and (root in own or root not in targets):
            loose.add(name)
        roots.add(name)
    binds = {(name, target) for name, found in own.items() for target in found}
    return Accesses(chains, itself, binds, loose | names, not roots.isdisjoint(_DYNAMIC))


def imported_names(reading: Reading, package: str) -> tuple[dict[str, set[str]], set[str]]:
    """Bound names to what they may be, and the modules of star imports."""
    targets: dict[str, set[str]] = {}
    stars: set[str] = set()
    for node, _, _ in reading.imports:
        if isinstance(node, ast.ImportFrom):
            source = absolute(node.module, node.level, package)
            for alias in node.names:
                if alias.name == "*":
                    stars.add(source)
                else:
                    targets.setdefault(alias.asname or alias.name, set()).add(f"{source}.{alias.name}")
        else:
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                targets.setdefault(alias.asname or whole, set()).add(whole)
    return targets, stars


def _within(names: set[str], top: str) -> set[str]:
    return {name for name in names if name.partition(".")[0] == top}


def _absolute(
    root: str, rest: str, own: dict[str, set[str]], stars: set[str], targets: dict[str, set[str]]
) -> set[str]:
    if root in own:
        return {target + rest for target in own[root]}
    if stars and root not in targets:
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
