"""Names that hold the truth of a predicate, module by module.

A name of a module is a flag only if every binding of it anywhere in the module gives the same truth: then replacing
it by name alone is right for any tool.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.compare.predicates import NO_PREDICATES, Flags, Predicates, predicate_truth, truth


@dataclass(frozen=True, slots=True)
class _Import:
    module: str
    name: str


_Binding = ast.expr | _Import | None
"""An assigned value, an import, or anything else."""


def flags_of_tree(predicates: Predicates, modules: Mapping[str, ast.Module]) -> dict[str, Flags]:
    """Flags of every module of a tree.

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

        def over_flags(module: str, value: ast.expr, known: Mapping[str, Flags] = known) -> bool | None:
            # What constants alone decide is no flag of a predicate.
            return truth(value, predicates, known[module]) if truth(value, NO_PREDICATES) is None else None

        found = {
            module: {name: value for name, value in names.items() if name not in flags.get(module, {})}
            for module, names in _fixpoint(bound, over_flags).items()
        }
        if found == derived:
            return known
        derived = found


def _fixpoint(
    bound: Mapping[str, Mapping[str, list[_Binding]]], decide: Callable[[str, ast.expr], bool | None]
) -> dict[str, dict[str, bool]]:
    """Names whose bindings `decide` gives one truth, and those imported from a module that has them."""
    found: dict[str, dict[str, bool]] = {}
    while True:
        size = sum(map(len, found.values()))
        for module, names in bound.items():
            for name, values in names.items():
                if name in found.get(module, {}) or all(isinstance(v, ast.Constant) or v is None for v in values):
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
    """Every binding of every name, in any scope; the value only for a plain assignment."""
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
            case ast.FunctionDef(name=str(name)) | ast.AsyncFunctionDef(name=str(name)) | ast.ClassDef(name=str(name)):
                bound.setdefault(name, []).append(None)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                bound.setdefault(name, []).append(None)
            case ast.ImportFrom(level=0, module=str(source)):
                for alias in node.names:
                    bound.setdefault(alias.asname or alias.name, []).append(_Import(source, alias.name))
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    bound.setdefault(alias.asname or alias.name.partition(".")[0], []).append(None)
    return bound
