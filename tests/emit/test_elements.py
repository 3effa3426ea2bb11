"""DropElement on displays, calls, classes, decorators, annotations, comprehensions, parameters; DropAlias."""

from __future__ import annotations

import pytest

from shrinker.emit.rewrite import RewriteError
from tests.emit.program import alias, element, parameter, rewrite

CASES = [
    ("List", "x = [F, a, b]\n", "x = [a, b]\n"),
    ("List", "x = [a, F, b]\n", "x = [a, b]\n"),
    ("List", "x = [a, b, F]\n", "x = [a, b]\n"),
    ("List", "x = [a, b, F,]\n", "x = [a, b,]\n"),
    ("List", "x = [ F ]\n", "x = []\n"),
    ("List", "x = [\n    F,\n]\n", "x = []\n"),
    ("List", "x = [\n    a,  # of a\n    F,  # of F\n    b,\n]\n", "x = [\n    a,  # of a\n    b,\n]\n"),
    ("List", "x = [\n    F,  # of F\n    b,\n]\n", "x = [\n    b,\n]\n"),
    ("List", "x = [\n    b,  # of b\n    F  # of F\n]\n", "x = [\n    b  # of b\n]\n"),
    ("List", "x = [\n    b,\n    # about F\n    F,\n    # the end\n]\n", "x = [\n    b,\n    # the end\n]\n"),
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
    ("Call", "f(F)\n", "f()\n"),
    ("Call", "f(a, F)\n", "f(a)\n"),
    ("Call", "f(a, (F), b=1)\n", "f(a, b=1)\n"),
    ("Call", "f(\n    a,  # of a\n    F,  # of F\n)\n", "f(\n    a,  # of a\n)\n"),
    ("Call", "f(\n    a,\n    F\n)\n", "f(\n    a\n)\n"),
    ("Call", "f(\n    F,\n)\n", "f()\n"),
    ("ClassDef", "class A(F): a\n", "class A: a\n"),
    ("ClassDef", "class A(F, B, metaclass=C):\n    a\n", "class A(B, metaclass=C):\n    a\n"),
    ("ClassDef", "class A(\n    B,\n    F,\n):\n    a\n", "class A(\n    B,\n):\n    a\n"),
    ("decorator", "@a\n@F\n@b\ndef f(): c\n", "@a\n@b\ndef f(): c\n"),
    ("decorator", "# about A\n@F\nclass A:\n    c\n", "# about A\nclass A:\n    c\n"),
    ("decorator", "class A:\n    @F\n    def f(self):\n        c\n", "class A:\n    def f(self):\n        c\n"),
    ("annotation", "def f(a: F, b=1): c\n", "def f(a, b=1): c\n"),
    ("annotation", "def f(a: F = 1, *b: int): c\n", "def f(a = 1, *b: int): c\n"),
    (
        "annotation",
        "def f(\n    a: int,\n    *b: F,\n) -> int:\n    c\n",
        "def f(\n    a: int,\n    *b,\n) -> int:\n    c\n",
    ),
    ("returns", "def f(a) -> F: c\n", "def f(a): c\n"),
    ("returns", "async def f(\n    a,\n) -> F:  # note\n    c\n", "async def f(\n    a,\n):  # note\n    c\n"),
    ("comprehension", "x = [a for a in b if F]\n", "x = [a for a in b]\n"),
    (
        "comprehension",
        "x = {a: 1 for a in b if c if F for d in a if e}\n",
        "x = {a: 1 for a in b if c for d in a if e}\n",
    ),
    ("comprehension", "f(a for a in b if (F))\n", "f(a for a in b)\n"),
]


PARAMETERS = [
    ("def f(F): a\n", "def f(): a\n"),
    ("def f(a, F): a\n", "def f(a): a\n"),
    ("def f(F, b=1): a\n", "def f(b=1): a\n"),
    ("def f(a, F: int = g(1), *b, **c): a\n", "def f(a, *b, **c): a\n"),
    ("def f(a, *, F=1, c): a\n", "def f(a, *, c): a\n"),
    ("def f(a, *b, F): a\n", "def f(a, *b): a\n"),
    ("def f(a, /, F): a\n", "def f(a, /): a\n"),
    (
        "def f(\n    a,  # of a\n    F: bool,  # of F\n    b=1,\n):\n    c\n",
        "def f(\n    a,  # of a\n    b=1,\n):\n    c\n",
    ),
    ("def f(\n    a: int,\n    F: bool = False,\n) -> int:\n    c\n", "def f(\n    a: int,\n) -> int:\n    c\n"),
    ("def f(\n    a, F\n):\n    c\n", "def f(\n    a\n):\n    c\n"),
    ('class A:\n    async def f(self, F: "X"):\n        c\n', "class A:\n    async def f(self):\n        c\n"),
]


@pytest.mark.parametrize(("before", "after"), PARAMETERS)
def test_a_parameter_goes(before: str, after: str) -> None:
    assert rewrite(before, parameter("F")) == after


def test_a_bare_star_needs_a_parameter() -> None:
    with pytest.raises(RewriteError, match="bare"):
        rewrite("def f(a, *, F): a\n", parameter("F"))


@pytest.mark.parametrize(("container", "before", "after"), CASES)
def test_an_element_goes(container: str, before: str, after: str) -> None:
    assert rewrite(before, element("F", container)) == after


def test_arguments_by_name_and_star() -> None:
    assert rewrite("f(a, b=F, *c, **d)\n", element("b=F", "Call")) == "f(a, *c, **d)\n"
    assert rewrite("f(a, b=F, *c, **d)\n", element("*c", "Call"), element("**d", "Call")) == "f(a, b=F)\n"
    assert rewrite("class A(B, metaclass=F): a\n", element("metaclass=F", "ClassDef")) == "class A(B): a\n"
    assert rewrite("x = [a, *F]\n", element("*F", "List")) == "x = [a]\n"


def test_several_elements() -> None:
    source = "x = [\n    a,\n    b,  # of b\n    c,\n    d,  # of d\n]\n"
    gone = (element("a", "List"), element("c", "List"), element("d", "List"))
    assert rewrite(source, *gone) == "x = [\n    b,  # of b\n]\n"


def test_what_cannot_be_written() -> None:
    with pytest.raises(RewriteError, match="set display"):
        rewrite("x = {F}\n", element("F", "Set"))
    with pytest.raises(RewriteError, match="tuple without parentheses"):
        rewrite("x = a,\n", element("a", "Tuple"))
    with pytest.raises(RewriteError, match="no name of an import"):
        rewrite("from a import b\n", alias("b"))


def test_aliases() -> None:
    assert rewrite("import a, b as c, d\n", alias("b as c")) == "import a, d\n"
    assert rewrite("import a, b\n", alias("a")) == "import b\n"
    assert rewrite("from . import a, b\n", alias("b")) == "from . import a\n"
    assert rewrite("from a import b, \\\n    c\n", alias("c")) == "from a import b\n"
    assert rewrite("from a import (b, c)\n", alias("b")) == "from a import (c)\n"
    source = "from a import (  # why\n    b,  # of b\n    # about c\n    c as d,  # of c\n    e,\n)\n"
    assert rewrite(source, alias("c as d")) == "from a import (  # why\n    b,  # of b\n    e,\n)\n"
    assert rewrite(source, alias("b")) == source.replace("    b,  # of b\n", "")
    assert rewrite(source, alias("e"), alias("b")) == (
        "from a import (  # why\n    # about c\n    c as d,  # of c\n)\n"
    )
