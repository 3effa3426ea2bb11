"""Expressions as paths: what is looked up where, as far as the syntax says."""

import ast
from collections.abc import Iterable

from shrinker.syntax.bindings import Binding
from shrinker.syntax.names import last_name
from shrinker.syntax.scopes import Scope
from shrinker.values.folded import ANYTHING, LOADED

_MOST = 6
"""An expression that may be more things than this is taken to be anything."""
_LONGEST = 160


class Paths:
    """Paths of the expressions in one unit."""

    def __init__(self) -> None:
        self._imports: dict[tuple[str, str, int], str] = {}
        self._given: dict[tuple[Scope, str], str] = {}
        self._known: dict[tuple[Scope, str], tuple[str, ...]] = {}
        self._busy: set[tuple[Scope, str]] = set()
        self.lost: set[str] = set()
        """Paths of local imports that an answer left out, since it was taken to be anything."""

    @property
    def imports(self) -> tuple[tuple[str, str, int], ...]:
        """What the unit imports: module, name in it, line."""
        return tuple(self._imports)

    def imported(self, module: str, name: str, line: int) -> str:
        """Return the path of what an import gives, which the unit then imports."""
        return self._imports.setdefault((module, name, line), f"#{len(self._imports)}")

    def give(self, scope: Scope, name: str, path: str) -> None:
        """A parameter has a path: a method's own object."""
        self._given[scope, name] = path

    def of(self, node: ast.expr, scope: Scope) -> tuple[str, ...]:
        """Return paths of an expression; `ANYTHING` among them when it may be something that no
        path tells.
        """
        match node:
            case ast.Name(id=name):
                return self._name(name, scope)
            case ast.Attribute(value=value, attr=name):
                bases = self.of(value, scope)
                if len(bases) == 1 and len(bases[0]) + len(name) < _LONGEST:
                    # Nearly all.
                    return (f"{bases[0]}.{name}",)
                return _bounded(f"{p}.{name}" for p in bases)
            case ast.Call(func=ast.Name(id="super")):
                return ("@super",)
            case ast.Call(ast.Name("type"), [of], []) if scope.owner("type") is None:
                return _bounded(f"{path}.__class__" for path in self.of(of, scope))
            case ast.Subscript(value=ast.Attribute(ast.Name("sys"), "modules"), slice=asked) if (
                _is_of_something(asked)
            ):
                return (LOADED,)
            case ast.Call(
                ast.Attribute(ast.Attribute(ast.Name("sys"), "modules"), "get"), [asked, *_]
            ) if _is_of_something(asked):
                return (LOADED,)
            case ast.Call(func, [asked, *_]) if last_name(func) in ("getmodule", "import_module"):
                # A module that a class or function is of.
                return (
                    (LOADED,)
                    if _is_of_something(asked) or last_name(func) == "getmodule"
                    else (ANYTHING,)
                )
            case ast.Call(ast.Name("getattr"), [target, ast.Constant(str() as name), *rest]) if (
                name.isidentifier()
            ):
                found = [f"{p}.{name}" for p in self.of(target, scope)]
                return _bounded([*found, *(p for default in rest for p in self.of(default, scope))])
            case ast.IfExp(body=body, orelse=orelse):
                return _bounded([*self.of(body, scope), *self.of(orelse, scope)])
            case ast.BoolOp(values=values):
                return _bounded(p for value in values for p in self.of(value, scope))
            case ast.NamedExpr(value=value):
                return self.of(value, scope)
        return (ANYTHING,)

    def _name(self, name: str, scope: Scope) -> tuple[str, ...]:
        if (owner := owner_of(name, scope)) is None:
            return (name,)
        key = owner, name
        if key in self._known:
            return self._known[key]
        given = self._given.get(key)
        if given is not None and name in owner.rebound:
            # A function inside gives it another value: `nonlocal self`.
            return (given, ANYTHING)
        bindings = owner.values(name) if given is None else owner.bindings.names.get(name, ())
        if bindings is None or key in self._busy:
            return (ANYTHING,)
        self._busy.add(key)
        found = [path for binding in bindings for path in self._bound(binding, owner)]
        self._busy.discard(key)
        result = _bounded(found if given is None else (given, *found)) or (ANYTHING,)
        self.lost.update(path for path in found if path[0] == "#" and path not in result)
        if not self._busy:
            self._known[key] = result
        return result

    def _bound(self, binding: Binding, scope: Scope) -> tuple[str, ...]:
        if binding.kind in ("module", "from"):
            return (self.imported(binding.module, binding.name, binding.line),)
        return (ANYTHING,) if binding.value is None else self.of(binding.value, scope)


def _is_of_something(node: ast.expr) -> bool:
    """Tell whether an expression is the name of the module of a class or function:
    `type(x).__module__`.
    """
    return isinstance(node, ast.Attribute) and node.attr == "__module__"


def is_followed(name: str, scope: Scope) -> bool:
    """Tell whether every place that gives a local name its value is known.

    It is not for a name of the module or of a class, nor for one that another function sets
    by `nonlocal`: what such a name holds may be read where no path leads from here.
    """
    owner = owner_of(name, scope)
    return owner is not None and owner.values(name) is not None


def owner_of(name: str, scope: Scope) -> Scope | None:
    """Return the function, lambda or comprehension that binds a name; None for the module level and
    beyond.
    """
    owner = scope.owner(name)
    return None if owner is None or owner.outer is None else owner


def _bounded(paths: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(paths))
    return (
        found
        if len(found) <= _MOST and all(len(path) <= _LONGEST for path in found)
        else (ANYTHING,)
    )
