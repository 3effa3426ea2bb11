"""Scopes in which names have values: of a module, of a function or class body, and with given
values. And what a name is by its bindings: those in branches that the facts refute do not count,
doubtful ones make it unknown.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from shrinker.facts import calls, operators
from shrinker.facts.evaluate import ValueScope, evaluate, truth
from shrinker.facts.lattice import NO_RULES, UNKNOWN, Decided, Known, Ref, Removed, Value, join
from shrinker.facts.world import ClosedWorld
from shrinker.syntax.bindings import Binding, Branch
from shrinker.syntax.imports import Import, catches_import_error, is_type_checking
from shrinker.syntax.scopes import Scope, scope_of
from shrinker.syntax.walk import Function, walk

CONSTRUCTS = (calls, operators)
"""Files that register what they evaluate: who has a scope has them."""
LATER = 1 << 30
"""A line below all others."""
NEVER_TAKEN = "code of a branch that is never taken"
"""The feature of a name that only dead branches bind."""
_DEFINITIONS = frozenset({"from", "module", "def", "class"})


class ModuleScope(ValueScope):
    """Names at module level."""

    def __init__(
        self,
        environment: ClosedWorld,
        module: str,
        decided: Decided | None = None,
        *,
        during_import: bool = False,
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
        if (
            found is not None
            and self.during_import
            and len(bindings) > 1
            and name not in found.rebound
        ):
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
            # A function that reads a name before any place that binds it: an error, whatever it
            # gets there.
            early = all(
                b.line > line and not any(g.kind == "loop" for g in b.guards) for b in bindings
            )
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
        """A class body runs once, from top to bottom; a name that it has not bound yet is
        that of the scope around.
        """
        bindings = self.bindings.names[name]
        if any(is_mixed(b, name, line) for b in bindings):
            return UNKNOWN
        earlier = [b for b in bindings if b.line < line and liveness(self, b) is not False]
        if not earlier:
            return self.outer.lookup(name, line)
        return bound_value(self, name, earlier) if liveness(self, earlier[-1]) is True else UNKNOWN


class Shadowed(ValueScope):
    """A scope in which some names have given values: parameters, targets of a comprehension."""

    def __init__(self, outer: ValueScope, values: Mapping[str, Value]) -> None:
        super().__init__(outer.environment, outer.module, outer.decided)
        self._outer, self._values = outer, values

    def lookup(self, name: str, line: int) -> Value:
        """Return the given value, else that of the scope around."""
        return self._values[name] if name in self._values else self._outer.lookup(name, line)


def around_function(scope: ValueScope) -> ValueScope:
    """Return the scope in which a function or comprehension looks up what it does not bind: never
    that of a class.
    """
    while isinstance(scope, LocalScope) and scope.is_class:
        scope = scope.outer
    return scope


def function_scope(node: Function, outer: ValueScope, package: str) -> LocalScope:
    """Return the scope of a function's body."""
    outer = around_function(outer)
    if isinstance(outer, ModuleScope):
        # The body runs later than the code around it: all bindings of the module count.
        outer = ModuleScope(outer.environment, outer.module, outer.decided)
    return LocalScope(outer, scope_of(node, package))


# Bindings


def is_mixed(binding: Binding, name: str, line: int) -> bool:
    """Tell whether the lines do not tell whether a binding runs before a name is read: in a loop,
    or where it shares its line with other code that reads the name (``flag = True; x = flag``).
    """
    if any(guard.kind == "loop" for guard in binding.guards):
        return True
    if binding.line != line:
        return False
    value = binding.value if binding.kind == "value" else None
    return value is None or not any(isinstance(n, ast.Name) and n.id == name for n in walk(value))


def bound_value(
    scope: ValueScope, name: str, bindings: Sequence[Binding], *, local: bool = False
) -> Value:
    """Return the value that a name has from its bindings: dead ones do not count, doubtful ones
    make it unknown.
    """
    alive = [(b, state) for b in bindings if (state := liveness(scope, b)) is not False]
    if not alive:
        dead = "+".join(sorted(_dead_rules(scope, bindings)))
        return Removed(dead, NEVER_TAKEN, f"{scope.module}.{name}")
    last, state = alive[-1]
    if len(alive) == 1:
        value = _binding_value(scope, name, last, bindings)
        if isinstance(value, Known) and value.exact and not value.rules and len(bindings) > 1:
            # Upstream's own constant (`fused = False`), which is the only value left: that rests on
            # the facts.
            return value.resting(_dead_rules(scope, bindings))
        return value
    if state is True and not local and all(b.kind in _DEFINITIONS for b, _ in alive[:-1]):
        # `is_npu = is_npu()`: nobody reads the definition under a name that is given to its result.
        return _binding_value(scope, name, last, bindings)
    values = [_binding_value(scope, name, b, bindings) for b, _ in alive]
    first = values[0]
    if all(isinstance(v, Removed) for v in values) or (
        isinstance(first, Ref) and all(v == first for v in values)
    ):
        return first
    known = [v for v in values if isinstance(v, Known)]
    if len(known) == len(values) and len({v.truth for v in known}) == 1:
        same = all(v.exact and v.value == known[0].value for v in known)
        return Known(known[0].value, same, frozenset().union(*(v.rules for v in known)))
    return join(values)


