"""DropStatement, DropTail, Raise."""

from __future__ import annotations

from tests.emit.program import drop, element, raises, rewrite, same, tail


def test_emptied_blocks_receive_pass() -> None:
    source = """
        def f():
            # about x
            x = 1

        class A:
            y = 2


        if a: b
        else:
            c
    """
    same(
        rewrite(source, drop("x = 1"), drop("y = 2"), drop("b"), drop("c")),
        """
        def f():
            pass

        class A:
            pass


        if a: pass
        else:
            pass
    """,
    )


def test_an_emptied_module_is_empty() -> None:
    assert rewrite("x = 1\n", drop("x = 1")) == ""


def test_decorators_go_with_the_definition() -> None:
    source = """
        a = 1


        # about f
        @first
        # about second
        @second(1)
        async def f():
            x
            # at the end


        def g():
            y


        z = 1
    """
    same(
        rewrite(source, drop("async def f():")),
        """
        a = 1


        def g():
            y


        z = 1
    """,
    )


def test_blank_lines_do_not_pile_up() -> None:
    source = """
        def f():
            a

            if F:
                gone

            b


        def g():

            if F:
                gone

            c

            if F:
                gone


        d
    """
    same(
        rewrite(source, drop("if F:"), drop("if F:", 1), drop("if F:", 2)),
        """
        def f():
            a

            b


        def g():

            c


        d
    """,
    )


def test_no_blank_lines_are_left_at_the_end_of_the_file() -> None:
    assert rewrite("a = 1\n\n\nb = 2\n", drop("b = 2")) == "a = 1\n"
    assert rewrite("a = 1\n\n\nb = 2", drop("b = 2")) == "a = 1\n"
    assert rewrite("b = 2\na = 1", drop("b = 2")) == "a = 1"


def test_several_statements_in_a_row() -> None:
    source = """
        a

        if F: x
        # about y
        if F: y

        if F: z


        b
    """
    same(rewrite(source, *(drop(f"if F: {n}") for n in "xyz")), "a\n\n\nb\n")


def test_small_statements_on_one_line() -> None:
    assert rewrite("a; b; c  # note\n", drop("b")) == "a; c  # note\n"
    assert rewrite("a; b; c  # note\n", drop("c")) == "a; b  # note\n"
    assert rewrite("a; b; c;\n", drop("a")) == "b; c\n"
    assert rewrite("x\na; b\ny\n", drop("a"), drop("b")) == "x\ny\n"
    assert rewrite("if a: b; c\n", drop("b"), drop("c")) == "if a: pass\n"


def test_footer_comments_go_with_their_block_only() -> None:
    source = """
        if F:
            gone
            # of the block

        # of what follows
        a
    """
    same(rewrite("\nb\n" + source.replace("        ", ""), drop("if F:")), "b\n\n# of what follows\na\n")


def test_tail() -> None:
    source = """
        def f():
            if a:
                return 1
                # dead
                b

                c
            # live
            d
    """
    same(
        rewrite(source, tail("b")),
        """
        def f():
            if a:
                return 1
            # live
            d
    """,
    )
    assert rewrite("def f():\n    a; b; c\n    d\n\nx\n", tail("b")) == "def f():\n    a\n\nx\n"
    assert rewrite("def f(): a; b; c\n", tail("b")) == "def f(): a\n"


def test_raise_replaces_the_rest_of_the_block() -> None:
    source = """
        def f():
            x

            # about the feature
            if a:
                gone()

            y

        z
    """
    same(
        rewrite(source, raises("if a:", 'no "x" \\ here: é')),
        """
        def f():
            x

            raise RuntimeError("no \\"x\\" \\\\ here: é")

        z
    """,
    )
    assert rewrite("def f(): a; b\n", raises("a", "m")) == 'def f(): raise RuntimeError("m")\n'
    assert rewrite("def f():\n    a; b\n    c\n", raises("b", "m")) == 'def f():\n    a; raise RuntimeError("m")\n'


def test_an_elif_that_raises_becomes_else() -> None:
    source = "if a:\n    b\n# about c\nelif c:\n    d\nelse:\n    e\n"
    assert rewrite(source, raises("elif c:", "m")) == 'if a:\n    b\nelse:\n    raise RuntimeError("m")\n'
    assert rewrite(source, drop("elif c:")) == "if a:\n    b\n"


def test_edits_inside_what_goes_are_void() -> None:
    source = "def f():\n    if a:\n        x = [1, F]\n    y = not F\n    return y\n"
    inside = (element("F", "List"), drop("x = [1, F]"), tail("y = not F"))
    assert rewrite(source, raises("if a:", "m"), *inside) == 'def f():\n    raise RuntimeError("m")\n'


def test_tabs_crlf_and_form_feeds() -> None:
    assert rewrite("if a:\n\tb\n\tif c:\n\t\td\n\te\n", drop("if c:")) == "if a:\n\tb\n\te\n"
    assert rewrite("if a:\r\n    b\r\nc\r\n", drop("b")) == "if a:\r\n    pass\r\nc\r\n"
    assert rewrite("if a:\r\n    b\r\nc", raises("b", "m")) == 'if a:\r\n    raise RuntimeError("m")\r\nc'
    assert rewrite("a\n\x0c\nif F:\n    b\nc\n", drop("if F:")) == "a\n\x0c\nc\n"


def test_what_goes_takes_the_comments_that_are_indented_as_its_last_block_is() -> None:
    source = """
        x
        if F:
            a
        elif G:
            b

            # of the last block

            # of it, too
        # of what follows
        y
        if F:
            a
        else: b
            # of what follows, wherever it stands
        z
    """
    same(
        rewrite(source, drop("if F:"), drop("if F:", 1)),
        """
        x
        # of what follows
        y
            # of what follows, wherever it stands
        z
    """,
    )


def test_what_goes_may_hold_and_share_anything() -> None:
    text = 'x\ndef f():\n    return """\n# no comment\n\\"""" + \'\'\'"""\'\'\'  # é\ny\n'
    assert rewrite(text, drop("def f():")) == "x\ny\n"
    assert rewrite("x\nf(\n    1,\n)  # about f\ny\n", drop("f(")) == "x\ny\n"
    assert rewrite("x\nf(\n    1,\n); z\ny\n", drop("f(")) == "x\nz\ny\n"
    assert rewrite("x\n@d\ndef f():\n    a", drop("def f():")) == "x\n"
    assert rewrite("é = 'é'; f(\n    1,\n)\ny\n", drop("é = 'é'")) == "f(\n    1,\n)\ny\n"
