"""Scopes: what a name is where it stands, from its bindings and the branches around them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from shrinker.facts import calls, operators
from shrinker.facts.cases import never_matches
from shrinker.facts.decided import NOTHING_DECIDED, Decided
from shrinker.facts.evaluate import evaluate, truth
from shrinker.facts.lattice import UNKNOWN, Known, Ref, Removed, Value, join
from shrinker.facts.world import ClosedWorld, ValueScope
from shrinker.syntax.bindings import Binding, Bindings, Guard, collect
from shrinker.syntax.imports import catches_import_error, is_type_checking
from shrinker.syntax.scopes import parameters_of, rebound_in
from shrinker.syntax.walk import walk

CONSTRUCTS = (calls, operators)
"""Files that register what they evaluate: who has a scope has them."""
LATER = 1 << 30
"""A line below all others."""
_DEFINITIONS = frozenset({"from", "module", "def", "class"})


class ModuleScope:
    """Names at module level."""

    def __init__(
        self, environment: ClosedWorld, module: str, decided: Decided = NOTHING_DECIDED, *, during_import: bool = False
    ) -> None:
        self.environment = environment
        self.module = module
        self.decided = decided
        self.during_import = during_import
        """True for code that runs while the module is imported: later bindings do not count yet."""

    def lookup(self, name: str, line: int) -> Value:
        """See `ValueScope`."""
        found = self.environment.outlines.get(self.module)
        if (
            self.during_import
            and found is not None
            and len(found.names.get(name, ())) > 1
            and name not in found.rebound
        ):
            bindings = found.names[name]
            earlier = [b for b in bindings if b.line < line]
            # On one line, or in a loop, a later binding may have run before.
            mixed = any(_beside(b, name, line) or any(g.kind == "loop" for g in b.guards) for b in bindings)
            if earlier and not mixed:
                return self.environment.bound(self.module, name, earlier)
        if found is not None and name not in found.names and not found.stars:
            # A builtin, or a name that only the module's `__getattr__` or a patch could give.
            return Ref(f"builtins.{name}")
        return self.environment.resolve(self.module, name)


class LocalScope:
    """Names of a function or class body, then those around it."""

    def __init__(
        self, outer: ValueScope, bindings: Bindings, opaque: frozenset[str], *, is_class: bool = False
    ) -> None:
        self.environment = outer.environment
        self.module = outer.module
        self.decided = outer.decided
        self.outer = outer
        self.bindings = bindings
        self.opaque = opaque
        """Parameters and names assigned by nested functions."""
        self.is_class = is_class
        self._busy: set[str] = set()
        self._memo: dict[str, Value] = {}
        self._truths: dict[int, Known | None] = {}

    cut_short: ClassVar[int] = 0
    """How often a name was asked for while its own value was looked for: what was computed meanwhile is not remembered."""

    def lookup(self, name: str, line: int) -> Value:
        """See `ValueScope`."""
        if name in self.opaque:
            return UNKNOWN
        if name in self.bindings.outer:
            # Declared `global`: the functions around have no say (what `nonlocal` names is opaque).
            scope: ValueScope = self.outer
            while isinstance(scope, LocalScope):
                scope = scope.outer
            return scope.lookup(name, line)
        if self.is_class and name in self.bindings.names:
            return self._in_class(name, line)
        if name in self.bindings.names:
            value = self._local(name)
            return UNKNOWN if self._is_early(name, line) and not isinstance(value, Removed) else value
        # A function's body runs when it is called: what is bound below it may be bound by then.
        return self.outer.lookup(name, line if self.is_class else LATER)

    def _local(self, name: str) -> Value:
        if name in self._memo:
            return self._memo[name]
        if name in self._busy:
            LocalScope.cut_short += 1
            return UNKNOWN
        before = LocalScope.cut_short
        self._busy.add(name)
        try:
            value = bound_value(self, name, self.bindings.names[name], local=True)
        finally:
            self._busy.discard(name)
        if not self._busy or LocalScope.cut_short == before:
            self._memo[name] = value
        return value

    def truth(self, test: ast.expr) -> Known | None:
        """What the facts say of a test around bindings: of one that stands around many, it is asked for each."""
        if id(test) in self._truths:
            return self._truths[id(test)]
        before = LocalScope.cut_short
        value = truth(test, self)
        if not self._busy or LocalScope.cut_short == before:
            # Its bindings hold the test, so that no other one gets its number.
            self._truths[id(test)] = value
        return value

    def _is_early(self, name: str, line: int) -> bool:
        """True where a function reads a name before any place that binds it: an error, whatever it gets there."""
        return all(b.line > line and not any(g.kind == "loop" for g in b.guards) for b in self.bindings.names[name])

    def _in_class(self, name: str, line: int) -> Value:
        """A class body runs once, from top to bottom; a name that it has not bound yet is that of the scope around."""
        bindings = self.bindings.names[name]
        if any(_beside(b, name, line) or any(g.kind == "loop" for g in b.guards) for b in bindings):
            return UNKNOWN
        earlier = [b for b in bindings if b.line < line and liveness(self, b) is not False]
        if not earlier:
            return self.outer.lookup(name, line)
        return bound_value(self, name, earlier) if liveness(self, earlier[-1]) is True else UNKNOWN


def _beside(binding: Binding, name: str, line: int) -> bool:
    """True when a binding shares its line with other code that reads the name (``flag = True; x = flag``)."""
    if binding.line != line:
        return False
    value = binding.value if binding.kind == "value" else None
    return value is None or not any(isinstance(n, ast.Name) and n.id == name for n in walk(value))


def bound_value(scope: ValueScope, name: str, bindings: Sequence[Binding], *, local: bool = False) -> Value:
    """The value that a name has from its bindings: dead ones do not count, doubtful ones make it unknown."""
    states = [(b, liveness(scope, b)) for b in bindings]
    alive = [(b, s) for b, s in states if s is not False]
    if not alive:
        dead = _dead_rules(scope, bindings)
        return Removed("+".join(sorted(dead)), "code of a branch that is never taken", f"{scope.module}.{name}")
    last, state = alive[-1]
    if len(alive) == 1:
        value = _binding_value(scope, name, last, bindings)
        if isinstance(value, Known) and value.exact and not value.rules and len(states) > 1:
            # Upstream's own constant (`fused = False`), which is the only value left: that rests on the facts.
            return Known(value.value, True, frozenset(_dead_rules(scope, bindings)))
        return value
    if state is True and not local and all(b.kind in _DEFINITIONS for b, _ in alive[:-1]):
        # `is_npu = is_npu()`: nobody reads the definition under a name that is given to its result.
        return _binding_value(scope, name, last, bindings)
    values = [_binding_value(scope, name, b, bindings) for b, _ in alive]
    first = values[0]
    if all(isinstance(v, Removed) for v in values):
        return first
    if isinstance(first, Known) and all(isinstance(v, Known) and v.truth == first.truth for v in values):
        same = all(isinstance(v, Known) and v.exact and v.value == first.value for v in values)
        rules = frozenset().union(*(v.rules for v in values if isinstance(v, Known)))
        return Known(first.value, same, rules)
    if isinstance(first, Ref) and all(v == first for v in values):
        return first
    return join(values)


def _binding_value(scope: ValueScope, name: str, binding: Binding, bindings: Sequence[Binding]) -> Value:
    environment = scope.environment
    match binding.kind:
        case "module":
            removed = environment.removed_module(binding.module)
            return _with_eagerness(removed if removed is not None else Ref(binding.module), scope, binding)
        case "from":
            if scope.module == binding.module and name == binding.name:
                return Ref(f"{binding.module}.{binding.name}")
            return _with_eagerness(environment.resolve(binding.module, binding.name), scope, binding)
        case "value" if binding.value is not None:
            # `is_npu = is_npu()`: the name on the right is the earlier binding.
            if any(isinstance(n, ast.Name) and n.id == name for n in walk(binding.value)):
                earlier = [b for b in bindings if b.line < binding.line]
                if not earlier:
                    return UNKNOWN
                return evaluate(binding.value, _Shadow(scope, name, bound_value(scope, name, earlier)))
            return evaluate(binding.value, scope)
        case "def":
            return Ref(_qualified(scope, name))
        case "class":
            removed_base = _removed_base(binding, scope)
            return removed_base if removed_base is not None else Ref(_qualified(scope, name))
        case _:
            return UNKNOWN


def _qualified(scope: ValueScope, name: str) -> str:
    """A definition inside a function is not the module's of the same name."""
    return f"{scope.module}.<local>.{name}" if isinstance(scope, LocalScope) else f"{scope.module}.{name}"


