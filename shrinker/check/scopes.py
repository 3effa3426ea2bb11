"""What the names of one file may be: modules of the package, and whatever dotted names are assigned to them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from shrinker.syntax.bindings import Binding
from shrinker.syntax.names import dotted
from shrinker.syntax.scopes import Scope
from shrinker.values.upstream import PACKAGE


def look_up(scope: Scope, name: str) -> set[str] | None:
    """Modules that `name`, read in `scope`, may be; `None` when it may be anything else too."""
    owner = scope.owner(name)
    found = [_imported(each) for each in (owner.values(name) if owner is not None else None) or ()]
    return {each for each in found if each} if found and all(found) else None


def stands_for(scope: Scope, name: str, busy: frozenset[tuple[Scope, str]] = frozenset()) -> set[str] | None:
    """Dotted names that `name`, read in `scope`, may stand for, none where nothing binds it; `None` when it may be anything.

    Args:
        scope: where it is read.
        name: a plain name.
        busy: names that are asked for already: what goes round (``node = last.next`` and ``last = node``) may be anything.
    """
    owner = scope.owner(name)
    if owner is None:
        return set()
    bindings = owner.values(name)
    return None if bindings is None or (owner, name) in busy else _all(bindings, owner, busy | {(owner, name)})


def _all(bindings: Iterable[Binding], scope: Scope, busy: frozenset[tuple[Scope, str]]) -> set[str] | None:
    found: set[str] = set()
    for binding in bindings:
        value = binding.value
        if binding.kind == "value" and (_is_none(value) or (isinstance(value, ast.Name) and (scope, value.id) in busy)):
            # Nothing new: ``name = None``, ``name = name``.
            continue
        targets: set[str] | None = None
        if (module := _imported(binding)) is not None:
            targets = {module}
        elif binding.kind == "value" and value is not None and (whole := dotted(value)):
            root, dot, rest = whole.partition(".")
            targets = {f"{target}{dot}{rest}" for target in stands_for(scope, root, busy) or ()}
        if not targets:
            return None
        found |= targets
    return found


def _is_none(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _imported(binding: Binding) -> str | None:
    """What an import binds, as far as it is of the package."""
    if binding.kind not in ("module", "from") or binding.module.partition(".")[0] != PACKAGE:
        return None
    return f"{binding.module}.{binding.name}" if binding.name else binding.module
