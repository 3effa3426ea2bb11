"""How a file is split into tokens: as `tokenize` does, on the standard library and on what is known
to be hard.
"""

import io
import sysconfig
import token
import tokenize
from pathlib import Path

import pytest

from shrinker.check.subsequence import Line, logical_lines, split

FSTRINGS = {
    getattr(token, f"{kind}STRING_{end}", -1): end for kind in "FT" for end in ("START", "END")
}
LAYOUT = {token.INDENT, token.DEDENT, token.ENDMARKER, token.ENCODING}


def by_tokenize(text: str) -> list[Line]:
    """Logical lines as `tokenize` sees them, an f-string in one piece, as before Python 3.12."""
    rows, lines, current = text.split("\n"), list[Line](), list[str]()
    number, nested, code, started = 0, 0, False, (0, 0)
    for kind, string, start, end, _ in tokenize.generate_tokens(io.StringIO(text).readline):
        number = number if current or nested else start[0]
        if nested or FSTRINGS.get(kind) == "START":
            started = started if nested else start
            nested += {"START": 1, "END": -1}.get(FSTRINGS.get(kind, ""), 0)
            if not nested:
                whole = "\n".join(rows[started[0] - 1 : end[0]])
                current.append(whole[started[1] : len(whole) - len(rows[end[0] - 1]) + end[1]])
                code = True
        elif kind == token.NEWLINE or (kind == token.NL and not code):
            lines += [Line(tuple(current), number)] if current else []
            current, code = [], False
        elif kind != token.NL and kind not in LAYOUT:
            current.append(string)
            code = code or kind != token.COMMENT
    return lines + ([Line(tuple(current), number)] if current else [])


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
        [
            (
                "a",
                "**=",
                "b",
                "//",
                "c",
                "->",
                "d",
                ":=",
                "e",
                "...",
                "<=",
                "~",
                "f",
                "@=",
                "g",
                "!=",
                "h",
                "<<=",
                "i",
            )
        ],
    ),
    "continuation": ("a = \\\n    b\nc\n", [("a", "=", "b"), ("c",)]),
    "carriage returns": ("a\r\nb  # c\r\n", [("a",), ("b", "# c")]),
    "no newline at the end": ("a", [("a",)]),
    "nothing": ("", []),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_cases(name: str) -> None:
    text, wanted = HARD[name]
    assert split(text) == [line.tokens for line in by_tokenize(text)] == wanted


@pytest.mark.parametrize("path", STDLIB, ids=lambda p: p.stem)
def test_the_standard_library(path: Path) -> None:
    text = path.read_bytes().decode("utf-8-sig")
    assert logical_lines(text) == by_tokenize(text)


def test_line_numbers() -> None:
    assert [line.number for line in logical_lines("a\n\nb(\n  c)\n# d\n")] == [1, 3, 5]


@pytest.mark.parametrize("text", ["a = b)\n", "a = (b\n", "a ? b\n", "a = 'x\n", "$\n"])
def test_what_is_not_python_raises(text: str) -> None:
    with pytest.raises(SyntaxError):
        split(text)
