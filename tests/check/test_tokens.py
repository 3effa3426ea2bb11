"""Both ways to split a file say the same, on the standard library and on what is known to be hard."""

import sysconfig
import tokenize
from pathlib import Path

import pytest

from shrinker.check.tokens import fast_lines, logical_lines, split

STDLIB = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[::3]

HARD = {
    "f-string": ("a = f'{b!r:>{w}} {c}' f\"d\"\n", [("a", "=", "f'{b!r:>{w}} {c}'", 'f"d"')]),
    "f-string over lines": ("a = f'''x\n{b\n}'''; c\n", [("a", "=", "f'''x\n{b\n}'''", ";", "c")]),
    "comments": (
        "# one\nf(  # two\n    # three\n    a)\n# four\n",
        [("# one",), ("f", "(", "# two", "# three", "a", ")"), ("# four",)],
    ),
    "quotes in quotes": ('a = \'x\\\'y\' """z"""\n', [("a", "=", "'x\\'y'", '"""z"""')]),
    "numbers": (
        "0x_F + 1_0.5e-3j + .5 + 1. + 1if x else 2\n",
        [("0x_F", "+", "1_0.5e-3j", "+", ".5", "+", "1.", "+", "1", "if", "x", "else", "2")],
    ),
    "operators": (
        "a**=b//c->d:=e...<=~f@=g!=h<<=i\n",
        [("a", "**=", "b", "//", "c", "->", "d", ":=", "e", "...", "<=", "~", "f", "@=", "g", "!=", "h", "<<=", "i")],
    ),
    "continuation": ("a = \\\n    b\nc\n", [("a", "=", "b"), ("c",)]),
    "carriage returns": ("a\r\nb  # c\r\n", [("a",), ("b", "# c")]),
    "no newline at the end": ("a", [("a",)]),
    "nothing": ("", []),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_cases(name: str) -> None:
    text, wanted = HARD[name]
    assert fast_lines(text) == wanted
    assert [line.tokens for line in logical_lines(text)] == wanted


@pytest.mark.parametrize("path", STDLIB, ids=lambda p: p.stem)
def test_the_standard_library(path: Path) -> None:
    text = path.read_bytes().decode("utf-8-sig")
    assert fast_lines(text) == [line.tokens for line in logical_lines(text)]


def test_line_numbers() -> None:
    assert [line.number for line in logical_lines("a\n\nb(\n  c)\n# d\n")] == [1, 3, 5]


@pytest.mark.parametrize("text", ["a = b)\n", "a = (b\n", "a ? b\n", "a = 'x\n", "$\n"])
def test_the_fast_lexer_leaves_to_tokenize_what_it_does_not_know(text: str) -> None:
    assert fast_lines(text) is None


def test_what_is_not_python_raises() -> None:
    with pytest.raises((SyntaxError, tokenize.TokenError)):
        split("a = (b\n")
