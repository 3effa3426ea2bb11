"""Which scope a name belongs to: Python's own symbol tables say the same."""

from __future__ import annotations

import ast
import symtable

from shrinker.syntax.scopes import COMPREHENSIONS, Scope, scope_of
from shrinker.syntax.side_effects import bound_by
from shrinker.syntax.walk import children

PROGRAM = """
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
    _same(scope_of(ast.parse(PROGRAM), "pkg"), symtable.symtable(PROGRAM, "p.py", "exec"))


def test_a_comprehension_binds_its_targets_and_a_named_expression_the_function_around_it() -> None:
    tree = ast.parse("def f(xs):\n    return [y for y, _ in xs if (last := y)]")
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef) and isinstance(function.body[0], ast.Return)
    around = scope_of(tree, "").inside(function)
    inside = around.inside(function.body[0].value)  # type: ignore[arg-type]
    assert inside.owner("y") is inside and inside.owner("last") is around and around.owner("y") is None


def test_what_may_come_from_elsewhere_has_no_values() -> None:
    tree = ast.parse("def f(p):\n    a = p\n    b, c = 1, a\n    def g():\n        nonlocal a\n    def h(): pass")
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    scope = scope_of(tree, "").inside(function)
    assert scope.values("p") is None and scope.values("a") is None
    (given,) = scope.values("c") or ()
    assert isinstance(given.value, ast.Name) and given.kind == "opaque"
    assert bound_by(*function.body) == {"a", "b", "c", "g", "h"}


def test_what_functions_bind_for_all_is_the_modules() -> None:
    tree = ast.parse("ops = None\ndef f():\n    global ops, made\n    import a as ops\n    made: int\n")
    scope = scope_of(tree, "")
    assert [each.kind for each in scope.values("ops") or ()] == ["value", "module"]
    assert scope.owner("ops") is scope and scope.owner("made") is None
