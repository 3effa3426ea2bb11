"""Literal, TakeOperand, and operands of chains."""

from __future__ import annotations

import ast

import pytest

from shrinker.emit.rewrite import RewriteError
from tests.emit.program import element, literal, operand, rewrite

BOOL = [
    ("x = F or a\n", "x = a\n"),
    ("x = a or F\n", "x = a\n"),
    ("x = a or F or b\n", "x = a or b\n"),
    ("x = a  or  F  or   b\n", "x = a  or   b\n"),
    ("if (a and F): b\n", "if a: b\n"),
    ("if(a and F): b\n", "if(a): b\n"),
    ("if(a and F)or c: b\n", "if(a)or c: b\n"),
    ("x = not (F or a == b)\n", "x = not (a == b)\n"),
    ("x = not (F or a)\n", "x = not a\n"),
    ("x = (F or a).b\n", "x = a.b\n"),
    ("x = (F or 1).real\n", "x = (1).real\n"),
    ("x = c and (F or a or b)\n", "x = c and (a or b)\n"),
    ("x = (a)and(F)and(b)\n", "x = (a) and (b)\n"),
    ("x = a and(F)and b\n", "x = a and b\n"),
    ("f(*(F or a))\n", "f(*a)\n"),
    ("f(x=(F or a + 1))\n", "f(x=a + 1)\n"),
]


@pytest.mark.parametrize(("before", "after"), BOOL)
def test_an_operand_of_and_or(before: str, after: str) -> None:
    assert rewrite(before, element("F", "BoolOp")) == after


def test_chains_over_lines() -> None:
    source = """
        if (
            # about a
            a  # of a
            # about F
            and F  # of F
            # about b
            and b  # of b
        ):
            c
    """
    expected = "if (\n    # about a\n    a  # of a\n    # about b\n    and b  # of b\n):\n    c\n"
    assert rewrite(source, element("F", "BoolOp")) == expected
    expected = "if (\n    # about b\n    b  # of b\n):\n    c\n"
    assert rewrite(source, element("F", "BoolOp"), element("a", "BoolOp")) == expected
    expected = "if (\n    # about a\n    a  # of a\n    # about F\n    and F  # of F\n):\n    c\n"
    assert rewrite(source, element("b", "BoolOp")) == expected


def test_operators_at_line_ends() -> None:
    source = "x = (\n    a and  # of a\n    F and  # of F\n    b  # of b\n)\n"
    assert rewrite(source, element("F", "BoolOp")) == "x = (\n    a and  # of a\n    b  # of b\n)\n"
    source = "x = (a or\n     F)\n"
    assert rewrite(source, element("F", "BoolOp")) == "x = a\n"


def test_no_operand_left() -> None:
    with pytest.raises(RewriteError, match="line 1, column 4: no operand"):
        rewrite("x = a or b\n", element("a", "BoolOp"), element("b", "BoolOp"))


def test_unions() -> None:
    assert rewrite("x: A | F | B\n", element("F", "BinOp")) == "x: A | B\n"
    assert rewrite("x: F | None\n", element("F", "BinOp")) == "x: None\n"
    assert rewrite("x: A | F | B\n", element("A | F", "BinOp")) == "x: B\n"
    assert rewrite("x: (A | F) | B\n", element("F", "BinOp")) == "x: A | B\n"


TERNARY = [
    ("x = a if T else b\n", "x = a\n"),
    ("x = (a if T else b)\n", "x = a\n"),
    ("x = (a if T else b) + 1\n", "x = a + 1\n"),
    ("x = (a + c if T else b) * 2\n", "x = (a + c) * 2\n"),
    ("x = ((a or c) if T else b) or d\n", "x = (a or c) or d\n"),
    ("x = (a or c if T else b) or d\n", "x = (a or c) or d\n"),
    ("x = [(a, b) if T else c]\n", "x = [(a, b)]\n"),
    ("def f(): return(a if T else b)\n", "def f(): return(a)\n"),
    ("x = (\n    a\n    if T\n    else b\n)\n", "x = a\n"),
    ("x = (\n    a\n    + 1\n    if T\n    else b\n)\n", "x = (\n    a\n    + 1\n)\n"),
    ("x = (\n    a  # one\n    if T\n    else b\n)\n", "x = a\n"),
    ("x = (\n    # why\n    a if T else b\n)\n", "x = (\n    # why\n    a\n)\n"),
    ("x = (\n    f(\n        1\n    ) if T else b\n)\n", "x = f(\n        1\n    )\n"),
    ("x = (lambda: a) if T else b\n", "x = (lambda: a)\n"),
    ("x = a if (y := T) else b\n", "x = a\n"),
    ("x = not(a if T else b)\n", "x = not(a)\n"),
    ("x = [not(lambda: c), a if T else b]\n", "x = [not(lambda: c), a]\n"),
]


@pytest.mark.parametrize(("before", "after"), TERNARY)
def test_an_arm_of_a_ternary(before: str, after: str) -> None:
    assert rewrite(before, operand(_ternaries(before)[0], "body")) == after


def _ternaries(source: str) -> list[str]:
    return [ast.get_source_segment(source, n) or "" for n in ast.walk(ast.parse(source)) if isinstance(n, ast.IfExp)]


def test_other_operands() -> None:
    assert rewrite("x = not F\n", operand("not F", "operand")) == "x = F\n"
    assert rewrite("x: Optional[F] = None\n", operand("Optional[F]", "value")) == "x: Optional = None\n"
    assert rewrite("x = a.b.c\n", operand("a.b.c", "value")) == "x = a.b\n"
    assert rewrite("x = a or b or c\n", operand("a or b or c", "values:1")) == "x = b\n"
    assert rewrite("x = a or (b and d) or c\n", operand("a or (b and d) or c", "values:1")) == "x = (b and d)\n"


def test_literals() -> None:
    assert rewrite("x = is_hip()\n", literal("is_hip()", "False")) == "x = False\n"
    assert rewrite("if not(is_hip()): a\n", literal("is_hip()", "False")) == "if not(False): a\n"
    assert rewrite("x = [is_hip(), (is_hip())]\n", literal("is_hip()", "False"), literal("is_hip()", "None", 1)) == (
        "x = [False, None]\n"
    )
    assert rewrite("f(a=is_hip(b, # c\n d), *c)\n", literal("is_hip(b, # c\n d)", "None")) == "f(a=None, *c)\n"
    assert rewrite("x = (1, 2) == y\n", literal("(1, 2)", "None")) == "x = None == y\n"


def test_a_literal_wins_over_what_is_inside() -> None:
    source = "x = not (is_hip() or F)\n"
    edits = (literal("is_hip()", "False"), element("F", "BoolOp"), literal("not (is_hip() or F)", "True"))
    assert rewrite(source, *edits) == "x = True\n"


def test_an_operand_with_edits_inside() -> None:
    source = "x = f(a and F, g=b if T else c) if T else d\n"
    edits = (operand("f(a and F, g=b if T else c) if T else d", "body"), element("F", "BoolOp"))
    assert rewrite(source, *edits, operand("b if T else c", "body")) == "x = f(a, g=b)\n"


def test_columns_are_bytes() -> None:
    assert rewrite("x = 'é€𝄞', F and a\n", element("F", "BoolOp")) == "x = 'é€𝄞', a\n"
