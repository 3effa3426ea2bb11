"""What must NOT change."""

from __future__ import annotations

import ast

import pytest

from shrinker.emit.rewrite import rewrite_file
from shrinker.values.edits import DropStatement
from tests.emit.program import alias, drop, element, literal, rewrite, same, take
from tests.emit.reference import span

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


def test_strange_spacing_of_kept_code_stays() -> None:
    source = """
        x  =  {  'a' :1,'b':2 ,   }   # odd
        def f( a,b = 3 )  :   # odd too
            return   (a )if b else( a)

            # a comment at the end
        if F:
            gone
        class  C ( object ) : pass
    """
    out = rewrite(source, drop("if F:"))
    same(
        out,
        """
        x  =  {  'a' :1,'b':2 ,   }   # odd
        def f( a,b = 3 )  :   # odd too
            return   (a )if b else( a)

            # a comment at the end
        class  C ( object ) : pass
    """,
    )


def test_strings_keep_their_content_when_dedented() -> None:
    source = '''
        if T:
            text = """
                indented
            not
            """
            f(
                1,
              2)
            g(a, \\
                b)
    '''
    out = rewrite(source, take("if T:", "body"))
    same(
        out,
        '''
        text = """
                indented
            not
            """
        f(
            1,
          2)
        g(a, \\
                b)
    ''',
    )


def test_licence_above_the_first_statement_stays() -> None:
    out = rewrite("# Copyright\n# Licence\nimport a\nimport b\n", drop("import a"))
    assert out == "# Copyright\n# Licence\nimport b\n"


def test_comments_of_others_stay() -> None:
    source = """
        a = 1  # about a

        # a section

        # about gone
        # more about gone
        gone = 2  # about gone too
        # about b
        b = 3
    """
    same(
        rewrite(source, drop("gone = 2")),
        """
        a = 1  # about a

        # a section

        # about b
        b = 3
    """,
    )


def test_parentheses_that_upstream_wrote_stay() -> None:
    assert rewrite("x = (a == b) and F\n", element("F", "BoolOp")) == "x = (a == b)\n"
    assert rewrite("x = a and (F or (b or c))\n", element("F", "BoolOp")) == "x = a and (b or c)\n"


def test_other_names_of_an_import_stay_as_they_are() -> None:
    assert rewrite("from a import b , c as d,e # f\n", alias("e")) == "from a import b , c as d # f\n"


def test_a_type_comment_stays() -> None:
    assert rewrite("x = F and a  # type: ignore\n", element("F", "BoolOp")) == "x = a  # type: ignore\n"


def test_literals_inside_strings_are_not_touched() -> None:
    assert rewrite("x = F, 'F', f'{F}'\n", literal("F", "False")) == "x = False, 'F', f'{F}'\n"
