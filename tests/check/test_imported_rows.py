"""What the judge says of rows that go from loops which import what the rows name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from shrinker.ruleset.load import load_rules
from tests.check.trees import Case, Files

Build = Callable[[Files, Files], Case]

RULES = """
[[remove]]
id = "remove-tpu"
why = "A rule of the test."
feature = "TPU"
modules = ["sglang.**.tpu"]
"""

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
def test_rows_of_a_loop_that_imports_them(case: Build, tmp_path: Path, gone: str, findings: list[str]) -> None:
    files = {"p/__init__.py": IMPORTING, "p/one.py": "", "p/two.py": "", "p/tpu.py": ""}
    # A change elsewhere in the file, so that it is looked at.
    less = IMPORTING.replace(gone, "") if gone else f"# Less.\n{IMPORTING}"
    trees = case(files, {"p/__init__.py": less, "p/one.py": "=", "p/two.py": "="})
    file = tmp_path / "rules.toml"
    file.write_text(RULES)
    trees.rules = load_rules([file])
    assert [check for check, _ in trees.findings("references")] == findings
