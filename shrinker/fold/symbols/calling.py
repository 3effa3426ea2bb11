"""What calling a function or class does besides making a value: nothing, where its body shows it."""

from __future__ import annotations

import ast

from shrinker.fold.symbols.purity import joined, open_calls, wrapping_calls
from shrinker.fold.symbols.scopes import Function, bound_by

_OWN_MAKING = frozenset({"__new__", "__setattr__", "__getattribute__", "__getattr__", "__del__"})
"""Methods by which making an object, or storing in it, is not what Python does by itself, or losing it does something."""


def function_calls(node: Function, own: str = "", fixed: frozenset[str] = frozenset()) -> tuple[str, ...] | None:
    """What a function must be allowed to call for calling it to make a value and nothing else.

    Args:
        node: the function.
        own: the parameter whose attributes it may set: the object that is being made.
        fixed: attributes of that object that may not be set: setting one may call something.

    Returns:
        Names of its module that it calls, sorted; None where calling it may do more.
    """
    # What a decorator hands back may do more than the function.
    if not isinstance(node, ast.FunctionDef) or node.decorator_list or _yields(node):
        return None
    parts = joined(_statement(statement, own, fixed) for statement in node.body)
    if parts is None or not parts.isdisjoint(_locals(node)):
        return None
    return tuple(sorted(parts))


def class_calls(node: ast.ClassDef) -> tuple[str, ...] | None:
    """The same of making an object of a class that inherits from nothing and is made as Python makes classes."""
    if node.bases or node.keywords or node.decorator_list:
        return None
    methods = [s for s in node.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)]
    names = {method.name for method in methods}
    if names & _OWN_MAKING:
        return None
    made = [method for method in methods if method.name == "__init__"]
    if not made:
        return ()
    parameters = made[0].args.posonlyargs + made[0].args.args
    if len(made) > 1 or not parameters:
        return None
    fixed = frozenset(n for statement in node.body for n in bound_by(statement))
    return function_calls(made[0], parameters[0].arg, fixed)


def _statement(node: ast.stmt, own: str, fixed: frozenset[str]) -> frozenset[str] | None:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Nonlocal():
            return frozenset()
        case ast.Return(value=value):
            return open_calls(value) if value is not None else frozenset()
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            defaults = [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
            return joined((*(wrapping_calls(d) for d in node.decorator_list), *map(open_calls, defaults)))
        case ast.Assign(targets=targets, value=value) if all(_is_place(t, own, fixed) for t in targets):
            return open_calls(value)
        case ast.AnnAssign(target=target, value=value) if _is_place(target, own, fixed):
            return open_calls(value) if value is not None else frozenset()
        case ast.If():
            blocks = (_statement(statement, own, fixed) for statement in (*node.body, *node.orelse))
            return joined((open_calls(node.test), *blocks))
    return None


def _is_place(target: ast.expr, own: str, fixed: frozenset[str]) -> bool:
    """True for a local name, and for an attribute of the object that is being made."""
    match target:
        case ast.Name():
            return True
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            return bool(own) and name == own and attribute not in fixed
    return False


def _locals(node: ast.FunctionDef) -> set[str]:
    arguments = node.args
    found = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    found.update(a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None)
    found.update(name for statement in node.body for name in bound_by(statement))
    return found


def _yields(node: ast.FunctionDef) -> bool:
    """True for a generator: calling it runs nothing, and what it makes is no plain value."""
    return any(isinstance(part, ast.Yield | ast.YieldFrom) for statement in node.body for part in ast.walk(statement))
