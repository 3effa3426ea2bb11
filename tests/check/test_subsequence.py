"""What may and what may not stand in a generated file, line by line."""

import textwrap

import pytest

from shrinker.check.subsequence import Alignment, align
from shrinker.check.tokens import split


def compare(upstream: str, generated: str) -> Alignment:
    return align(split(textwrap.dedent(generated)), split(textwrap.dedent(upstream)))


REJECTED = {
    "a new statement": ("a = 1\n", "a = 1\nb = 2\n"),
    "a new argument": ("f(a)\n", "f(a, b)\n"),
    "another number": ("a = 1\n", "a = 2\n"),
    "another string": ("a = 'x'\n", "a = 'y'\n"),
    "a changed comment": ("a = 1  # one\n", "a = 1  # two\n"),
    "statements in another order": ("a = 1\nb = 2\n", "b = 2\na = 1\n"),
    "one statement gathered from two": ("f(a)\ng(b)\n", "f(b)\n"),
    "an else without an elif": ("if a:\n    b\nc\n", "if a:\n    b\nelse:\n    c\n"),
    "an if without an elif": ("a\nb\n", "if a:\n    b\n"),
    "a literal that replaces nothing": ("f(a)\n", "f(a) is True\n"),
    "a literal for another one": ("f(a, b=True)\n", "f(a, b=False)\n"),
    "a literal for another one in parentheses": ("a = (\n    False  # why\n)\n", "a = (\n    True  # why\n)\n"),
    "a literal for another one in a chain": ("a = b is None is True\n", "a = b is False is True\n"),
    "a call that was a name": ("a = f\n", "a = f()\n"),
    "a call of what was an argument": ("a = f, b\n", "a = f(b)\n"),
    "an error that is not the named one": ("a()\n", "raise RuntimeError('no')\n"),
    "the named error of another class": ("a()\n", "raise ValueError('shrinker: no')\n"),
    "a header in the middle": ("a\nb\n", "a\n# changed by shrinker\nb\n"),
    "two headers": ("a\n", "# by shrinker\n# by shrinker\na\n"),
    "a pass after the end": ("if a:\n    b\n", "if a:\n    b\n    pass\n"),
    "a comma in a call": ("f(a)\n", "f(a,)\n"),
    "a comma in a list": ("b = [a]\n", "b = [a,]\n"),
    "a changed f-string": ("a = f'{b}c'\n", "a = f'{b}'\n"),
    "not": ("if a:\n    b\n", "if not a:\n    b\n"),
}

ACCEPTED = {
    "the same": ("a = 1\n", "a = 1\n", {}),
    "nothing left": ("a = 1\n", "", {}),
    "a statement less": ("a = 1\nb = 2\nc = 3\n", "a = 1\nc = 3\n", {}),
    "an operand less": ("if a and b:\n    c\n", "if a:\n    c\n", {}),
    "a block dedented": ("if a:\n    b\n    # why\n    c\nd\n", "b\n# why\nc\nd\n", {}),
    "a comment of a dropped header": ("if a:  # why\n    b\n", "# why\nb\n", {}),
    "two statements of one line": ("if a: b; c\n", "b\nc\n", {}),
    "an emptied block": ("def f():\n    a()\n\n\nb\n", "def f():\n    pass\n\n\nb\n", {"pass": 1}),
    "an emptied block on one line": ("if a: b()\nc\n", "if a: pass\nc\n", {"pass": 1}),
    "a condition": ("while f(x) or y:\n    b\n", "while True:\n    b\n", {"True": 1}),
    "a value": ("a = f(x) if c else d\n", "a = None\n", {"None": 1}),
    "the last arm": (
        "if a:\n    b\nelif c:\n    d\nelse:\n    e\n",
        "if a:\n    b\nelse:\n    d\n",
        {"else for elif": 1},
    ),
    "the first arm": ("if a:\n    b\nelif c:\n    d\n", "if c:\n    d\n", {"if for elif": 1}),
    "the header": ("a\n", "# Modified by shrinker\na\n", {"header comment": 1}),
    "the header after the encoding": (
        "# coding: utf-8\na\n",
        "# coding: utf-8\n# shrinker\na\n",
        {"header comment": 1},
    ),
    "the named error": (
        "def f():\n    a()\n    b()\n",
        "def f():\n    raise RuntimeError('shrinker: off')\n",
        {"named error": 1},
    ),
    "the named error of two strings": (
        "if c: a()\n",
        "if c: raise RuntimeError('shrinker: off'\n 'see the rules')\n",
        {"named error": 1},
    ),
    "a one-tuple": ("a = (b, c)\n", "a = (c,)\n", {"comma of a one-tuple": 1}),
    "literals in a chain of comparisons": (
        "a = (f(x) is None) is (g and h) is not (b)\n",
        "a = False is False is not (b)\n",
        {"False": 2},
    ),
    "a literal after a later comma": ("f(a, None, b, x if c else d)\n", "f(a, b, None)\n", {"None": 1}),
    "parentheses": ("a = b and c or d\n", "a = (b or d)\n", {"grouping parentheses": 2}),
}


@pytest.mark.parametrize("name", REJECTED)
def test_rejected(name: str) -> None:
    assert compare(*REJECTED[name]).mismatches


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    upstream, generated, used = ACCEPTED[name]
    result = compare(upstream, generated)
    assert result.mismatches == ()
    assert {k: v for k, v in result.used.items() if v} == used


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
