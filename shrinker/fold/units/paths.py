"""Expressions as paths: what is looked up where, as far as the syntax says."""

from __future__ import annotations

import ast

from shrinker.fold.units.scopes import Scope

ANYTHING = "?"
NOTHING = "0"
BAG = "["
"""A container: what is taken out of it may be anything."""
_MOST = 6
"""An expression that may be more things than this is taken to be anything."""
_LONGEST = 160
_LITERALS = (ast.Constant, ast.JoinedStr, ast.Compare, ast.Lambda)
_BAGS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)
_SAME = frozenset({"enumerate", "list", "sorted", "reversed", "tuple", "set", "iter", "zip", "frozenset", "deque"})
"""Builtins that hand on what is in their arguments."""
_ONE = frozenset({"next", "max", "min"})
_COPIES = frozenset({"copy", "deepcopy"})
_CONTAINERS = frozenset(
    {
        "List",
        "list",
        "Sequence",
        "Iterable",
        "Iterator",
        "Set",
        "set",
        "Deque",
        "deque",
        "Tuple",
        "tuple",
        "Dict",
        "dict",
    }
    | {"Mapping", "MutableMapping", "OrderedDict", "DefaultDict", "defaultdict", "FrozenSet", "frozenset", "Collection"}
    | {"Generator", "AsyncGenerator", "AsyncIterator", "AsyncIterable"}
)
_ALTERNATIVES = frozenset({"Optional", "Union"})


def paths_of(node: ast.expr, scope: Scope | None) -> tuple[str, ...]:
    """Paths of an expression; `ANYTHING` among them when it may be something that no path tells."""
    kind = node.__class__
    if kind is ast.Name:
        return _name(node.id, scope)  # type: ignore[attr-defined]
    if kind is ast.Attribute:
        return _bounded(f"{p}.{node.attr}" for p in paths_of(node.value, scope))  # type: ignore[attr-defined]
    if isinstance(node, _LITERALS):
        return (NOTHING,)
    if isinstance(node, _BAGS):
        return (BAG,)
    if isinstance(node, ast.Tuple):
        items = [p for item in node.elts for p in paths_of(item, scope)]
        return _bounded(BAG if p in (ANYTHING, BAG) else f"{p}*" for p in items) or (NOTHING,)
    match node:
        case ast.Subscript():
            return items_of(paths_of(node.value, scope))
        case ast.Starred():
            return paths_of(node.value, scope)
        case ast.BinOp(left=ast.Constant(value=str())) | ast.UnaryOp(op=ast.Not()):
            return (NOTHING,)
        case ast.Call(func=ast.Name(id=name), args=[_, *_]) if name in _SAME and not _is_local(name, scope):
            return _bounded(p for a in node.args for p in paths_of(a, scope))
        case ast.Call(func=ast.Name(id=name), args=[_, *_]) if name in _ONE and not _is_local(name, scope):
            first = items_of(paths_of(node.args[0], scope))
            rest = [p for a in node.args[1:] for p in paths_of(a, scope)]
            return _bounded([*first, *rest, *(paths_of(node.args[0], scope) if rest else ())])
        case ast.Call(func=ast.Attribute(value=ast.Name(id="copy"), attr=name), args=[first_arg]) if name in _COPIES:
            return paths_of(first_arg, scope)
        case ast.Call(func=ast.Name(id="super")):
            return ("@super",)
        case ast.Call(func=ast.Name(id="getattr"), args=[target, ast.Constant(value=str() as name), *_]) if (
            name.isidentifier()
        ):
            found = [f"{p}.{name}" for p in paths_of(target, scope)]
            default = paths_of(node.args[2], scope) if len(node.args) > 2 else ()
            return _bounded([*found, *default])
        case ast.Call(func=ast.Name(id="cast")) | ast.Call(func=ast.Attribute(attr="cast")):
            return (ANYTHING,)
        case ast.Call():
            return _bounded(f"{p}()" if p != ANYTHING else ANYTHING for p in paths_of(node.func, scope))
        case ast.IfExp():
            return _bounded([*paths_of(node.body, scope), *paths_of(node.orelse, scope)])
        case ast.BoolOp():
            return _bounded(p for value in node.values for p in paths_of(value, scope))
        case ast.NamedExpr():
            return paths_of(node.value, scope)
    return (ANYTHING,)


def items_of(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Paths of what is taken out of a container."""
    return _bounded(f"{p}%" if p not in (ANYTHING, BAG) else ANYTHING for p in paths)


def _is_local(name: str, scope: Scope | None) -> bool:
    return scope is not None and scope.find(name) is not None


def _name(name: str, scope: Scope | None) -> tuple[str, ...]:
    holder = scope.find(name) if scope is not None else None
    if holder is None:
        return (name,)
    if name in holder.paths:
        return holder.paths[name]
    values = holder.names[name]
    if values is None or name in holder.resolving:
        return (ANYTHING,)
    holder.resolving.add(name)
    found: list[str] = []
    for value in values:
        found.extend((value,) if isinstance(value, str) else paths_of(value, holder))
    holder.resolving.discard(name)
    result = _bounded(found) or (NOTHING,)
    if not holder.resolving:
        holder.paths[name] = result
    return result


def _bounded(paths: object) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(paths))  # type: ignore[call-overload]
    if len(found) > _MOST or any(len(p) > _LONGEST for p in found):
        return (ANYTHING,)
    return found


UNKNOWN_ANNOTATION = "?~"
"""An annotation that says nothing."""


def annotated(node: ast.expr | None) -> tuple[str, ...]:
    """Paths of an object that has this annotation, whose names belong to the module.

    All of it or nothing: with a part that says nothing it is `UNKNOWN_ANNOTATION`, or ``[~`` for a container.
    """
    match node:
        case None:
            return (UNKNOWN_ANNOTATION,)
        case ast.Constant(value=None):
            return (f"{NOTHING}~",)
        case ast.Constant(value=str() as text):
            try:
                return annotated(ast.parse(text, mode="eval").body)
            except SyntaxError:
                return (UNKNOWN_ANNOTATION,)
        case ast.Name() | ast.Attribute():
            return tuple(f"{p}~" for p in paths_of(node, None))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _whole([*annotated(left), *annotated(right)])
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inner) if name in _CONTAINERS:
            items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            found = [p for i in items if not _is_ellipsis(i) for p in annotated(i)]
            if UNKNOWN_ANNOTATION in found or f"{BAG}~" in found:
                return (f"{BAG}~",)
            return _whole([f"{p}*" for p in found])
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inner) if name in _ALTERNATIVES:
            items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return _whole([p for item in items for p in annotated(item)])
    return (UNKNOWN_ANNOTATION,)


def _whole(paths: list[str]) -> tuple[str, ...]:
    found = _bounded(paths)
    return (UNKNOWN_ANNOTATION,) if UNKNOWN_ANNOTATION in found or ANYTHING in found else found


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
