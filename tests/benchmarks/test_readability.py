"""Hold what is counted of how code reads, by a program of a few lines."""

from pathlib import Path

import pytest

from benchmarks.readability import measure, table

PROGRAM = '''
class Row: ...


def fold(test):
    """Fold a test."""
    first, second = test.first, test.second
    return [one for one in first if one] if second else None


def faults():
    """The faults of a tree."""


class Row: ...
'''
COUNTED = {
    "docstring begins with a verb, %": 50,
    "function's name begins with a verb, %": 50,
    "ternaries in 1,000 lines": 1000 / 15,
    "comprehensions in 1,000 lines": 1000 / 15,
    "`a, b = x, y` in 1,000 lines": 1000 / 15,
    "functions of complexity over 10, %": 0,
    "class names that stand twice": 1,
    "lines wider than 100, %": 0,
}


def test_what_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(PROGRAM)
    reading = measure("small", [file])
    assert reading.lines == 15
    assert reading.figures == pytest.approx(COUNTED)


def test_a_wide_line_and_many_branches_count(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    branches = "".join(f"    if x == {number}:\n        return\n" for number in range(10))
    file.write_text(f"def find(x):\n{branches}    # {'wide ' * 30}\n")
    figures = measure("small", [file]).figures
    assert figures["functions of complexity over 10, %"] == 100
    assert figures["lines wider than 100, %"] == pytest.approx(100 / 22)


def test_the_table_has_a_column_for_each_project(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(PROGRAM)
    rows = table([measure("one", [file]), measure("two", [file])]).splitlines()
    assert rows[0] == "|  | one | two |"
    assert len(rows) == 3 + len(COUNTED)
