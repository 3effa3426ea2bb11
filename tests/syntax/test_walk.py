"""The fast walk sees what `ast.walk` sees, but for what says nothing."""

from __future__ import annotations

import ast
import inspect
from collections import Counter

import pytest

from shrinker.fold import statements
from shrinker.syntax import walk as walks

PROGRAM = """
@d(1, *a, k=2, **b)
class C(B, metaclass=M):
    x: int = 1
    __slots__ = ()
    def m(self, p, /, q=1, *r, s, t=2, **u) -> int:
        global g
        return {**a, "k": v, **b}, [i async for i in y if i], a[1:2, ::3], -x, not y, (z := 1), lambda: 0, lambda *a, b, c=1: a
async def f():
    async with a as b, c: await d
    async for i in e: pass
    else: yield from x
try: import a.b as c
except (E, F) as e: raise E from None
"""
MATCHED = """
match a, b:
    case {"k": 1, **rest} | [1, *_] if x: pass
    case C(1, k=2) as y: del a.b, c[1]
    case None | -1 | "s": assert a, f"{a!r:>{b}} {c}"
    case _: nonsense = x if y else 1 < 2 <= 3 and a or b
"""


@pytest.mark.parametrize(
    "source",
    [PROGRAM, MATCHED, inspect.getsource(walks), inspect.getsource(statements), "try: pass\nexcept* E: pass\n"],
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
