"""Evaluate expressions in the closed world: names through scopes, calls through facts and short functions."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Protocol

from shrinker.facts.bindings import Binding, Bindings, Guard, collect
from shrinker.facts.effects import ENVIRONMENT_READERS, PURE_CALLS
from shrinker.facts.environment import Environment
from shrinker.facts.lattice import NO_RULES, ON_TEXTS, UNKNOWN, Known, Ref, Removed, SwitchedOff, Value, literal
from shrinker.facts.walk import statements, walk

_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_CALL_DEPTH = 8


class Scope(Protocol):
    """Where a name is looked up."""

    environment: Environment
    module: str

    def lookup(self, name: str, line: int) -> Value:
        """Value of a name read at a line."""


class ModuleScope:
    """Names at module level."""

    def __init__(self, environment: Environment, module: str, *, during_import: bool = False) -> None:
        self.environment = environment
        self.module = module
        self.during_import = during_import
        """True for code that runs while the module is imported: later bindings do not count yet."""

    def lookup(self, name: str, line: int) -> Value:
        """See `Scope`."""
        found = self.environment.outlines.get(self.module)
        if self.during_import and found is not None and len(found.names.get(name, ())) > 1 and name not in found.rebound:
            earlier = [b for b in found.names[name] if b.line < line]
            if earlier:
                return self.environment.bound(self.module, name, earlier)
        if found is not None and name not in found.names and not found.stars:
            # A builtin, or a name that only the module's `__getattr__` or a patch could give.
            return Ref(f"builtins.{name}")
        return self.environment.resolve(self.module, name)


class LocalScope:
    """Names of a function or class body, then those around it."""

    def __init__(self, outer: Scope, bindings: Bindings, opaque: frozenset[str], *, is_class: bool = False) -> None:
        self.environment = outer.environment
        self.module = outer.module
        self.outer = outer
        self.bindings = bindings
        self.opaque = opaque
        """Parameters and names assigned by nested functions."""
        self.is_class = is_class
        self._busy: set[str] = set()
        self._memo: dict[str, Value] = {}

    def lookup(self, name: str, line: int) -> Value:
        """See `Scope`."""
        if name in self.opaque:
            return UNKNOWN
        if name in self.bindings.names and name not in self.bindings.outer:
            if name in self._busy:
                return UNKNOWN
            if name in self._memo:
                return self._memo[name]
            self._busy.add(name)
            try:
                value = bound_value(self, name, self.bindings.names[name], None, local=True)
            finally:
                self._busy.discard(name)
            if not self._busy:
                self._memo[name] = value
            return value
        return self.outer.lookup(name, line)


def bound_value(scope: Scope, name: str, bindings: list[Binding], before: int | None, *, local: bool = False) -> Value:
    """The value that a name has from its bindings: dead ones do not count, doubtful ones make it unknown."""
    states = [(b, _liveness(scope, b)) for b in bindings if before is None or b.line < before]
    alive = [(b, s) for b, s in states if s is not False]
    if not alive:
        dead = _dead_rules(scope, bindings)
        return Removed("+".join(sorted(dead)), "code of a branch that is never taken", f"{scope.module}.{name}")
    last, state = alive[-1]
    if len(alive) == 1:
        return _binding_value(scope, name, last, bindings)
    if state is True and not local and last.kind != "opaque":
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
    return UNKNOWN


def _binding_value(scope: Scope, name: str, binding: Binding, bindings: list[Binding]) -> Value:
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
                return evaluate(binding.value, _Shadow(scope, name, bound_value(scope, name, earlier, None)))
            return evaluate(binding.value, scope)
        case "def":
            return Ref(f"{scope.module}.{name}")
        case "class":
            removed_base = _removed_base(binding, scope)
            return removed_base if removed_base is not None else Ref(f"{scope.module}.{name}")
        case _:
            return UNKNOWN


def _with_eagerness(value: Value, scope: Scope, binding: Binding) -> Value:
    if not isinstance(value, Removed) or not value.module:
        return value
    lazy = isinstance(scope, LocalScope) or any(g.test is not None and _is_type_checking(g.test) for g in binding.guards)
    return replace(value, eager=not lazy and not scope.environment.only_when_asked(value.name))


def _is_type_checking(test: ast.expr) -> bool:
    return "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))


def _removed_base(binding: Binding, scope: Scope) -> Removed | None:
    if not isinstance(binding.node, ast.ClassDef):
        return None
    values = [evaluate(b, scope) for b in binding.node.bases if not isinstance(b, ast.Starred)]
    gone = [v for v in values if isinstance(v, Removed)]
    # A class that keeps another base keeps its place; one whose only bases are gone goes with them.
    return gone[0] if gone and len(gone) == len(values) else None


class _Shadow:
    """A scope in which one name has a given value."""

    def __init__(self, outer: Scope, name: str, value: Value) -> None:
        self.environment = outer.environment
        self.module = outer.module
        self._outer, self._name, self._value = outer, name, value

    def lookup(self, name: str, line: int) -> Value:
        """See `Scope`."""
        return self._value if name == self._name else self._outer.lookup(name, line)


def shadowed(scope: Scope, values: dict[str, Value]) -> Scope:
    """A scope in which some names have given values (parameters, comprehension targets)."""
    for name, value in values.items():
        scope = _Shadow(scope, name, value)
    return scope


def _liveness(scope: Scope, binding: Binding) -> bool | None:
    """True: certainly executed; False: never; None: not decided."""
    result: bool | None = True
    for guard in binding.guards:
        state = _guard_state(scope, guard)
        if state is False:
            return False
        if state is None:
            result = None
    return result


def _guard_state(scope: Scope, guard: Guard) -> bool | None:
    if guard.kind == "if" and guard.test is not None:
        value = truth(guard.test, scope)
        # A test without a rule is upstream's own constant (`if 0:`): not for the facts to decide.
        return None if value is None or not value.rules else value.truth is guard.polarity
    if guard.kind in ("try", "handler") and guard.node is not None:
        fails = failing_import(guard.node, scope)
        if fails is None:
            return True if guard.kind == "try" else None
        return guard.kind == "handler"
    return None


def _dead_rules(scope: Scope, bindings: list[Binding]) -> set[str]:
    rules: set[str] = set()
    for binding in bindings:
        for guard in binding.guards:
            if guard.kind == "if" and guard.test is not None:
                value = truth(guard.test, scope)
                if value is not None and value.truth is not guard.polarity:
                    rules |= value.rules
            elif guard.node is not None:
                failing = failing_import(guard.node, scope)
                rules |= {failing} if failing else set()
    return rules


def failing_import(node: ast.Try, scope: Scope) -> str | None:
    """The rule by which a `try` fails at once with ImportError and is caught: its first statement
    imports a module that is absent or removed. None when that is not so."""
    if not node.body or not any(catches_import_error(h) for h in node.handlers):
        return None
    first = node.body[0]
    environment = scope.environment
    if isinstance(first, ast.Import):
        for alias in first.names:
            rule = environment.is_absent(alias.name)
            removed = environment.removed_module(alias.name)
            if rule or removed:
                return rule or (removed.rule if removed else None)
    elif isinstance(first, ast.ImportFrom) and not first.level and first.module:
        rule = environment.is_absent(first.module)
        if rule:
            return rule
        for alias in first.names:
            value = environment.resolve(first.module, alias.name) if alias.name != "*" else environment.removed_module(first.module)
            if isinstance(value, Removed):
                return value.rule
    return None


def catches_import_error(handler: ast.ExceptHandler) -> bool:
    """True when an `except` clause catches ImportError."""
    if handler.type is None:
        return True
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(t, ast.Name) and t.id in _IMPORT_ERRORS for t in types)


def truth(node: ast.expr, scope: Scope) -> Known | None:
    """The truth of an expression in a condition, when the facts decide it."""
    value = evaluate(node, scope, condition=True)
    return value if isinstance(value, Known) else None


def evaluate(node: ast.expr, scope: Scope, *, condition: bool = False, depth: int = 0) -> Value:
    """Value of an expression in the closed world.

    Args:
        node: the expression.
        scope: where its names are looked up.
        condition: True when only the truth matters (`a and False` is then false whatever `a` is).
        depth: nesting of interpreted calls.
    """
    match node:
        case ast.Constant():
            return literal(node.value)
        case ast.Name():
            return scope.lookup(node.id, node.lineno)
        case ast.Attribute():
            return _attribute(evaluate(node.value, scope, depth=depth), node.attr, scope)
        case ast.UnaryOp(op=ast.Not()):
            inner = evaluate(node.operand, scope, condition=True, depth=depth)
            return Known(not inner.truth, True, inner.rules) if isinstance(inner, Known) else _only_removed(inner)
        case ast.BoolOp():
            return _boolean(node, scope, condition, depth)
        case ast.IfExp():
            test = evaluate(node.test, scope, condition=True, depth=depth)
            if isinstance(test, Known):
                arm = evaluate(node.body if test.truth else node.orelse, scope, condition=condition, depth=depth)
                return Known(arm.value, arm.exact, arm.rules | test.rules) if isinstance(arm, Known) else arm
            return _only_removed(test)
        case ast.Compare():
            return _compare(node, scope, depth)
        case ast.Call():
            return _call(node, scope, depth)
        case ast.Subscript():
            return _environment_item(node, scope, depth)
        case ast.NamedExpr():
            return evaluate(node.value, scope, condition=condition, depth=depth)
        case ast.BinOp():
            left = _only_removed(evaluate(node.left, scope, depth=depth))
            return left if isinstance(left, Removed) else _only_removed(evaluate(node.right, scope, depth=depth))
        case _:
            return UNKNOWN


def _only_removed(value: Value) -> Value:
    return value if isinstance(value, Removed) else UNKNOWN


def _attribute(base: Value, name: str, scope: Scope) -> Value:
    if isinstance(base, Removed):
        return base
    if not isinstance(base, Ref):
        return UNKNOWN
    environment = scope.environment
    if base.name in environment.outlines:
        return environment.resolve(base.name, name)
    qualified = f"{base.name}.{name}"
    fact = environment.named(qualified)
    if fact is not None:
        return fact
    removed = environment.removed_module(qualified)
    return removed if removed is not None else Ref(qualified)


def _boolean(node: ast.BoolOp, scope: Scope, condition: bool, depth: int) -> Value:
    is_and = isinstance(node.op, ast.And)
    rules = NO_RULES
    all_known = True
    exact = True
    last: Known | None = None
    for operand in node.values:
        value = evaluate(operand, scope, condition=True, depth=depth)
        if isinstance(value, Removed):
            return value if all_known else UNKNOWN
        if not isinstance(value, Known):
            all_known = False
            continue
        rules |= value.rules
        last = value
        exact = exact and value.exact
        if value.truth is not is_and:
            # Decides the truth of the whole chain; its exact value only when nothing unknown stands before it.
            return Known(value.value if all_known else value.truth, value.exact and all_known, rules)
    if all_known and last is not None:
        return Known(last.value, exact, rules)
    return UNKNOWN


def _compare(node: ast.Compare, scope: Scope, depth: int) -> Value:
    if len(node.ops) != 1:
        return UNKNOWN
    left = evaluate(node.left, scope, depth=depth)
    right = evaluate(node.comparators[0], scope, depth=depth)
    for side in (left, right):
        if isinstance(side, Removed):
            return side
    if isinstance(left, SwitchedOff):
        return _compare_off(left, node.ops[0], node.comparators[0])
    if not (isinstance(left, Known) and isinstance(right, Known) and left.exact and right.exact):
        return UNKNOWN
    rules = left.rules | right.rules
    match node.ops[0]:
        case ast.Is() if right.value is None or isinstance(right.value, bool):
            return Known(left.value is right.value, True, rules)
        case ast.IsNot() if right.value is None or isinstance(right.value, bool):
            return Known(left.value is not right.value, True, rules)
        case ast.Eq():
            return Known(left.value == right.value, True, rules)
        case ast.NotEq():
            return Known(left.value != right.value, True, rules)
    return UNKNOWN


def _compare_off(value: SwitchedOff, operator: ast.cmpop, other: ast.expr) -> Value:
    texts = other.elts if isinstance(other, ast.Tuple | ast.List | ast.Set) else [other]
    if not all(isinstance(t, ast.Constant) and t.value in ON_TEXTS for t in texts):
        return UNKNOWN
    if isinstance(operator, ast.Eq | ast.In):
        return Known(False, True, value.rules)
    return Known(True, True, value.rules) if isinstance(operator, ast.NotEq | ast.NotIn) else UNKNOWN


def _call(node: ast.Call, scope: Scope, depth: int) -> Value:
    environment = scope.environment
    variable = environment_variable(node, scope)
    if variable is not None:
        return variable
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("lower", "upper", "strip"):
        text = evaluate(node.func.value, scope, depth=depth)
        if isinstance(text, SwitchedOff):
            return text
    function = evaluate(node.func, scope, depth=depth)
    if isinstance(function, Removed):
        # A fact may say what the function returns where its feature is off.
        return environment.called(function.name) or function
    if not isinstance(function, Ref):
        return UNKNOWN
    fact = environment.called(function.name)
    if fact is not None:
        return fact
    if function.name == "builtins.bool" and len(node.args) == 1 and not node.keywords:
        inner = evaluate(node.args[0], scope, condition=True, depth=depth)
        return Known(inner.truth, True, inner.rules) if isinstance(inner, Known) else _only_removed(inner)
    if function.name == "builtins.int" and len(node.args) == 1 and not node.keywords:
        inner = evaluate(node.args[0], scope, depth=depth)
        return Known(0, False, inner.rules) if isinstance(inner, SwitchedOff) else _only_removed(inner)
    return interpret(function.name, environment, depth)


def environment_variable(node: ast.Call, scope: Scope) -> Value | None:
    """Value of ``os.getenv("X")``, ``get_bool_env_var("X")``, ``envs.X.get()`` … for a variable that a fact fixes."""
    environment = scope.environment
    if not environment.variables:
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get" and isinstance(node.func.value, ast.Attribute):
        name = node.func.value.attr
        if name in environment.variables and not node.args:
            return environment.variable(name)
    if node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value in environment.variables:
        reader = evaluate(node.func, scope)
        if isinstance(reader, Ref) and any(reader.name == r or reader.name.endswith("." + r) for r in ENVIRONMENT_READERS):
            value = environment.variable(str(node.args[0].value))
            if value is not None and reader.name.startswith("os."):
                return UNKNOWN if value.truth else SwitchedOff(value.rules)
            return value
    return None


def _environment_item(node: ast.Subscript, scope: Scope, depth: int) -> Value:
    base = evaluate(node.value, scope, depth=depth)
    return _only_removed(base)


def interpret(function: str, environment: Environment, depth: int = 0) -> Value:
    """Constant result of a short function of the tree, its parameters unknown."""
    module, _, name = function.rpartition(".")
    found = environment.outlines.get(module)
    if found is None or depth > _CALL_DEPTH:
        return UNKNOWN
    bindings = [b for b in found.names.get(name, ()) if _liveness(ModuleScope(environment, module), b) is not False]
    if len(bindings) != 1 or bindings[0].kind != "def" or not isinstance(bindings[0].node, ast.FunctionDef):
        return UNKNOWN
    definition = bindings[0].node
    if not all(_is_cache(d) for d in definition.decorator_list):
        return UNKNOWN
    inner = function_scope(definition, ModuleScope(environment, module), found.package)
    result = _run(definition.body, inner, depth + 1)
    return result if isinstance(result, Known) and result.rules else UNKNOWN


def _is_cache(decorator: ast.expr) -> bool:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
    return name in ("lru_cache", "cache")


def _run(body: list[ast.stmt], scope: Scope, depth: int, rules: frozenset[str] = NO_RULES) -> Value | None:
    """Result of a block: a value when it certainly returns it, UNKNOWN when unsure, None when it falls through."""
    for statement in body:
        match statement:
            case ast.Return():
                if statement.value is None:
                    return Known(None, True, rules)
                if not is_pure(statement.value, scope, depth):
                    return UNKNOWN
                return _with_rules(evaluate(statement.value, scope, depth=depth), rules)
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Import() | ast.ImportFrom():
                continue
            case ast.If():
                test = evaluate(statement.test, scope, condition=True, depth=depth)
                if not isinstance(test, Known) or not is_pure(statement.test, scope, depth):
                    return UNKNOWN
                rules |= test.rules
                result = _run(statement.body if test.truth else statement.orelse, scope, depth, rules)
                if result is not None:
                    return result
            case ast.Try():
                failing = failing_import(statement, scope)
                if failing is None:
                    return UNKNOWN
                rules |= {failing}
                handler = next(h for h in statement.handlers if catches_import_error(h))
                result = _run(handler.body, scope, depth, rules)
                if result is not None:
                    return result
            case _:
                return UNKNOWN
    return None


def _with_rules(result: Value, rules: frozenset[str]) -> Value:
    return Known(result.value, result.exact, result.rules | rules) if isinstance(result, Known) else result


def function_scope(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, outer: Scope, package: str) -> LocalScope:
    """The scope of a function's body."""
    arguments = node.args
    parameters = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    parameters |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None}
    if isinstance(node, ast.Lambda):
        return LocalScope(outer, Bindings(), frozenset(parameters))
    nested: set[str] = set()
    for part in statements(node):
        if isinstance(part, ast.Nonlocal):
            nested.update(part.names)
    while isinstance(outer, LocalScope) and outer.is_class:
        outer = outer.outer
    return LocalScope(outer, collect(node.body, package), frozenset(parameters | nested))


def is_pure(node: ast.expr, scope: Scope, depth: int = 0) -> bool:
    """True when evaluating the expression is known to have no side effect (attribute and item access
    count as free of them; see ARCHITECTURE.md)."""
    for part in walk(node):
        if isinstance(part, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
            return False
        if isinstance(part, ast.Call):
            if environment_variable(part, scope) is not None:
                continue
            function = evaluate(part.func, scope)
            if isinstance(function, Removed) and scope.environment.called(function.name) is not None:
                continue
            if isinstance(function, Ref) and (
                function.name in PURE_CALLS
                or scope.environment.called(function.name) is not None
                or isinstance(interpret(function.name, scope.environment, depth), Known)
            ):
                continue
            if isinstance(part.func, ast.Attribute) and f".{part.func.attr}" in PURE_CALLS:
                continue
            return False
    return True
