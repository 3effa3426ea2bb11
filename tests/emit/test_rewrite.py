"""Programs before and after each kind of edit."""

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from shrinker.emit.rewrite import RewriteError, rewrite_file
from shrinker.values import edits as kinds
from shrinker.values.edits import Edit, Span
from tests.emit.reference import apply, span

Maker = Callable[[str], Edit]


def _span(source: str, text: str, of: type | tuple[type, ...], nth: int) -> Span:
    """The span of the nth node with this text, of a statement its first line."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, of):
            segment = ast.get_source_segment(source, node) or ""
            if (segment.partition("\n")[0] if isinstance(node, ast.stmt) else segment) == text:
                found.append(span(node))
    assert len(found) > nth, f"{text!r} occurs {len(found)} times"
    return sorted(found)[nth]


def _edit(kind: Callable[..., Edit], of: type | tuple[type, ...]) -> Callable[..., Maker]:
    """How a case says one kind of edit: the text that it names, what else the edit holds, and of
    several such texts which.
    """

    def named(text: str, *more: str, nth: int = 0) -> Maker:
        return lambda source: kind(_span(source, text, of, nth), *more)

    return named


drop = _edit(kinds.DropStatement, ast.stmt)
tail = _edit(kinds.DropTail, ast.stmt)
take = _edit(kinds.TakeBlock, ast.stmt)
drop_else = _edit(kinds.DropElse, ast.stmt)
raises = _edit(kinds.Raise, ast.stmt)
load = _edit(kinds.LoadModule, ast.stmt)
literal = _edit(kinds.Literal, ast.expr)
operand = _edit(kinds.TakeOperand, ast.expr)
element = _edit(kinds.DropElement, (ast.expr, ast.keyword))
alias = _edit(kinds.DropElement, ast.alias)


def rewrite(source: str, *makers: Maker) -> str:
    """The program after the edits; checks it against the reference."""
    edits = [make(source) for make in makers]
    out = rewrite_file(source.encode(), edits).decode()
    assert ast.dump(ast.parse(out)) == ast.dump(apply(source, edits)), (
        f"not what the edits mean:\n{out}"
    )
    return out


Row = tuple[str, str, list[Maker]]
"""A program before and after edits."""


def read_programs() -> dict[str, Row]:
    """`rewrites.txt`: `== TITLE`, the edits on one line, and what they do, as the lines of a
    comparison.
    """
    found = {}
    text = Path(__file__).with_name("rewrites.txt").read_text("utf-8")
    for case in text.removeprefix("== ").split("\n== "):
        title, edits, *lines = case.splitlines()
        before, after = (
            "".join(f"{line[1:]}\n" for line in lines if line[:1] != other) for other in "+-"
        )
        found[title] = (before, after, [*eval(f"({edits},)")])
    return found


LINES: list[Row] = [
    # the last elif goes
    ("if a:\n    b\nelif c:\n    d\nx\n", "if a:\n    b\nx\n", [take("elif c:", "orelse")]),
    (
        "if a:\n    b\nelif c:\n    d\nx\n",
        "x\n",
        [take("if a:", "orelse"), take("elif c:", "orelse")],
    ),
    # no else to take
    ("a\nif F:\n    b\nc\n", "a\nc\n", [take("if F:", "orelse")]),
    ("if x:\n    if F:\n        b\n", "if x:\n    pass\n", [take("if F:", "orelse")]),
    # blocks on the header line
    ("if T: a; b  # note\nelse: c\n", "a; b  # note\n", [take("if T: a; b  # note", "body")]),
    ("if F: a\nelse: b; c\n", "b; c\n", [take("if F: a", "orelse")]),
    # loops
    ("while a:\n    b\nelse:\n    c\n", "while a:\n    b\n", [drop_else("while a:")]),
    ("while T:\n    b\n", "b\n", [take("while T:", "body")]),
    # drop the else
    ("if a:\n    b\nelse:\n    c\n", "if a:\n    b\n", [drop_else("if a:"), drop("c")]),
    # keywords and stars
    ("class A(B, metaclass=F): a\n", "class A(B): a\n", [element("metaclass=F")]),
    ("x = [a, *F]\n", "x = [a]\n", [element("*F")]),
    # aliases
    ("import a, b as c, d\n", "import a, d\n", [alias("b as c")]),
    ("import a, b\n", "import b\n", [alias("a")]),
    ("from . import a, b\n", "from . import a\n", [alias("b")]),
    ("from a import b, \\\n    c\n", "from a import b\n", [alias("c")]),
    ("from a import (b, c)\n", "from a import (c)\n", [alias("b")]),
    # operators at line ends
    ("x = (a or\n     F)\n", "x = a\n", [element("F")]),
    # a type without its parts
    ("x: Optional[F] = None\n", "x: Optional = None\n", [operand("Optional[F]", "value")]),
    # literals
    ("x = is_hip()\n", "x = False\n", [literal("is_hip()", "False")]),
    ("if not(is_hip()): a\n", "if not(False): a\n", [literal("is_hip()", "False")]),
    ("f(a=is_hip(b, # c\n d), *c)\n", "f(a=None, *c)\n", [literal("is_hip(b, # c\n d)", "None")]),
    ("x = (1, 2) == y\n", "x = None == y\n", [literal("(1, 2)", "None")]),
    # columns are bytes
    ("x = 'é€𝄞', F and a\n", "x = 'é€𝄞', a\n", [element("F")]),
    # an emptied module is empty
    ("x = 1\n", "", [drop("x = 1")]),
    # no blank lines are left at the end of the file
    ("a = 1\n\n\nb = 2\n", "a = 1\n", [drop("b = 2")]),
    ("a = 1\n\n\nb = 2", "a = 1\n", [drop("b = 2")]),
    ("b = 2\na = 1", "a = 1", [drop("b = 2")]),
    # small statements on one line
    ("a; b; c  # note\n", "a; c  # note\n", [drop("b")]),
    ("a; b; c  # note\n", "a; b  # note\n", [drop("c")]),
    ("a; b; c;\n", "b; c;\n", [drop("a")]),
    ("x\na; b\ny\n", "x\ny\n", [drop("a"), drop("b")]),
    ("if a: b; c\n", "if a: pass\n", [drop("b"), drop("c")]),
    # tail
    ("def f():\n    a; b; c\n    d\n\nx\n", "def f():\n    a\n\nx\n", [tail("b")]),
    ("def f(): a; b; c\n", "def f(): a\n", [tail("b")]),
    # raise replaces the rest of the block
    ("def f(): a; b\n", 'def f(): raise RuntimeError("m")\n', [raises("a", "m")]),
    (
        "def f():\n    a; b\n    c\n",
        'def f():\n    a; raise RuntimeError("m")\n',
        [raises("b", "m")],
    ),
    # an elif that raises becomes else
    (
        "if a:\n    b\n# about c\nelif c:\n    d\nelse:\n    e\n",
        "if a:\n    b\n",
        [drop("elif c:")],
    ),
    # tabs crlf and form feeds
    ("if a:\n\tb\n\tif c:\n\t\td\n\te\n", "if a:\n\tb\n\te\n", [drop("if c:")]),
    ("if a:\r\n    b\r\nc\r\n", "if a:\r\n    pass\r\nc\r\n", [drop("b")]),
    ("if a:\r\n    b\r\nc", 'if a:\r\n    raise RuntimeError("m")\r\nc', [raises("b", "m")]),
    ("a\n\x0c\nif F:\n    b\nc\n", "a\n\nc\n", [drop("if F:")]),
    # what goes may hold and share anything
    (
        'x\ndef f():\n    return """\n# no comment\n\\"""" + \'\'\'"""\'\'\'  # é\ny\n',
        "x\ny\n",
        [drop("def f():")],
    ),
    ("x\nf(\n    1,\n)  # about f\ny\n", "x\ny\n", [drop("f(")]),
    ("x\nf(\n    1,\n); z\ny\n", "x\nz\ny\n", [drop("f(")]),
    ("x\n@d\ndef f():\n    a", "x\n", [drop("def f():")]),
    ("é = 'é'; f(\n    1,\n)\ny\n", "f(\n    1,\n)\ny\n", [drop("é = 'é'")]),
    # licence above the first statement stays
    (
        "# Copyright\n# Licence\nimport a\nimport b\n",
        "# Copyright\n# Licence\nimport b\n",
        [drop("import a")],
    ),
    # parentheses that upstream wrote stay
    ("x = (a == b) and F\n", "x = (a == b)\n", [element("F")]),
    ("x = a and (F or (b or c))\n", "x = a and (b or c)\n", [element("F")]),
    # other names of an import stay as they are
    ("from a import b , c as d,e # f\n", "from a import b , c as d # f\n", [alias("e")]),
    # a type comment stays
    ("x = F and a  # type: ignore\n", "x = a  # type: ignore\n", [element("F")]),
    # an operand that begins where what it takes the place of begins, with an edit of its own
    (
        "x = (is_hip() == y if T else b) | c\n",
        "x = (False == y) | c\n",
        [operand("is_hip() == y if T else b", "body"), literal("is_hip()", "False")],
    ),
    # literals inside strings are not touched
    ("x = F, 'F', f'{F}'\n", "x = False, 'F', f'{F}'\n", [literal("F", "False")]),
]
ELEMENTS = [
    ("List", "x = [F, a, b]\n", "x = [a, b]\n"),
    ("List", "x = [a, F, b]\n", "x = [a, b]\n"),
    ("List", "x = [a, b, F]\n", "x = [a, b]\n"),
    ("List", "x = [a, b, F,]\n", "x = [a, b,]\n"),
    ("List", "x = [ F ]\n", "x = []\n"),
    ("List", "x = [\n    F,\n]\n", "x = []\n"),
    (
        "List",
        "x = [\n    a,  # of a\n    F,  # of F\n    b,\n]\n",
        "x = [\n    a,  # of a\n    b,\n]\n",
    ),
    ("List", "x = [\n    F,  # of F\n    b,\n]\n", "x = [\n    b,\n]\n"),
    ("List", "x = [\n    b,  # of b\n    F  # of F\n]\n", "x = [\n    b  # of b\n]\n"),
    (
        "List",
        "x = [\n    b,\n    # about F\n    F,\n    # the end\n]\n",
        "x = [\n    b,\n    # the end\n]\n",
    ),
    ("List", "x = [\n    a, F,\n    b, c,\n]\n", "x = [\n    a,\n    b, c,\n]\n"),
    ("List", "x = [\n    a,\n    F, b,\n]\n", "x = [\n    a,\n    b,\n]\n"),
    ("List", "x = [a,\n     F]\n", "x = [a]\n"),
    ("List", "x = [F,\n     a]\n", "x = [a]\n"),
    ("Set", "x = {F, a}\n", "x = {a}\n"),
    ("Tuple", "x = (F, a, b)\n", "x = (a, b)\n"),
    ("Tuple", "x = (F, a)\n", "x = (a,)\n"),
    ("Tuple", "x = (a, F)\n", "x = (a,)\n"),
    ("Tuple", "x = a, F\n", "x = a,\n"),
    ("Tuple", "x = F, a\n", "x = a,\n"),
    ("Tuple", "x = (F,)\n", "x = ()\n"),
    ("Tuple", "x = (\n    F,\n    a,\n)\n", "x = (\n    a,\n)\n"),
    ("Tuple", "x = (\n    F,  # c\n)\n", "x = ()\n"),
    ("Tuple", "for x in (a, (F, b)): c\n", "for x in (a, (b,)): c\n"),
    ("Tuple", "x: Union[A, F, B]\n", "x: Union[A, B]\n"),
    ("Tuple", "x: Union[A, F]\n", "x: Union[A,]\n"),
    ("Dict", "x = {a: F, 'b': 1}\n", "x = {'b': 1}\n"),
    ("Dict", "x = {'b': 1, **F}\n", "x = {'b': 1}\n"),
    ("Dict", "x = {\n    'a': F,  # of F\n}\n", "x = {}\n"),
    (
        "Dict",
        "x = {\n    'a': 1,\n    # about F\n    'f': F,\n    # about b\n    'b': 2,\n}\n",
        "x = {\n    'a': 1,\n    # about b\n    'b': 2,\n}\n",
    ),
    ("ClassDef", "class A(F): a\n", "class A: a\n"),
    ("ClassDef", "class A(F, B, metaclass=C):\n    a\n", "class A(B, metaclass=C):\n    a\n"),
    ("ClassDef", "class A(\n    B,\n    F,\n):\n    a\n", "class A(\n    B,\n):\n    a\n"),
    ("decorator", "@a\n@F\n@b\ndef f(): c\n", "@a\n@b\ndef f(): c\n"),
    ("decorator", "# about A\n@F\nclass A:\n    c\n", "# about A\nclass A:\n    c\n"),
    (
        "decorator",
        "class A:\n    @F\n    def f(self):\n        c\n",
        "class A:\n    def f(self):\n        c\n",
    ),
    ("annotation", "def f(a: F, b=1): c\n", "def f(a, b=1): c\n"),
    ("annotation", "def f(a: F = 1, *b: int): c\n", "def f(a = 1, *b: int): c\n"),
    (
        "annotation",
        "def f(\n    a: int,\n    *b: F,\n) -> int:\n    c\n",
        "def f(\n    a: int,\n    *b,\n) -> int:\n    c\n",
    ),
    ("returns", "def f(a) -> F: c\n", "def f(a): c\n"),
    (
        "returns",
        "async def f(\n    a,\n) -> F:  # note\n    c\n",
        "async def f(\n    a,\n):  # note\n    c\n",
    ),
    ("comprehension", "x = [a for a in b if F]\n", "x = [a for a in b]\n"),
    (
        "comprehension",
        "x = {a: 1 for a in b if c if F for d in a if e}\n",
        "x = {a: 1 for a in b if c for d in a if e}\n",
    ),
    ("comprehension", "f(a for a in b if (F))\n", "f(a for a in b)\n"),
    ("BoolOp", "x = F or a\n", "x = a\n"),
    ("BoolOp", "x = a or F\n", "x = a\n"),
    ("BoolOp", "x = a or F or b\n", "x = a or b\n"),
    ("BoolOp", "x = a  or  F  or   b\n", "x = a  or   b\n"),
    ("BoolOp", "if (a and F): b\n", "if a: b\n"),
    ("BoolOp", "if(a and F): b\n", "if(a): b\n"),
    ("BoolOp", "if(a and F)or c: b\n", "if(a)or c: b\n"),
    ("BoolOp", "x = not (F or a == b)\n", "x = not (a == b)\n"),
    ("BoolOp", "x = not (F or a)\n", "x = not a\n"),
    ("BoolOp", "x = (F or a).b\n", "x = a.b\n"),
    ("BoolOp", "x = (F or 1).real\n", "x = (1).real\n"),
    ("BoolOp", "x = c and (F or a or b)\n", "x = c and (a or b)\n"),
    ("BoolOp", "x = (a)and(F)and(b)\n", "x = (a)and(b)\n"),
    ("BoolOp", "x = a and(F)and b\n", "x = a and b\n"),
    ("BoolOp", "f(*(F or a))\n", "f(*a)\n"),
    ("BoolOp", "f(x=(F or a + 1))\n", "f(x=a + 1)\n"),
]


