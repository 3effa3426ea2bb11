"""Control flow: does a statement leave its block, make a generator, ask for the exception, run
something.
"""

import ast
from collections.abc import Iterable
from typing import TypeGuard

from shrinker.syntax.walk import Function, own_nodes, walk

READ_ALL_LOCALS = frozenset({"dir", "eval", "exec", "locals", "vars"})
"""Builtins that may read any local name."""
OF_FRAMES = frozenset({"capture_locals", "co_varnames", "f_locals", "getargvalues", "show_locals"})
"""What hands out the locals of a function that did not: of a caller, or of a traceback."""


def is_main(node: ast.stmt) -> TypeGuard[ast.If]:
    """True for ``if __name__ == "__main__":`` without another arm: what runs where the module is
    run as a program.
    """
    match node:
        case ast.If(
            ast.Compare(ast.Name("__name__"), [ast.Eq()], [ast.Constant("__main__")]), orelse=[]
        ):
            return True
    return False


def reads_a_frame(node: ast.AST) -> bool:
    """Tell whether a node may read the locals of another function.

    `sys._getframe(1).f_locals` does, `TracebackException(*error, capture_locals=True)` does, and
    so does `getattr(frame, "f_locals")`.
    """
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.keyword(arg=str(name)):
            return name in OF_FRAMES
        case ast.alias(name=name) | ast.Constant(value=str(name)):
            return name in OF_FRAMES
    return False


def runs_something(node: ast.stmt | ast.expr) -> bool:
    """True for code that calls: more than an alias, or the row of a table that only names."""
    return any(isinstance(part, ast.Call) for part in walk(node))


_EXCEPTION = frozenset({"exc_info", "exception", "print_exc", "format_exc"})


def asks_for_exception(parts: Iterable[ast.AST]) -> bool:
    """Tell whether code of a handler raises or prints the exception that is being handled without
    naming it.
    """
    for part in parts:
        match part:
            case ast.Raise(exc=None):
                return True
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.keyword(arg=name) if (
                name in _EXCEPTION
            ):
                return True
    return False


def leaves(node: ast.stmt) -> bool:
    """Tell whether control never reaches the statement after this one."""
    if isinstance(node, ast.If):
        return bool(node.orelse) and leaves(node.body[-1]) and leaves(node.orelse[-1])
    return isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break)


def is_generator(node: Function | ast.Lambda) -> bool:
    """Tell whether the function or lambda has a `yield` of its own."""
    return any(isinstance(part, ast.Yield | ast.YieldFrom) for part in own_nodes(node))


def declares(node: Function) -> set[str]:
    """Return names that the function itself declares `global` or `nonlocal`."""
    declarations = (part for part in own_nodes(node) if isinstance(part, ast.Global | ast.Nonlocal))
    return {name for part in declarations for name in part.names}


def rebinds(node: Function, names: set[str]) -> bool:
    """Tell whether the function itself still mentions one of the names."""
    return bool(names) and any(
        isinstance(part, ast.Name) and part.id in names for part in own_nodes(node)
    )
