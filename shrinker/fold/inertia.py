"""Whether importing a module does more than define."""

from __future__ import annotations

import ast

from shrinker.syntax.imports import is_type_checking
from shrinker.syntax.names import dotted
from shrinker.syntax.side_effects import hands_back as only_wraps
from shrinker.syntax.walk import walk

_HARMLESS_CALLS = frozenset(
    {"logging.getLogger", "TypeVar", "typing.TypeVar", "frozenset", "set", "dict", "list", "tuple", "namedtuple"}
    | {"field", "dataclasses.field", "auto", "enum.auto", "re.compile", "re.escape"}
)


def is_inert(tree: ast.Module) -> bool:
    """True when the module level only imports, defines and assigns what calls nothing."""
    return all(_defines(node) for node in tree.body)


def _defines(node: ast.stmt) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Pass():
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return all(_is_harmless(d) for d in node.decorator_list) and _calls_nothing(node.args)
        case ast.ClassDef():
            return (
                all(only_wraps(d) for d in node.decorator_list)
                and all(_calls_nothing(b) for b in node.bases)
                and all(dotted(k.value).rpartition(".")[2] == "ABCMeta" for k in node.keywords)
                and all(_defines(s) for s in node.body)
            )
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            return all(isinstance(t, ast.Name) for t in targets) and (value is None or _calls_nothing(value))
        case ast.If(test=test, orelse=[]) if is_type_checking(test):
            return True
        case _:
            return False


def _is_harmless(decorator: ast.expr) -> bool:
    name = dotted(decorator)
    return only_wraps(decorator) or name.endswith((".setter", ".getter", ".deleter"))


def _calls_nothing(node: ast.AST) -> bool:
    return all(map(_is_harmless_call, (part for part in walk(node) if isinstance(part, ast.Call))))


def _is_harmless_call(node: ast.Call) -> bool:
    if dotted(node.func) in _HARMLESS_CALLS:
        return True
    # `{v: k for k, v in TABLE.items()}`
    views = isinstance(node.func, ast.Attribute) and node.func.attr in ("items", "keys", "values")
    return views and bool(dotted(node.func)) and not node.args and not node.keywords
