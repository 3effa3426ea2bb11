"""TakeBlock and DropBlock."""

from __future__ import annotations

import pytest

from shrinker.emit.rewrite import RewriteError
from tests.emit.program import drop, drop_block, element, literal, operand, rewrite, same, take

CHAIN = """
    # about the chain
    if a:  # first
        # in a
        x
        # end of a
    # above b
    elif b:  # second
        y
    # above else
    else:  # third
        # in else
        z

        # end of else
    after
"""


def test_take_the_body() -> None:
    same(
        rewrite(CHAIN, take("if a:  # first", "body")),
        """
        # about the chain
        # in a
        x
        # end of a
        after
    """,
    )


def test_the_elif_becomes_the_if() -> None:
    same(
        rewrite(CHAIN, take("if a:  # first", "orelse")),
        """
        # about the chain
        # above b
        if b:  # second
            y
        # above else
        else:  # third
            # in else
            z

            # end of else
        after
    """,
    )


def test_a_true_elif_becomes_else() -> None:
    same(
        rewrite(CHAIN, take("elif b:  # second", "body")),
        """
        # about the chain
        if a:  # first
            # in a
            x
            # end of a
        # above b
        else:  # second
            y
        after
    """,
    )


def test_a_false_elif_goes() -> None:
    same(
        rewrite(CHAIN, take("elif b:  # second", "orelse")),
        """
        # about the chain
        if a:  # first
            # in a
            x
            # end of a
        # above else
        else:  # third
            # in else
            z

            # end of else
        after
    """,
    )


def test_both_arms_false() -> None:
    same(
        rewrite(CHAIN, take("if a:  # first", "orelse"), take("elif b:  # second", "orelse")),
        """
        # about the chain
        # above else
        # in else
        z

        # end of else
        after
    """,
    )


def test_the_last_elif_goes() -> None:
    source = "if a:\n    b\nelif c:\n    d\nx\n"
    assert rewrite(source, take("elif c:", "orelse")) == "if a:\n    b\nx\n"
    assert rewrite(source, take("if a:", "orelse"), take("elif c:", "orelse")) == "x\n"


def test_three_arms() -> None:
    source = "if a: 1\nelif b: 2\nelif c: 3\nelif d: 4\nelse: 5\n"
    expected = "if a: 1\nelif d: 4\nelse: 5\n"
    assert rewrite(source, take("elif b: 2", "orelse"), take("elif c: 3", "orelse")) == expected
    assert rewrite(source, take("elif b: 2", "orelse"), take("elif c: 3", "body")) == "if a: 1\nelse: 3\n"
    assert rewrite(source, take("if a: 1", "orelse"), take("elif b: 2", "body")) == "2\n"


def test_an_arm_with_its_own_edits() -> None:
    source = """
        def f():
            if F:
                pass
            elif T and b:
                if T:
                    x = y if T else z
                w
            else:
                v
    """
    same(
        rewrite(
            source,
            take("if F:", "orelse"),
            element("T", "BoolOp"),
            take("if T:", "body"),
            operand("y if T else z", "body"),
        ),
        """
        def f():
            if b:
                x = y
                w
            else:
                v
    """,
    )


def test_no_else_to_take() -> None:
    assert rewrite("a\nif F:\n    b\nc\n", take("if F:", "orelse")) == "a\nc\n"
    assert rewrite("if x:\n    if F:\n        b\n", take("if F:", "orelse")) == "if x:\n    pass\n"


def test_blocks_on_the_header_line() -> None:
    assert rewrite("if T: a; b  # note\nelse: c\n", take("if T: a; b  # note", "body")) == "a; b  # note\n"
    assert rewrite("if F: a\nelse: b; c\n", take("if F: a", "orelse")) == "b; c\n"


def test_nested_dedent_with_other_indents() -> None:
    source = """
        if x:
          if T:
                if y:
                      a = [
                        1,
                      ]
                else:
                   b
                c
          d
    """
    same(
        rewrite(source, take("if T:", "body")),
        """
        if x:
          if y:
                a = [
                  1,
                ]
          else:
             b
          c
          d
    """,
    )


TRY = """
    # about
    try:  # header
        import a  # kept
    except ImportError:
        # in handler
        a = None
    except (KeyError, ValueError):
        b
    else:
        c
    finally:
        d
    after
"""


def test_try() -> None:
    assert rewrite(TRY, take("try:  # header", "body")) == "# about\nimport a  # kept\nafter\n"
    assert rewrite(TRY, take("try:  # header", "handler:0")) == "# about\n# in handler\na = None\nafter\n"
    same(
        rewrite(TRY, drop_block("try:  # header", "handler:1"), drop_block("try:  # header", "finalbody")),
        """
        # about
        try:  # header
            import a  # kept
        except ImportError:
            # in handler
            a = None
        else:
            c
        after
    """,
    )


def test_a_try_without_clauses_is_refused() -> None:
    with pytest.raises(RewriteError, match=r"line 2, column 4: .* without handlers"):
        rewrite("if 1:\n    try: a\n    except B: c\n", drop_block("try: a", "handler:0"))


def test_loops() -> None:
    assert rewrite("while a:\n    b\nelse:\n    c\n", drop_block("while a:", "orelse")) == "while a:\n    b\n"
    assert rewrite("while T:\n    b\n", take("while T:", "body")) == "b\n"


def test_drop_the_else() -> None:
    assert rewrite(CHAIN, drop_block("if a:  # first", "orelse")).startswith("# about the chain\nif a:  # first\n")
    assert rewrite("if a:\n    b\nelse:\n    c\n", drop_block("if a:", "orelse"), drop("c")) == "if a:\n    b\n"


def test_a_block_that_is_only_partly_kept() -> None:
    source = """
        if T:

            # lead

            # about x
            x
            y
            # foot
        # about z
        z
    """
    same(rewrite(source, take("if T:", "body"), drop("x")), "# lead\n\ny\n# foot\n# about z\nz\n")


def test_a_header_alone_changes() -> None:
    source = "if a and F:\n    b = '''\n  #'''\n    # c\nelif F or d:\n    e\n"
    expected = "if a:\n    b = '''\n  #'''\n    # c\nelif d:\n    e\n"
    assert rewrite(source, element("F", "BoolOp"), element("F", "BoolOp", 1)) == expected
    assert rewrite("@a(F)\ndef f(x=F):  # c\n\n    # d\n    b\n", literal("F", "False"), literal("F", "False", 1)) == (
        "@a(False)\ndef f(x=False):  # c\n\n    # d\n    b\n"
    )