def _with_eagerness(value: Value, scope: ValueScope, binding: Binding) -> Value:
    if not isinstance(value, Removed) or not value.module:
        return value
    lazy = isinstance(scope, LocalScope) or any(g.test is not None and is_type_checking(g.test) for g in binding.guards)
    return replace(value, eager=not lazy and not scope.environment.only_when_asked(value.name))


def _removed_base(binding: Binding, scope: ValueScope) -> Removed | None:
    if not isinstance(binding.node, ast.ClassDef):
        return None
    values = [evaluate(b, scope) for b in binding.node.bases if not isinstance(b, ast.Starred)]
    gone = [v for v in values if isinstance(v, Removed)]
    # A class that keeps another base keeps its place; one whose only bases are gone goes with them.
    return gone[0] if gone and len(gone) == len(values) else None


class _Shadow:
    """A scope in which one name has a given value."""

    def __init__(self, outer: ValueScope, name: str, value: Value) -> None:
        self.environment = outer.environment
        self.module = outer.module
        self.decided = outer.decided
        self._outer, self._name, self._value = outer, name, value

    def lookup(self, name: str, line: int) -> Value:
        """See `ValueScope`."""
        return self._value if name == self._name else self._outer.lookup(name, line)


def shadowed(scope: ValueScope, values: dict[str, Value]) -> ValueScope:
    """A scope in which some names have given values (parameters, comprehension targets)."""
    for name, value in values.items():
        scope = _Shadow(scope, name, value)
    return scope


