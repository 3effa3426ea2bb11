"""Mistakes in the engine that the generated programs must show: a property test that cannot fail
proves nothing.
"""

import os
import shutil
from pathlib import Path

import pytest

from tests.small import python

ROOT = Path(__file__).resolve().parents[2]
MUTANTS = {
    "a call has no effect": (
        (
            "            case ast.Call() if not _is_pure_call(part, scope):\n                "
            "return False\n"
        ),
        "",
    ),
    "an operand before the one that decides has no effect": (
        "values[: index + 1]",
        "values[index : index + 1]",
    ),
    "an assignment expression has no effect": (
        "            case ast.NamedExpr():\n                return False\n",
        "",
    ),
    "`x or True` is True": ("            same = all_known or (", "            same = True or ("),
    "a `finally` goes with its `try`": (
        "failing_import(node, folder.scope) if not node.finalbody else None",
        "failing_import(node, folder.scope)",
    ),
    "what is declared global is looked up here": (
        "        if name in self.bindings.globals:\n            # Declared",
        "        if False:\n            # Declared",
    ),
    "what follows an `if` that leaves by one arm is dead": (
        "return bool(node.orelse) and leaves(node.body[-1]) and leaves(node.orelse[-1])",
        "return leaves(node.body[-1])",
    ),
    "a comprehension sees the names of the class around it": (
        "    while isinstance(scope, LocalScope) and scope.is_class:\n",
        "    while False:\n",
    ),
    "comparing with a removed member produces it": (
        "    return isinstance(value, Removed) and value.member\n\n\ndef _is_decided",
        "    return False\n\n\ndef _is_decided",
    ),
}
"""One line of the package, and what it is instead."""

TREES = 60
"""Of eight functions: at most this many are tried, about as many as a run of the property test has.
"""
TRIAL = f"""
from tests.fold.defects import defects, unhurried
from tests.fold.generate import program

with unhurried():
    print(any(defects(program(seed, 8)) for seed in range({TREES})))
"""


def mistaken(folder: Path, old: str, new: str) -> Path:
    """The folder, with a package that has the mistake; a lookup error where not exactly one place
    of the package reads so.
    """
    package = shutil.copytree(ROOT / "shrinker", folder / "shrinker")
    found = [
        path for path in package.rglob("*.py") for _ in range(path.read_text("utf-8").count(old))
    ]
    if len(found) != 1:
        raise LookupError(f"{len(found)} places read: {old}")
    found[0].write_text(found[0].read_text("utf-8").replace(old, new), "utf-8")
    return folder


@pytest.mark.parametrize(("old", "new"), MUTANTS.values(), ids=MUTANTS)
def test_mistake_is_found(tmp_path: Path, old: str, new: str) -> None:
    done = python(
        mistaken(tmp_path, old, new), "-c", TRIAL, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    assert done.stdout == "True\n", f"{TREES * 8} examples do not show it: {done.stderr}"


def test_a_mistake_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(LookupError):
        mistaken(tmp_path, "no line of the package reads so", "")
