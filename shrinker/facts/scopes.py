"""Scopes in which names have values: of a module, of a function or class body, and with given values."""

import ast

from shrinker.facts import calls, operators
from shrinker.facts.bound import bound_value, is_mixed, liveness
from shrinker.facts.evaluate import ValueScope
from shrinker.facts.lattice import UNKNOWN, Decided, Ref, Removed, Value
from shrinker.facts.world import ClosedWorld
from shrinker.syntax.scopes import Scope, scope_of
from shrinker.syntax.walk import Function

CONSTRUCTS = (calls, operators)
"""Files that register what they evaluate: who has a scope has them."""
LATER = 1 << 30
"""A line below all others."""


class ModuleScope(ValueScope):
    """Names at module level."""

    def __init__(
        self, environment: ClosedWorld, module: str, decided: Decided | None = None, *, during_import: bool = False
    ) -> None:
        super().__init__(environment, module, {} if decided is None else decided)
        self.during_import = during_import
        """True for code that runs while the module is imported: later bindings do not count yet."""

    def lookup(self, name: str, line: int) -> Value:
        found = self.environment.outline_of(self.module)
        bindings = found.names.get(name, ()) if found is not None else ()
        if found is not None and not bindings and not found.stars:
            # A builtin, or a name that only the module's `__getattr__` or a patch could give.
            return Ref(f"builtins.{name}")
        if found is not None and self.during_import and len(bindings) > 1 and name not in found.rebound:
            earlier = [b for b in bindings if b.line < line]
            if earlier and not any(is_mixed(b, name, line) for b in bindings):
                return bound_value(ModuleScope(self.environment, self.module), name, earlier)
        return self.environment.resolve(self.module, name)


class LocalScope(ValueScope):
    """Names of a function or class body, then those around it."""

    def __init__(self, outer: ValueScope, names: Scope) -> None:
        super().__init__(outer.environment, outer.module, outer.decided)
        self.outer = outer
        self.bindings = names.bindings
        self.opaque = names.parameters | names.rebound
        """Parameters and names assigned by nested functions."""
        self.is_class = isinstance(names.node, ast.ClassDef)
        self._memo: dict[str, Value] = {}

    is_local = True

    def lookup(self, name: str, line: int) -> Value:
        if name in self.opaque:
            return UNKNOWN
        if name in self.bindings.globals:
            # Declared here: the functions around have no say (what `nonlocal` names is opaque).
            scope: ValueScope = self.outer
            while isinstance(scope, LocalScope):
                scope = scope.outer
            return scope.lookup(name, line)
        if self.is_class and name in self.bindings.names:
            return self._in_class(name, line)
        if (bindings := self.bindings.names.get(name)) is not None:
            value = self._local(name)
            # A function that reads a name before any place that binds it: an error, whatever it gets there.
            early = all(b.line > line and not any(g.kind == "loop" for g in b.guards) for b in bindings)
            return UNKNOWN if early and not isinstance(value, Removed) else value
        # A function's body runs when it is called: what is bound below it may be bound by then.
        return self.outer.lookup(name, line if self.is_class else LATER)

    def _local(self, name: str) -> Value:
        if name not in self._memo:
            # What is asked for while its own value is looked for is unknown.
            self._memo[name] = UNKNOWN
            self._memo[name] = bound_value(self, name, self.bindings.names[name], local=True)
        return self._memo[name]

    def _in_class(self, name: str, line: int) -> Value:
        """A class body runs once, from top to bottom; a name that it has not bound yet is that of the scope around."""
        bindings = self.bindings.names[name]
        if any(is_mixed(b, name, line) for b in bindings):
            return UNKNOWN
        earlier = [b for b in bindings if b.line < line and liveness(self, b) is not False]
        if not earlier:
            return self.outer.lookup(name, line)
        return bound_value(self, name, earlier) if liveness(self, earlier[-1]) is True else UNKNOWN


def around_function(scope: ValueScope) -> ValueScope:
    """The scope in which a function or comprehension looks up what it does not bind: never that of a class."""
    while isinstance(scope, LocalScope) and scope.is_class:
        scope = scope.outer
    return scope


def function_scope(node: Function, outer: ValueScope, package: str) -> LocalScope:
    """The scope of a function's body."""
    outer = around_function(outer)
    if isinstance(outer, ModuleScope):
        # The body runs later than the code around it: all bindings of the module count.
        outer = ModuleScope(outer.environment, outer.module, outer.decided)
    return LocalScope(outer, scope_of(node, package))