def around_function(scope: ValueScope) -> ValueScope:
    """The scope in which a function looks up what it does not bind: never that of a class."""
    while isinstance(scope, LocalScope) and scope.is_class:
        scope = scope.outer
    return scope


def function_scope(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, outer: ValueScope, package: str
) -> LocalScope:
    """The scope of a function's body."""
    parameters = parameters_of(node.args)
    if isinstance(node, ast.Lambda):
        return LocalScope(outer, Bindings(), parameters)
    outer = around_function(outer)
    if isinstance(outer, ModuleScope):
        # The body runs later than the code around it: all bindings of the module count.
        outer = ModuleScope(outer.environment, outer.module, outer.decided)
    known = outer.environment.outlines.get(outer.module)
    bindings = collect(node.body, package, walrus=known is None or known.walrus)
    return LocalScope(outer, bindings, parameters | rebound_in(node))


def liveness(scope: ValueScope, binding: Binding) -> bool | None:
    """True: certainly executed; False: never; None: not decided."""
    result: bool | None = True
    for guard in binding.guards:
        state = _guard_state(scope, guard)
        if state is False:
            return False
        if state is None:
            result = None
    return result


def _asked(test: ast.expr, scope: ValueScope) -> Known | None:
    return scope.truth(test) if isinstance(scope, LocalScope) else truth(test, scope)


def _guard_state(scope: ValueScope, guard: Guard) -> bool | None:
    if guard.kind == "if" and guard.test is not None:
        value = _asked(guard.test, scope)
        # A test without a rule is upstream's own constant (`if 0:`): not for the facts to decide.
        return None if value is None or not value.rules else value.truth is guard.polarity
    if guard.kind == "case":
        return None if _refuted(scope, guard) is None else False
    if guard.kind in ("try", "handler") and guard.node is not None:
        fails = failing_import(guard.node, scope)
        if fails is None:
            return True if guard.kind == "try" else None
        return guard.kind == "handler"
    return None


def _refuted(scope: ValueScope, guard: Guard) -> frozenset[str] | None:
    """The rules by which a case never matches."""
    if guard.test is None or guard.pattern is None:
        return None
    return never_matches(guard.pattern, evaluate(guard.test, scope), scope)


def _dead_rules(scope: ValueScope, bindings: Sequence[Binding]) -> set[str]:
    rules: set[str] = set()
    for binding in bindings:
        for guard in binding.guards:
            if guard.kind == "if" and guard.test is not None:
                value = _asked(guard.test, scope)
                if value is not None and value.truth is not guard.polarity:
                    rules |= value.rules
            elif guard.kind == "case":
                rules |= _refuted(scope, guard) or frozenset()
            elif guard.node is not None:
                failing = failing_import(guard.node, scope)
                rules |= {failing} if failing else set()
    return rules


def failing_import(node: ast.Try, scope: ValueScope) -> str | None:
    """The rule by which a `try` fails at once with ImportError and is caught: its first statement
    imports a module that is absent or removed. None when that is not so."""
    if not node.body or not any(catches_import_error(h) for h in node.handlers):
        return None
    first = node.body[0]
    environment = scope.environment
    if isinstance(first, ast.Import):
        # Only the first name: what stands before one that fails is imported, with its effects.
        rule = environment.is_absent(first.names[0].name)
        removed = environment.removed_module(first.names[0].name)
        return rule or (removed.rule if removed else None)
    elif isinstance(first, ast.ImportFrom) and not first.level and first.module:
        rule = environment.is_absent(first.module)
        if rule:
            return rule
        for alias in first.names:
            value = (
                environment.resolve(first.module, alias.name)
                if alias.name != "*"
                else environment.removed_module(first.module)
            )
            if isinstance(value, Removed):
                return value.rule
    return None
