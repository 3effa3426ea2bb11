"""Mistakes in the engine that the generated programs must show: a property test that cannot fail proves nothing."""

from __future__ import annotations

import gc

import pytest

from tests.fold.generate import make
from tests.fold.mutants import Mutant, broken, place

MUTANTS = (
    Mutant(
        "a call has no effect",
        "            case ast.Call() if not _is_pure_call(part, scope, depth):\n                return False\n",
        "",
    ),
    Mutant("an operand before the one that decides has no effect", "values[: index + 1]", "values[index : index + 1]"),
    Mutant("an assignment expression has no effect", "ast.YieldFrom() | ast.NamedExpr():", "ast.YieldFrom():"),
    Mutant("`x or True` is True", "            same = all_known or (", "            same = True or ("),
    Mutant(
        "`x and True` is `x`", "neutral and (condition or not last or", "neutral and (True or condition or not last or"
    ),
    Mutant(
        "a loop that never runs takes its `else` with it",
        "not value.truth and not node.orelse and",
        "not value.truth and",
    ),
    Mutant(
        "a handler may ask for the exception that is gone",
        "if uses_name or any(map(asks_for_exception, handler.body)):",
        "if uses_name:",
    ),
    Mutant(
        "a function sees the names of the class around it",
        "    while isinstance(outer, LocalScope) and outer.is_class:\n        outer = outer.outer\n    if isinstance(outer, ModuleScope):",
        "    if isinstance(outer, ModuleScope):",
    ),
)
"""Each changes one line."""

TREES = 40
"""Of eight functions: at most this many are tried."""


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_mistake_is_found(mutant: Mutant) -> None:
    with broken(mutant) as engine, engine.unhurried():
        for seed in range(TREES):
            if engine.defects(make(seed, 8), rounds=mutant.rounds):
                return
            gc.collect()
    pytest.fail(f"{TREES * 8} examples do not show it")


def test_a_mistake_that_is_none_is_told() -> None:
    with pytest.raises(LookupError):
        place(Mutant("nothing", "no line of the package reads so", ""))