TERNARY = [
    ("x = a if T else b\n", "x = a\n"),
    ("x = (a if T else b)\n", "x = a\n"),
    ("x = (a if T else b) + 1\n", "x = a + 1\n"),
    ("x = (a + c if T else b) * 2\n", "x = (a + c) * 2\n"),
    ("x = ((a or c) if T else b) or d\n", "x = (a or c) or d\n"),
    ("x = (a or c if T else b) or d\n", "x = (a or c) or d\n"),
    ("x = [(a, b) if T else c]\n", "x = [(a, b)]\n"),
    ("x = (\n    a\n    if T\n    else b\n)\n", "x = a\n"),
    ("x = (\n    a\n    + 1\n    if T\n    else b\n)\n", "x = (\n    a\n    + 1\n)\n"),
    ("x = (\n    a  # one\n    if T\n    else b\n)\n", "x = a\n"),
    ("x = (\n    # why\n    a if T else b\n)\n", "x = (\n    # why\n    a\n)\n"),
    ("x = (\n    f(\n        1\n    ) if T else b\n)\n", "x = f(\n        1\n    )\n"),
    ("x = (lambda: a) if T else b\n", "x = (lambda: a)\n"),
    ("x = a if (y := T) else b\n", "x = a\n"),
]


def arm(source: str) -> Edit:
    """Takes the body of the only ternary."""
    [found] = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.IfExp)]
    return kinds.TakeOperand(span(found), "body")


