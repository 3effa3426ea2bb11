"""What names and attributes are by the rules, once what they hang on is known."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shrinker.facts.lattice import UNKNOWN, Domain, Ref, Removed, Unknown, Value
from shrinker.syntax.names import written

if TYPE_CHECKING:
    from shrinker.facts.evaluate import Scope


def in_domain(name: str, scope: Scope, found: Value = UNKNOWN) -> Value:
    """What a rule says of a variable or attribute by the name that is written, beside what is found out about it."""
    qualified = f"{scope.module}.{name}"
    if isinstance(found, Unknown):
        return scope.environment.named(qualified) or scope.environment.domain(qualified) or UNKNOWN
    if isinstance(found, Domain) and (stated := scope.environment.domain(qualified)) is not None:
        return found.and_also(stated) if found.items is stated.items else found
    return found


def attribute(node: ast.Attribute, base: Value, scope: Scope) -> Value:
    """Value of an attribute of what has a value."""
    name = node.attr
    if isinstance(base, Removed):
        return base
    environment = scope.environment
    if not isinstance(base, Ref):
        return environment.read_on_any(name) or in_domain(written(node), scope)
    if base.name in environment.outlines:
        return environment.resolve(base.name, name)
    qualified = f"{base.name}.{name}"
    for found in (
        environment.named(qualified),
        environment.removed_module(qualified),
        environment.missing_attribute(qualified),
        environment.removed_member(qualified),
        environment.domain(qualified),
    ):
        if found is not None:
            return found
    if ")" in qualified:
        # No definition: what a call returns. A rule may speak of it by the name that is written.
        said = environment.read_on_any(name) or in_domain(written(node), scope)
        return Ref(qualified) if isinstance(said, Unknown) else said
    return Ref(qualified)