def _binding_value(
    scope: ValueScope, name: str, binding: Binding, bindings: Sequence[Binding]
) -> Value:
    environment = scope.environment
    match binding.kind:
        case "module":
            removed = environment.removed_module(binding.module)
            return _with_eagerness(removed or Ref(binding.module), scope, binding)
        case "from":
            if scope.module == binding.module and name == binding.name:
                return Ref(f"{binding.module}.{binding.name}")
            return _with_eagerness(
                environment.resolve(binding.module, binding.name), scope, binding
            )
        case "value" if binding.value is not None:
            # `is_npu = is_npu()`: the name on the right is the earlier binding.
            if any(isinstance(n, ast.Name) and n.id == name for n in walk(binding.value)):
                earlier = [b for b in bindings if b.line < binding.line]
                if not earlier:
                    return UNKNOWN
                scope = Shadowed(scope, {name: bound_value(scope, name, earlier)})
            return evaluate(binding.value, scope)
        case "def":
            return Ref(_qualified(scope, name))
        case "class":
            return _removed_base(binding, scope) or Ref(_qualified(scope, name))
        case _:
            return UNKNOWN


def _qualified(scope: ValueScope, name: str) -> str:
    """A definition inside a function is not the module's of the same name."""
    return f"{scope.module}.<local>.{name}" if scope.is_local else f"{scope.module}.{name}"


def _with_eagerness(value: Value, scope: ValueScope, binding: Binding) -> Value:
    if not isinstance(value, Removed) or not value.module:
        return value
    lazy = scope.is_local or any(
        g.test is not None and is_type_checking(g.test) for g in binding.guards
    )
    return replace(value, eager=not lazy and not scope.environment.only_when_asked(value.name))


def _removed_base(binding: Binding, scope: ValueScope) -> Removed | None:
    if not isinstance(binding.node, ast.ClassDef):
        return None
    values = [evaluate(b, scope) for b in binding.node.bases if not isinstance(b, ast.Starred)]
    gone = [v for v in values if isinstance(v, Removed)]
    # A class that keeps another base keeps its place; one whose only bases are gone goes with them.
    return gone[0] if gone and len(gone) == len(values) else None


# Branches


def liveness(scope: ValueScope, binding: Binding) -> bool | None:
    """True: certainly executed; False: never; None: not decided."""
    result: bool | None = True
    for guard in binding.guards:
        state, _ = _guard_state(scope, guard)
        if state is False:
            return False
        if state is None:
            result = None
    return result


def _guard_state(scope: ValueScope, guard: Branch) -> tuple[bool | None, frozenset[str]]:
    """Tell whether a branch is taken, with the rules by which it, or the other one, is not."""
    if guard.test is not None:
        value = truth(guard.test, scope)
        if value is None or not value.rules:
            # A test without a rule is upstream's own constant (`if 0:`): not for the facts to
            # decide.
            return None, NO_RULES
        taken = value.truth is guard.polarity
        return taken, NO_RULES if taken else value.rules
    if guard.node is not None:
        if (failing := failing_import(guard.node, scope)) is not None:
            return guard.kind == "handler", frozenset({failing[0]})
        return (True if guard.kind == "try" else None), NO_RULES
    return None, NO_RULES


def _dead_rules(scope: ValueScope, bindings: Sequence[Binding]) -> frozenset[str]:
    return NO_RULES.union(
        *(_guard_state(scope, guard)[1] for binding in bindings for guard in binding.guards)
    )


def failing_import(node: ast.Try, scope: ValueScope) -> tuple[str, Removed | None] | None:
    """Return the rule by which a `try` fails at once with ImportError and is caught, and the
    removed thing that is not there: its first statement imports a module that is absent (then
    nothing is removed) or removed. None when that is not so.
    """
    if not any(map(catches_import_error, node.handlers)):
        return None
    environment = scope.environment
    match node.body:
        case [ast.Import(names=[first, *_]), *_]:
            # Only the first name: what stands before one that fails is imported, with its effects.
            module, removed = first.name, environment.removed_module(first.name)
        case [ast.ImportFrom(module=str() as module, level=0) as statement, *_]:
            removed = next(
                (taken for _, taken in removed_names(statement, module, environment)), None
            )
        case _:
            return None
    if (absent := environment.is_absent(module)) is not None:
        return absent, None
    return None if removed is None else (removed.rule, removed)


def removed_names(
    node: Import, source: str, environment: ClosedWorld
) -> Iterator[tuple[ast.alias, Removed]]:
    """Yield names of an import that are something removed; `source` is the module after
    ``from``.
    """
    for alias in node.names:
        value: Value | None
        if isinstance(node, ast.Import):
            value = environment.removed_module(alias.name)
        else:
            value = (
                environment.removed_module(source)
                if alias.name == "*"
                else environment.resolve(source, alias.name)
            )
        if isinstance(value, Removed):
            yield alias, value
