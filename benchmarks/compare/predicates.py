"""The list of predicates that every tool is given, and the names that hold the truth of one: read
from the rules, the same for all.

A fact of the rules names a function by a qualified pattern (``sglang.**.is_hip``). Syntactic tools
know no qualified names, so the list has the last component; a pattern whose last component is not a
plain name is left out. Texts are left out too: comparisons with them are none of what these tools
simplify.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from shrinker.ruleset.models import Ruleset

_TREE = "sglang."
_Value = TypeVar("_Value", bool, bool | None)


@dataclass(frozen=True, slots=True)
class Predicates:
    """What a tool is told; values are truths."""

    calls: Mapping[str, bool]
    """By name, `is_hip()` and `anything.is_hip()` alike; a function outside the tree by its whole
    name (`torch.xpu.is_available()`).
    """
    dotted: Mapping[str, bool | None]
    """Dotted expressions read as they stand, with their values: `torch.version.hip` is None."""
    left_out: tuple[str, ...] = ()
    """Patterns of the rules that a syntactic tool cannot be told."""


@dataclass(frozen=True, slots=True)
class Flags:
    """Names of one module that hold the truth of a predicate."""

    direct: Mapping[str, bool] = field(default_factory=dict)
    """Assigned from a predicate alone (`_is_hip = is_hip()`), or imported from a module that does
    so.
    """
    derived: Mapping[str, bool] = field(default_factory=dict)
    """Assigned from an expression over predicates and flags (`_use_aiter = asked() and _is_hip`),
    or imported.
    """


NO_FLAGS = Flags()
NO_PREDICATES = Predicates({}, {})


def predicates_of_rules(rules: Ruleset) -> Predicates:
    """Read the list from a profile's rules.

    Facts on attributes and environment variables are not in it: an attribute's name alone says
    nothing about a condition, and every tree reads its environment through functions of its own. A
    name outside the tree of which only the truth is known is not in it either, since other tools
    replace it wherever it stands.
    """
    calls: dict[str, set[bool]] = {}
    dotted: dict[str, set[bool | None]] = {}
    left_out: list[str] = []
    for fact in rules.facts:
        value, is_truth = (
            (fact.value, True)
            if fact.value is None or isinstance(fact.value, bool)
            else (None, False)
        )
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
    # Two functions of one name and different values: only a tool with qualified names can tell them
    # apart.
    left_out.extend(
        name for kind in (calls, dotted) for name, values in kind.items() if len(values) > 1
    )
    return Predicates(_single(calls), _single(dotted), tuple(sorted(set(left_out))))


def predicate_truth(node: ast.expr, predicates: Predicates) -> bool | None:
    """Truth of one predicate as it stands; ``None`` for any other expression."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name):
            return predicates.calls.get(node.func.id)
        if isinstance(node.func, ast.Attribute):
            return predicates.calls.get(
                node.func.attr, predicates.calls.get(ast.unparse(node.func))
            )
    if isinstance(node, ast.Attribute):
        text = ast.unparse(node) if predicates.dotted else ""
        return bool(predicates.dotted[text]) if text in predicates.dotted else None
    return None


def truth(node: ast.expr, predicates: Predicates, flags: Flags = NO_FLAGS) -> bool | None:
    """Truth of an expression over predicates, flags, constants, `bool()`, `not`, `and`, `or`;
    ``None``: not decided.
    """
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


@dataclass(frozen=True, slots=True)
class _Import:
    module: str
    name: str


_Binding = ast.expr | _Import | None
"""An assigned value, an import, or anything else."""


def flags_of_tree(predicates: Predicates, modules: Mapping[str, ast.Module]) -> dict[str, Flags]:
    """Return flags of every module of a tree.

    A name of a module is a flag only if every binding of it anywhere in the module gives the same
    truth: then replacing it by name alone is right for any tool.

    Args:
        predicates: the list.
        modules: syntax trees by dotted module; a package by its own name.
    """
    bound = {module: _bindings(tree) for module, tree in modules.items()}

    def direct(module: str, value: ast.expr) -> bool | None:
        return predicate_truth(value, predicates)

    flags = _fixpoint(bound, direct)
    derived: dict[str, dict[str, bool]] = {}
    while True:
        known = {module: Flags(flags.get(module, {}), derived.get(module, {})) for module in bound}

        def over_flags(
            module: str, value: ast.expr, known: Mapping[str, Flags] = known
        ) -> bool | None:
            # What constants alone decide is no flag of a predicate.
            return (
                truth(value, predicates, known[module])
                if truth(value, NO_PREDICATES) is None
                else None
            )

        found = {
            module: {
                name: value for name, value in names.items() if name not in flags.get(module, {})
            }
            for module, names in _fixpoint(bound, over_flags).items()
        }
        if found == derived:
            return known
        derived = found


def _fixpoint(
    bound: Mapping[str, Mapping[str, list[_Binding]]],
    decide: Callable[[str, ast.expr], bool | None],
) -> dict[str, dict[str, bool]]:
    """Return names whose bindings `decide` gives one truth, and those imported from a module that
    has them.
    """
    found: dict[str, dict[str, bool]] = {}
    while True:
        size = sum(map(len, found.values()))
        for module, names in bound.items():
            for name, values in names.items():
                if name in found.get(module, {}) or all(
                    isinstance(v, ast.Constant) or v is None for v in values
                ):
                    continue
                truths = {_decide(module, value, found, decide) for value in values}
                if len(truths) == 1 and None not in truths:
                    found.setdefault(module, {})[name] = bool(truths.pop())
        if size == sum(map(len, found.values())):
            return found


def _decide(
    module: str,
    value: _Binding,
    found: Mapping[str, Mapping[str, bool]],
    decide: Callable[[str, ast.expr], bool | None],
) -> bool | None:
    match value:
        case None:
            return None
        case _Import(module=source, name=name):
            return found.get(source, {}).get(name)
        case ast.Constant():
            return bool(value.value)
    return decide(module, value)


def _bindings(tree: ast.Module) -> dict[str, list[_Binding]]:
    """Return every binding of every name, in any scope; the value only for a plain assignment."""
    bound: dict[str, list[_Binding]] = {}
    values: dict[ast.expr, ast.expr] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign():
                values.update((target, node.value) for target in node.targets)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                values[target] = value
            case ast.Name(ctx=ast.Store() | ast.Del()):
                # Parents come first: a plain assignment has been seen before its target.
                bound.setdefault(node.id, []).append(values.get(node))
            case ast.arg():
                bound.setdefault(node.arg, []).append(None)
            case (
                ast.FunctionDef(name=str(name))
                | ast.AsyncFunctionDef(name=str(name))
                | ast.ClassDef(name=str(name))
            ):
                bound.setdefault(name, []).append(None)
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                bound.setdefault(name, []).append(None)
            case ast.ImportFrom(level=0, module=str(source)):
                for alias in node.names:
                    bound.setdefault(alias.asname or alias.name, []).append(
                        _Import(source, alias.name)
                    )
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    bound.setdefault(alias.asname or alias.name.partition(".")[0], []).append(None)
    return bound
