"""Mistakes in the engine that the generated programs must show: a property test that cannot fail proves nothing."""

import gc

import pytest

from tests.fold.generate import files, make
from tests.fold.mutants import Mutant, broken, place

MUTANTS = (
    Mutant(
        "a call has no effect",
        "            case ast.Call() if not _is_pure_call(part, scope, depth):\n                return False\n",
        "",
    ),
    Mutant("an operand before the one that decides has no effect", "values[: index + 1]", "values[index : index + 1]"),
    Mutant(
        "an assignment expression has no effect",
        "            case ast.NamedExpr():\n                return False\n",
        "",
    ),
    Mutant("`x or True` is True", "            same = all_known or (", "            same = True or ("),
    Mutant(
        "a `finally` goes with its `try`",
        "failing_import(node, folder.scope) if not node.finalbody else None",
        "failing_import(node, folder.scope)",
    ),
    Mutant(
        "what is declared global is looked up here",
        "        if name in self.bindings.globals:\n            # Declared",
        "        if False:\n            # Declared",
    ),
    Mutant(
        "what follows an `if` that leaves by one arm is dead",
        "return bool(node.orelse) and leaves(node.body[-1]) and leaves(node.orelse[-1])",
        "return leaves(node.body[-1])",
    ),
    Mutant(
        "a comprehension sees the names of the class around it",
        "    if isinstance(scope, LocalScope) and scope.is_class:\n        # Functions",
        "    if False:\n        # Functions",
    ),
    Mutant(
        "comparing with a removed member produces it",
        "    return isinstance(value, Removed) and value.member\n\n\ndef _is_decided",
        "    return False\n\n\ndef _is_decided",
    ),
)
"""Each changes one line."""

TREES = 60
"""Of eight functions: at most this many are tried, about as many as a run of the property test has."""


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_mistake_is_found(mutant: Mutant) -> None:
    with broken(mutant) as engine, engine.unhurried():
        for seed in range(TREES):
            if engine.defects(files(make(seed, 8))):
                return
            gc.collect()
    pytest.fail(f"{TREES * 8} examples do not show it")


def test_a_mistake_that_is_none_is_told() -> None:
    with pytest.raises(LookupError):
        place(Mutant("nothing", "no line of the package reads so", ""))
