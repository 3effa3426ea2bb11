"""Whole files: what must not change first, then encodings, headers, and edits that do not fit."""

from __future__ import annotations

import ast
import pickle

import pytest

from shrinker.emit.rewrite import RewriteError, UnappliedEdit, rewrite_file
from shrinker.values.edits import (
    DropAlias,
    DropElement,
    DropStatement,
    Edit,
    Literal,
    Raise,
    Span,
    TakeBlock,
    TakeOperand,
)
from tests.emit.reference import span

HEADER = "# Modified."


ODD = {
    "empty": b"",
    "no line end": b"x = 1",
    "only comments": b"# a\n\n# b",
    "trailing blanks": b"x = 1   \n\t\n  # c  \n",
    "crlf": b"if a:\r\n    b\r\n",
    "form feed": b"a = 1\n\x0c\nb = 2\n",
    "tabs": b"if a:\n\tb\n\tif c:\n\t\td\n",
    "semicolons": b"a; b;\nif x: a; b;\n",
    "continuation": b"a = 1 + \\\n  2\n",
    "bom": b"\xef\xbb\xbfa = 1\n",
    "latin-1": "# -*- coding: latin-1 -*-\na = 'é'\n".encode("latin-1"),
    "mixed line ends": b"a = 1\r\nb = 2\nc = 3\rd = 4\n",
}


@pytest.mark.parametrize("source", ODD.values(), ids=ODD.keys())
def test_without_edits_a_file_is_itself(source: bytes) -> None:
    assert rewrite_file(source, []) == source


@pytest.mark.parametrize("source", [s for s in ODD.values() if s], ids=[n for n, s in ODD.items() if s])
def test_everything_around_an_edit_is_itself(source: bytes) -> None:
    encoding = "latin-1" if b"latin-1" in source else "utf-8"
    if not source.endswith(b"\n"):
        source += b"\n"
    text = source.decode(encoding).removeprefix("\ufeff")
    edited = source + "if F:\n    gone\n".encode(encoding)
    node = ast.parse(text + "if F:\n    gone\n").body[-1]
    assert rewrite_file(edited, [DropStatement(span(node))]) == source


def _drop_last(text: str) -> list[DropStatement]:
    return [DropStatement(span(ast.parse(text).body[-1]))]


def test_the_header_comes_first() -> None:
    assert rewrite_file(b"a = 1\nb = 2\n", _drop_last("a = 1\nb = 2\n"), header=HEADER) == b"# Modified.\na = 1\n"
    assert rewrite_file(b'"""Doc."""\n', [], header=HEADER) == b'# Modified.\n"""Doc."""\n'
    assert rewrite_file(b"", [], header=HEADER) == b"# Modified.\n"


def test_the_header_comes_after_what_must_be_first() -> None:
    assert rewrite_file(b"#!/bin/sh\n# c\na\n", [], header=HEADER) == b"#!/bin/sh\n# Modified.\n# c\na\n"
    coding = b"#!/bin/sh\n# -*- coding: utf-8 -*-\na\n"
    assert rewrite_file(coding, [], header=HEADER) == b"#!/bin/sh\n# -*- coding: utf-8 -*-\n# Modified.\na\n"
    assert (
        rewrite_file(b"# c\n# vim: set fileencoding=utf-8 :\na\n", [], header=HEADER).splitlines()[2] == b"# Modified."
    )
    assert rewrite_file(b"a\n# coding: utf-8\n", [], header=HEADER).startswith(b"# Modified.\na\n")
    assert rewrite_file(b"#!/bin/sh", [], header=HEADER) == b"#!/bin/sh\n# Modified.\n"
    assert rewrite_file(b"\xef\xbb\xbfa\r\n", [], header=HEADER) == b"\xef\xbb\xbf# Modified.\r\na\r\n"


def test_latin_1_stays_latin_1() -> None:
    text = "# -*- coding: latin-1 -*-\nx = 'é', F\n# é\ny = 1\n"
    first, second = ast.parse(text).body
    assert isinstance(first, ast.Assign) and isinstance(first.value, ast.Tuple)
    edits: list[Edit] = [DropElement(span(first.value.elts[1]), "Tuple"), Raise(span(second), "é €")]
    out = rewrite_file(text.encode("latin-1"), edits)
    assert out == b"# -*- coding: latin-1 -*-\nx = '\xe9',\nraise RuntimeError(\"\xe9 \\u20ac\")\n"
    assert isinstance(ast.parse(out).body[-1], ast.Raise)


def test_a_byte_order_mark_stays() -> None:
    text = "a = 1\nb = 2\n"
    assert rewrite_file(b"\xef\xbb\xbf" + text.encode(), _drop_last(text)) == b"\xef\xbb\xbfa = 1\n"


def test_files_that_cannot_be_read() -> None:
    with pytest.raises(SyntaxError):
        rewrite_file(b"def\n", [DropStatement(Span(1, 0, 1, 3))])
    with pytest.raises(SyntaxError):
        rewrite_file(b"# coding: no-such\nx\n", [])
    with pytest.raises((UnicodeDecodeError, SyntaxError)):
        rewrite_file(b"x = '\xff'\n", [])


WRONG: list[Edit] = [
    DropStatement(Span(1, 4, 1, 5)),
    DropStatement(Span(9, 0, 9, 5)),
    Literal(Span(1, 4, 1, 6), "True"),
    TakeOperand(Span(1, 4, 1, 5), "body"),
    DropElement(Span(1, 5, 1, 6), "Set"),
    DropElement(Span(1, 5, 1, 6), "Tuple"),
    DropAlias(Span(1, 0, 1, 1)),
    TakeBlock(Span(1, 0, 1, 11), "body"),
    TakeBlock(Span(2, 0, 3, 5), "handler:0"),
    TakeBlock(Span(2, 0, 3, 5), "nothing"),
]


@pytest.mark.parametrize("edit", WRONG, ids=map(str, range(len(WRONG))))
def test_edits_that_fit_nowhere(edit: Edit) -> None:
    with pytest.raises(RewriteError, match=f"line {edit.span.line}, column {edit.span.col}"):
        rewrite_file(b"x = [a, b]\nif c:\n    d\n", [edit])


def test_an_unapplied_edit_names_itself() -> None:
    edit = Literal(Span(1, 0, 1, 2), "True")
    with pytest.raises(UnappliedEdit) as caught:
        rewrite_file(b"x = 1\n", [edit])
    assert caught.value.edit == edit
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again, UnappliedEdit) and str(again) == str(caught.value)
