"""What the judge says of rows that go: those of an inventory that nobody asks for, and of loops that import what rows name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from shrinker.ruleset import Ruleset
from shrinker.ruleset.load import load_rules
from tests.check.trees import Case, Files

Build = Callable[[Files, Files], Case]

RULES = """
[[inventory]]
id = "rows"
why = "A rule of the test."
registers = ["sglang.**.register_row"]
key = "op"
asked_by = ["sglang.**.find_row", "sglang.store._found"]

[[remove]]
id = "remove-tpu"
why = "A rule of the test."
feature = "TPU"
modules = ["sglang.**.tpu"]
"""

STORE = """import functools


def register_row(row):
    return row


@functools.lru_cache
def _found(op, kind):
    return op, kind


def find_row(op, kind=None):
    return _found(op, kind)


def forget():
    _found.cache_clear()
"""
HEAD = "from sglang.store import Row, register_row\n"
ROW = 'register_row(Row(op="a.one", target="sglang.a:one"))\n'
LOOP = """_LISTED = [
    ("x", "two"),
    ("y", "three"),
]
for _mod, _fn in _LISTED:
    register_row(Row(op=f"a.{_fn}", target=f"sglang.{_mod}:{_fn}"))
del _mod, _fn
"""


@pytest.fixture
def rules(tmp_path: Path) -> Ruleset:
    file = tmp_path / "rules.toml"
    file.write_text(RULES)
    return load_rules([file])


def found(case: Build, rules: Ruleset, before: str, after: str, ask: str) -> list[str]:
    """Checks of the level form that find fault when these rows go and a module says this."""
    ask = f"from sglang import store\nfrom sglang.store import find_row\n{ask}"
    files = {"store.py": STORE, "rows.py": HEAD + before, "ask.py": ask}
    trees = case(files, {"store.py": "=", "rows.py": HEAD + after, "ask.py": "="})
    trees.rules = rules
    return [check for check, _ in trees.findings("form")]


def test_rows_that_nobody_asks_for_may_go(case: Build, rules: Ruleset) -> None:
    assert found(case, rules, ROW + LOOP, "", 'find_row("a.other", kind=1)') == []


@pytest.mark.parametrize(
    "ask",
    [
        'find_row("a.one")',
        'store.find_row("a.one", kind=1)',
        "find_row(f'a.{x}')",
        "find_row(op='a.other')",
        "x = find_row",
        "getattr(store, 'find_row')('a.one')",
        "def f(other): return other.find_row('a.one')",
        "from sglang.store import find_row as look",
        "store._found('a.one', 2)",
    ],
)
def test_a_row_that_may_be_asked_for_stays(case: Build, rules: Ruleset, ask: str) -> None:
    assert "inventories" in found(case, rules, ROW, "", ask)


@pytest.mark.parametrize("ask", ["find_row('a.two')", '"""find_row"""', "store.find_row.cache_info()"])
def test_what_asks_for_something_else(case: Build, rules: Ruleset, ask: str) -> None:
    assert found(case, rules, ROW, "", ask) == []


def test_a_function_of_another_package_asks_for_nothing(case: Build, rules: Ruleset) -> None:
    files = {"store.py": STORE, "rows.py": HEAD + ROW, "ask.py": "from kernels import find_row\nfind_row(name)\n"}
    trees = case(files, {"store.py": "=", "rows.py": HEAD, "ask.py": "="})
    trees.rules = rules
    assert trees.findings("form") == []


@pytest.mark.parametrize(("key", "findings"), [("a.other", []), ("a.two", ["inventories"]), ("a.three", [])])
def test_rows_of_a_loop(case: Build, rules: Ruleset, key: str, findings: list[str]) -> None:
    less = LOOP.replace('    ("x", "two"),\n', "")
    assert found(case, rules, LOOP, less, f"find_row({key!r})") == findings


def test_a_row_whose_name_is_not_spelled_out_stays(case: Build, rules: Ruleset) -> None:
    assert "inventories" in found(case, rules, "register_row(Row(op=NAME))\n", "", "")


def test_without_an_inventory_the_statement_needs_another_rule(case: Build, rules: Ruleset) -> None:
    none = rules.model_copy(update={"inventories": ()})
    assert found(case, none, ROW, "", "") == ["registrations"]


IMPORTING = """from importlib import import_module

_GROUPS = ("one", "tpu", "two")
for _group in _GROUPS:
    import_module(f"{__name__}.{_group}")
"""


@pytest.mark.parametrize(
    ("gone", "findings"),
    [
        ('"tpu", ', []),
        ('"one", ', ["imports of loops"] * 2),
        ("", ["imports of loops"]),
        (', "two"', ["imports of loops"] * 2),
    ],
)
def test_rows_of_a_loop_that_imports_them(case: Build, rules: Ruleset, gone: str, findings: list[str]) -> None:
    files = {"p/__init__.py": IMPORTING, "p/one.py": "", "p/two.py": "", "p/tpu.py": ""}
    # A change elsewhere in the file, so that it is looked at.
    less = IMPORTING.replace(gone, "") if gone else f"# Less.\n{IMPORTING}"
    trees = case(files, {"p/__init__.py": less, "p/one.py": "=", "p/two.py": "="})
    trees.rules = rules
    assert [check for check, _ in trees.findings("references")] == findings
