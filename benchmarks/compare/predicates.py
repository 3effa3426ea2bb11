"""The list of predicates that every tool is given: read from the rules, the same for all.

A fact of the rules names a function by a qualified pattern (``sglang.**.is_hip``). Syntactic tools know no
qualified names, so the list has the last component; a pattern whose last component is not a plain name is left out.
Texts are left out too: comparisons with them are none of what these tools simplify.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from shrinker.ruleset.models import Ruleset

_TREE = "sglang."
_Value = TypeVar("_Value", bool, bool | None)


@dataclass(frozen=True, slots=True)
class Predicates:
    """What a tool is told; values are truths."""

    calls: Mapping[str, bool]
    """By name, `is_hip()` and `anything.is_hip()` alike; a function outside the tree by its whole name
    (`torch.xpu.is_available()`)."""
    dotted: Mapping[str, bool | None]
    """Dotted expressions read as they stand, with their values: `torch.version.hip` is None."""
    left_out: tuple[str, ...] = ()
    """Patterns of the rules that a syntactic tool cannot be told."""


@dataclass(frozen=True, slots=True)
class Flags:
    """Names of one module that hold the truth of a predicate."""

    direct: Mapping[str, bool] = field(default_factory=dict)
    """Assigned from a predicate alone (`_is_hip = is_hip()`), or imported from a module that does so."""
    derived: Mapping[str, bool] = field(default_factory=dict)
    """Assigned from an expression over predicates and flags (`_use_aiter = asked() and _is_hip`), or imported."""


NO_FLAGS = Flags()
NO_PREDICATES = Predicates({}, {})


def predicates_of_rules(rules: Ruleset) -> Predicates:
    """Read the list from a profile's rules.

    Facts on attributes and environment variables are not in it: an attribute's name alone says nothing about a
    condition, and every tree reads its environment through functions of its own. A name outside the tree of which
    only the truth is known is not in it either, since other tools replace it wherever it stands.
    """
    calls: dict[str, set[bool]] = {}
    dotted: dict[str, set[bool | None]] = {}
    left_out: list[str] = []
    for fact in rules.facts:
        value, is_truth = (fact.value, True) if fact.value is None or isinstance(fact.value, bool) else (None, False)
        for pattern in fact.calls:
            # In the tree, and for a method of anything, the last component is what a call shows.
            name = pattern.rpartition(".")[2] if pattern.startswith((_TREE, ".")) else pattern
            if is_truth and _is_plain(name):
                calls.setdefault(name, set()).add(bool(value))
            else:
                left_out.append(pattern)
        for pattern in fact.names:
            name = pattern.rpartition(".")[2] if pattern.startswith(_TREE) else pattern
            if is_truth and fact.exact and _is_plain(name):
                dotted.setdefault(name, set()).add(value)
            else:
                left_out.append(pattern)
    # Two functions of one name and different values: only a tool with qualified names can tell them apart.
    left_out.extend(name for kind in (calls, dotted) for name, values in kind.items() if len(values) > 1)
    return Predicates(_single(calls), _single(dotted), tuple(sorted(set(left_out))))


def predicate_truth(node: ast.expr, predicates: Predicates) -> bool | None:
    """Truth of one predicate as it stands; ``None`` for any other expression."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name):
            return predicates.calls.get(node.func.id)
        if isinstance(node.func, ast.Attribute):
            return predicates.calls.get(node.func.attr, predicates.calls.get(ast.unparse(node.func)))
    if isinstance(node, ast.Attribute):
        text = ast.unparse(node) if predicates.dotted else ""
        return bool(predicates.dotted[text]) if text in predicates.dotted else None
    return None


def truth(node: ast.expr, predicates: Predicates, flags: Flags = NO_FLAGS) -> bool | None:
    """Truth of an expression over predicates, flags, constants, `bool()`, `not`, `and`, `or`; ``None``: not decided."""
    match node:
        case ast.Constant(value=value):
            return bool(value)
        case ast.Name(id=name):
            return flags.direct.get(name, flags.derived.get(name))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = truth(operand, predicates, flags)
            return None if inner is None else not inner
        case ast.BoolOp(op=operator, values=values):
            absorbing = isinstance(operator, ast.Or)
            inners = [truth(value, predicates, flags) for value in values]
            if absorbing in inners:
                return absorbing
            return None if None in inners else not absorbing
        case ast.Call(func=ast.Name(id="bool"), args=[argument], keywords=[]):
            return truth(argument, predicates, flags)
    return predicate_truth(node, predicates)


def _is_plain(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def _single(found: Mapping[str, set[_Value]]) -> dict[str, _Value]:
    return {name: next(iter(values)) for name, values in sorted(found.items()) if len(values) == 1}
