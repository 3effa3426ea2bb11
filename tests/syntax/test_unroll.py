"""Texts that loops put together: what stays a pattern first, then what is spelled out row by row."""

from __future__ import annotations

import ast

import pytest

from shrinker.syntax.scopes import COMPREHENSIONS
from shrinker.syntax.unroll import Unroller


def texts(source: str) -> tuple[str, ...] | None:
    """What the argument of the only call of `load` is, in the module ``sglang.ops`` of the package ``sglang``."""
    tree = ast.parse(source)
    (call,) = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "load"]
    loops = [n for n in ast.walk(tree) if isinstance(n, (ast.For, *COMPREHENSIONS))]
    return Unroller(tree, loops, "sglang.ops", "sglang").texts(call.args[0])


@pytest.mark.parametrize(
    "source",
    [
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
    ],
)
def test_stays_a_pattern(source: str) -> None:
    assert texts(source) is None


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("for name in ('a', 'b'):\n    load(f'{__name__}.{name}')", ("sglang.ops.a", "sglang.ops.b")),
        ("for name in ('a', 'b'):\n    load(__package__ + '.' + name)", ("sglang.a", "sglang.b")),
        ("for name in ('a', 'b', 'a'):\n    load(name)", ("a", "b")),
        ("NAMES = ('a', 'b')\nfor name in NAMES:\n    load(f'x.{name}')\n__all__ = list(NAMES)", ("x.a", "x.b")),
        ("_NAMES: list[str] = ['a']\ndef f():\n    for name in _NAMES:\n        load(f'x.{name}')", ("x.a",)),
        ("for m, f in [('a', 'f'), ('b', 'g')]:\n    load(f'{m}:{f}')", ("a:f", "b:g")),
        ("for m, fs in [('a', ('f', 'g')), ('b', ())]:\n    for f in fs:\n        load(f'{m}:{f}')", ("a:f", "a:g")),
        ("for b in ('x', 'y'):\n    load('m.' + ('one' if b == 'x' else f'to_{b}'))", ("m.one", "m.to_y")),
        ("x = [load(f'a.{n}') for n in ('b', 'c')]", ("a.b", "a.c")),
        ("x = {n: load(f'a.{n}.{m}') for n in ('b', 'c') for m in ('d',)}", ("a.b.d", "a.c.d")),
        ("for name in ('_a', 'b'):\n    load(f'x.{name.lstrip(\"_\")}')", ("x.a", "x.b")),
        ("for name in ():\n    load(f'a.{name}')", ()),
        ("for name, other in [('a', f()), ('b', 1)]:\n    load(f'a.{name}')", ("a.a", "a.b")),
    ],
)
def test_is_spelled_out(source: str, wanted: tuple[str, ...]) -> None:
    assert texts(source) == wanted
