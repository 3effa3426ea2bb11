"""Which scope a name belongs to: of a module, class, function, lambda or comprehension, by Python's
rules.

scope = scope_of(tree, package)               # frozen, like all scopes inside inner =
scope.inside(function)                # of a definition, lambda or comprehension that stands in it
owner = inner.owner("name")                   # the scope whose name that is; None for a builtin, or
by a star import owner.values("name")                          # the places that bind it there, each
with its branches
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from shrinker.syntax.bindings import Binding, Bindings, collect
from shrinker.syntax.control import declares
from shrinker.syntax.walk import Function, statements, walk

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Scoped = ast.Module | ast.ClassDef | Function | ast.Lambda | Comprehension


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """Names that are bound in one place of their own."""

    node: Scoped
    outer: "Scope | None"
    package: str
    """What relative imports start from."""
    bindings: Bindings
    parameters: frozenset[str]
    rebound: frozenset[str]
    """Names that the function or one inside it declares `nonlocal`."""

    def inside(self, node: Scoped) -> "Scope":
        """Return the scope of a definition, lambda or comprehension that stands in this one."""
        return scope_of(node, self.package, self)

    def binds(self, name: str) -> bool:
        """Tell whether the scope itself binds a name."""
        if name in self.bindings.globals or name in self.bindings.nonlocals:
            return False
        return (
            name in self.parameters or name in self.bindings.names or name in self.bindings.declared
        )

    def owner(self, name: str) -> "Scope | None":
        """Return the scope that a name belongs to where it is read in this one; None for a builtin,
        and for what a star import gives.
        """
        scope: Scope | None = self
        while scope is not None:
            if name in scope.bindings.globals:
                while scope.outer is not None:
                    scope = scope.outer
                return scope
            # Names of a class body are not seen from the functions inside it.
            if (scope is self or not isinstance(scope.node, ast.ClassDef)) and scope.binds(name):
                return scope
            scope = scope.outer
        return None

    def values(self, name: str) -> Sequence[Binding] | None:
        """Return the places that bind a name of this scope; None where it may get any value from
        elsewhere.
        """
        if name in self.parameters or name in self.rebound:
            return None
        return self.bindings.names.get(name, ())


def scope_of(node: Scoped, package: str, outer: Scope | None = None) -> Scope:
    """Return the scope of a module or of what stands in one; `outer` is None for a module, and
    where nobody asks for what is outside.
    """
    bindings, parameters, rebound = Bindings(), frozenset[str](), frozenset[str]()
    match node:
        case ast.Module() | ast.ClassDef():
            bindings = collect(node.body, package)
            if isinstance(node, ast.Module):
                _add_globals(node, package, bindings)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            bindings, parameters = collect(node.body, package), parameters_of(node.args)
            rebound = frozenset(
                n for s in statements(node) if isinstance(s, ast.Nonlocal) for n in s.names
            )
        case ast.Lambda():
            body = ast.Expr(node.body, lineno=node.body.lineno)
            bindings, parameters = collect([body], package), parameters_of(node.args)
        case _:
            parameters = frozenset(
                n.id for g in node.generators for n in walk(g.target) if isinstance(n, ast.Name)
            )
    return Scope(node, outer, package, bindings, parameters, rebound)


def _add_globals(tree: ast.Module, package: str, found: Bindings) -> None:
    """What functions bind by `global` is the module's, too."""
    if not any(isinstance(s, ast.Global) for s in statements(tree)):
        return
    for function in statements(tree):
        if isinstance(function, Function) and declares(function):
            own = collect(function.body, package)
            for name in own.globals & own.names.keys():
                found.names.setdefault(name, []).extend(own.names[name])


def arguments_of(arguments: ast.arguments) -> list[ast.arg]:
    """Return all parameters: by position, by name, then the rest of both."""
    found = (
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    )
    return [argument for argument in found if argument is not None]


def parameters_of(arguments: ast.arguments) -> frozenset[str]:
    """Return names of all parameters."""
    return frozenset(argument.arg for argument in arguments_of(arguments))