ARM: list[Maker] = [arm]
ROWS: list[tuple[str, Row]] = [
    *read_programs().items(),
    *((row[0], row) for row in LINES),
    *((f"{of}: {before}", (before, after, [element("F")])) for of, before, after in ELEMENTS),
    *((before, (before, after, ARM)) for before, after in TERNARY),
]


@pytest.mark.parametrize(
    ("before", "after", "edits"), [row for _, row in ROWS], ids=[title for title, _ in ROWS]
)
def test_a_program_before_and_after(before: str, after: str, edits: list[Maker]) -> None:
    assert rewrite(before, *edits) == after


@pytest.mark.parametrize(
    ("source", "message", "edits"),
    [
        ("x = a or b\n", "line 1, column 4: no operand", [element("a"), element("b")]),
        ("x = {F}\n", "set display", [element("F")]),
        ("x = a,\n", "tuple without parentheses", [element("a")]),
        ("from a import b\n", "no name of an import", [alias("b")]),
        # valid Python, which LibCST refuses
        ("def f(): return(a if T else b)\n", "line 1: LibCST does not read", [*ARM]),
        ("\nx = not(a if T else b)\n", "line 2: LibCST does not read", [*ARM]),
        ("x = [not(lambda: c), a if T else b]\n", "line 1: LibCST does not read", [*ARM]),
    ],
)
def test_what_cannot_be_written(source: str, message: str, edits: list[Maker]) -> None:
    with pytest.raises(RewriteError, match=message):
        rewrite(source, *edits)
