"""Python's syntax: lines that hold a word, the fast walk, the scope a name belongs to, and texts
that loops put together.
"""

import ast
import inspect
import symtable
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shrinker.fold import statements
from shrinker.syntax import walk as walks
from shrinker.syntax.ranges import Lines
from shrinker.syntax.scopes import COMPREHENSIONS, Scope, scope_of
from shrinker.syntax.side_effects import bound_by
from shrinker.syntax.unroll import Unroller
from shrinker.syntax.walk import children
from tests.small import read_archive

PROGRAM, MATCHED = read_archive(Path(__file__).with_name("walked.txtar")).values()


@pytest.mark.parametrize(
    "source",
    [
        PROGRAM,
        MATCHED,
        inspect.getsource(walks),
        inspect.getsource(statements),
        "try: pass\nexcept* E: pass\n",
    ],
)
def test_it_sees_every_node(source: str) -> None:
    tree = ast.parse(source)
    every = Counter(id(n) for n in ast.walk(tree) if not isinstance(n, ast.expr_context))
    assert Counter(id(n) for n in walks.walk(tree)) == every
    for node in walks.walk(tree):
        direct = [n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.expr_context)]
        assert list(walks.children(node)) == direct


def test_a_node_of_another_class_has_the_fields_of_its_base() -> None:
    class Noted(ast.Call):
        """A call (expr func) of ours."""

    node = Noted(ast.Name("f", ast.Load()), [ast.Constant(1)], [])
    assert [type(n).__name__ for n in walks.children(node)] == ["Name", "Constant"]


@pytest.mark.parametrize(
    "text",
    [
        "a\n\x0cb = 1\n",
        "a\r\nb\r\n",
        "a\rb",
        "x = '''\u2028'''\nb = 1",
        "s = 'a\x1cb'\nb",
        "a\n\nb",
        "",
    ],
)
def test_lines_are_the_ones_that_ast_counts(text: str) -> None:
    rows = Lines(text).rows
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and node.id == "b":
            assert "b" in rows[node.lineno - 1]
    assert len(rows) >= max(
        (n.lineno for n in ast.walk(ast.parse(text)) if hasattr(n, "lineno")), default=0
    )


def test_a_word_is_found_as_a_whole() -> None:
    lines = Lines("is_hip\n_is_hip\nis_hip_x\nx.is_hip()\n'is_hip' # npu\nnpu0\n")
    assert lines.holding(["is_hip"]) == [1, 4, 5]
    assert lines.holding(["npu", "none"]) == [5]
    assert lines.holding([]) == []


@given(
    st.lists(st.lists(st.sampled_from(["a", "b", "ab", "é", "_a", "."]), max_size=4), max_size=6)
)
def test_every_line_with_the_word_is_found(rows: list[list[str]]) -> None:
    text = "\n".join(" ".join(row) for row in rows)
    wanted = {"a", "é"}
    assert Lines(text).holding(wanted) == [n for n, row in enumerate(rows, 1) if wanted & set(row)]


NESTED = """
import a.b, c as d
from .e import f, g as h
total = 0
x: int
class C(object):
    kind = total
    def m(self, *rest, key=total, **more):
        kind, (x, *y) = self.kind, rest
        return lambda kind=kind: [x for x in kind if (last := x)]
def outer(first):
    global total, made
    total = made = first
    note: str
    count = 0
    def inner():
        nonlocal count
        count += 1
        import os.path
        with open(os.sep) as file, file: pass
        for i, j in file: first = i
        else: k = j
        try: pass
        except OSError as error: raise error
        match i:
            case {"k": v, **w} | [v, *w] as whole if (seen := v): return note
        return inner
    return inner
"""


def _same(scope: Scope, table: symtable.SymbolTable) -> None:
    module = scope
    while module.outer is not None:
        module = module.outer
    for symbol in table.get_symbols():
        name = symbol.get_name()
        if name.startswith("."):
            continue
        owner = scope.owner(name)
        if symbol.is_local():
            assert owner is scope, name
        elif symbol.is_free():
            assert owner is not None and owner not in (scope, module), name
        else:
            assert owner in (None, module), name
    nested = [n for n in _inside(scope.node) if isinstance(n, Scoped)]
    tables = [t for t in table.get_children() if t.get_type() in ("function", "class")]
    for node in nested:
        (own,) = [t for t in tables if _named(t) == _name_of(node)]
        _same(scope.inside(node), own)


Scoped = (ast.FunctionDef, ast.ClassDef, ast.Lambda)


def _inside(node: ast.AST) -> list[ast.AST]:
    found: list[ast.AST] = []
    for child in children(node):
        found.append(child)
        if not isinstance(child, (*Scoped, *COMPREHENSIONS)):
            found += _inside(child)
    return found


def _name_of(node: ast.AST) -> str:
    return getattr(node, "name", "lambda")


def _named(table: symtable.SymbolTable) -> str:
    return table.get_name()


def test_names_belong_where_python_says() -> None:
    _same(scope_of(ast.parse(NESTED), "pkg"), symtable.symtable(NESTED, "p.py", "exec"))


