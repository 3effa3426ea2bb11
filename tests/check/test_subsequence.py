"""What may and what may not stand in a generated file, line by line."""

import textwrap
from pathlib import Path

import pytest

from shrinker.check.subsequence import Alignment, align, split
from tests.small import read_cases


def compare(upstream: str, generated: str) -> Alignment:
    return align(split(textwrap.dedent(generated)), split(textwrap.dedent(upstream)))


REJECTED = read_cases(Path(__file__).with_name("rejected.txtar"))

ACCEPTED = read_cases(Path(__file__).with_name("accepted.txtar"))


@pytest.mark.parametrize("name", REJECTED)
def test_rejected(name: str) -> None:
    assert compare(**REJECTED[name]).mismatches


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    trees = {**ACCEPTED[name]}
    used = trees.pop("used")
    result = compare(**trees)
    assert result.mismatches == ()
    assert "".join(f"{name}: {count}\n" for name, count in result.used.items() if count) == used


def test_an_inserted_pass_is_not_taken_for_a_later_one_of_upstream() -> None:
    middle = "".join(f"x{i} = {i}\n" for i in range(200))
    upstream = f"def f():\n    a()\n{middle}def g():\n    pass\nend = 1\n"
    generated = f"def f():\n    pass\n{middle}def g():\n    pass\nend = 1\n"
    result = compare(upstream, generated)
    assert result.mismatches == ()
    assert result.used["pass"] == 1


def test_upstreams_own_literals_are_not_counted() -> None:
    text = "def f(a=None):\n    if a is None:\n        pass\n    return True, (a,), (a or True)\n"
    result = compare("import x\n" + text, text)
    assert not any(result.used.values())


def test_the_first_line_that_does_not_fit_is_named() -> None:
    result = compare("a = 1\nb = 2\nc = 3\n", "a = 1\nz = 9\nc = 3\n")
    assert result.mismatches == ((1, "z = 9"),)


def test_many_deletions_and_allowances_in_one_file() -> None:
    block = "def f{i}(a=None):\n    if a is None:\n        g{i}(a)\n    return h(True, None, a)\n\n"
    upstream = "".join(block.format(i=i) for i in range(1000))
    kept = "def f{i}(a=None):\n    if a is None:\n        pass\n    return h(True, None, None)\n\n"
    generated = "".join(kept.format(i=i) for i in range(0, 1000, 2))
    result = compare(upstream, generated)
    assert result.mismatches == ()
    assert result.used["pass"] == 500
    assert result.used["None"] == 500