def test_a_comprehension_binds_its_targets_and_a_named_expression_the_function_around_it() -> None:
    tree = ast.parse("def f(xs):\n    return [y for y, _ in xs if (last := y)]")
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef) and isinstance(function.body[0], ast.Return)
    around = scope_of(tree, "").inside(function)
    inside = around.inside(function.body[0].value)  # type: ignore[arg-type]
    assert (
        inside.owner("y") is inside and inside.owner("last") is around and around.owner("y") is None
    )


def test_what_may_come_from_elsewhere_has_no_values() -> None:
    tree = ast.parse(
        "def f(p):\n    a = p\n    b, c = 1, a\n    def g():\n        nonlocal a\n    def h(): pass"
    )
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    scope = scope_of(tree, "").inside(function)
    assert scope.values("p") is None and scope.values("a") is None
    (given,) = scope.values("c") or ()
    assert isinstance(given.value, ast.Name) and given.kind == "opaque"
    assert bound_by(*function.body) == {"a", "b", "c", "g", "h"}


def test_what_functions_bind_for_all_is_the_modules() -> None:
    tree = ast.parse(
        "ops = None\ndef f():\n    global ops, made\n    import a as ops\n    made: int\n"
    )
    scope = scope_of(tree, "")
    assert [each.kind for each in scope.values("ops") or ()] == ["value", "module"]
    assert scope.owner("ops") is scope and scope.owner("made") is None


def texts(source: str) -> tuple[str, ...] | None:
    """What the argument of the only call of `load` is, in the module ``sglang.ops`` of the package
    ``sglang``.
    """
    tree = ast.parse(source)
    (call,) = [
        n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "load"
    ]
    loops = [n for n in ast.walk(tree) if isinstance(n, ast.For)]
    return Unroller(tree, loops, "sglang.ops", "sglang").texts(call.args[0])


STAYS_A_PATTERN = [
    "load(f'a.{name}')",
    "for name in names():\n    load(f'a.{name}')",
    "for name in ['a', other]:\n    load(f'a.{name}')",
    "for name in ['a', *others]:\n    load(f'a.{name}')",
    "for name in ('a', 'b'):\n    load(f'a.{name}.{other}')",
    "for name in ('a', 'b'):\n    load(f'a.{name:>3}')",
    "for name in ('a', 'b'):\n    load(f'a.{name!r}')",
    "for name in ('a', 'b'):\n    name = name.upper()\n    load(f'a.{name}')",
    "for name in ('a', 'b'):\n    def later():\n        load(f'a.{name}')",
    "for name in ('a', 'b'):\n    pass\nelse:\n    load(f'a.{name}')",
    "NAMES = ['a', 'b']\nfor name in NAMES:\n    load(f'a.{name}')",
    "_NAMES = ['a', 'b']\n_NAMES.append('c')\nfor name in _NAMES:\n    load(f'a.{name}')",
    "_NAMES = ['a', 'b']\n_NAMES = ['c']\nfor name in _NAMES:\n    load(f'a.{name}')",
    "NAMES = ('a', 'b')\nNAMES += ('c',)\nfor name in NAMES:\n    load(f'a.{name}')",
    "NAMES = ('a', 'b')\ndef f(NAMES):\n    for name in NAMES:\n        load(f'a.{name}')",
    "for one, other in [('a', 'b'), ('c',)]:\n    load(one + other)",
    "for name in ('a', 'b'):\n    load(name.replace('a', 'b'))",
    "for name in ('a', 'b'):\n    load(name.strip(other))",
]


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        (
            "for name in ('a', 'b'):\n    load(f'{__name__}.{name}')",
            ("sglang.ops.a", "sglang.ops.b"),
        ),
        ("for name in ('a', 'b'):\n    load(__package__ + '.' + name)", ("sglang.a", "sglang.b")),
        ("for name in ('a', 'b', 'a'):\n    load(name)", ("a", "b")),
        (
            "NAMES = ('a', 'b')\nfor name in NAMES:\n    load(f'x.{name}')\n__all__ = list(NAMES)",
            ("x.a", "x.b"),
        ),
        (
            (
                "_NAMES: list[str] = ['a']\ndef f():\n    for name in _NAMES:\n        "
                "load(f'x.{name}')"
            ),
            ("x.a",),
        ),
        ("for m, f in [('a', 'f'), ('b', 'g')]:\n    load(f'{m}:{f}')", ("a:f", "b:g")),
        (
            (
                "for m, fs in [('a', ('f', 'g')), ('b', ())]:\n    for f in fs:\n        "
                "load(f'{m}:{f}')"
            ),
            ("a:f", "a:g"),
        ),
        (
            "for b in ('x', 'y'):\n    load('m.' + ('one' if b == 'x' else f'to_{b}'))",
            ("m.one", "m.to_y"),
        ),
        ("for name in ('_a', 'b'):\n    load(f'x.{name.lstrip(\"_\")}')", ("x.a", "x.b")),
        ("for name in ():\n    load(f'a.{name}')", ()),
        ("for name, other in [('a', f()), ('b', 1)]:\n    load(f'a.{name}')", ("a.a", "a.b")),
        *((source, None) for source in STAYS_A_PATTERN),
    ],
)
def test_is_spelled_out(source: str, wanted: tuple[str, ...] | None) -> None:
    assert texts(source) == wanted
