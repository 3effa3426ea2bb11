"""What is known to be free of side effects, and short functions of the tree that give a constant. Anything that is not listed here is
evaluated or kept."""

import ast

from shrinker.facts.bound import failing_import, liveness
from shrinker.facts.calls import environment_variable
from shrinker.facts.evaluate import ValueScope, evaluate
from shrinker.facts.lattice import NO_RULES, UNKNOWN, Known, Ref, Removed, Value
from shrinker.facts.scopes import ModuleScope, function_scope
from shrinker.facts.world import ClosedWorld
from shrinker.syntax.imports import catches_import_error
from shrinker.syntax.walk import children

_PURE_BUILTINS = "bool callable float getattr hasattr int isinstance issubclass len str tuple type"
_PURE_CALLS = frozenset(f"builtins.{name}" for name in _PURE_BUILTINS.split()) | frozenset(
    {"os.environ.get", "os.getenv", "importlib.util.find_spec", "torch.device", "torch.cuda.is_available"}
    | {"torch.cuda.device_count", "torch.cuda.get_device_capability"}
    # Methods of any receiver that do not change it.
    | {".startswith", ".endswith", ".lower", ".upper", ".split", ".strip", ".dim", ".numel", ".size", ".element_size"}
    | {".is_contiguous", ".get_device_capability"}
)
"""Qualified functions, or ``.method`` for a method of any receiver."""


def is_pure(node: ast.expr, scope: ValueScope) -> bool:
    """True when evaluating the expression is known to have no side effect (attribute and item access
    count as free of them; see ARCHITECTURE.md). What the facts keep from being evaluated does not count."""
    stack: list[ast.AST] = [node]
    while stack:
        part = stack.pop()
        match part:
            case ast.Await() | ast.Yield() | ast.YieldFrom():
                return False
            case ast.NamedExpr():
                return False
            case ast.BoolOp():
                stack.extend(_reached(part, scope))
                continue
            case ast.Call() if not _is_pure_call(part, scope):
                return False
        stack.extend(children(part))
    return True


def _reached(node: ast.BoolOp, scope: ValueScope) -> list[ast.expr]:
    """Operands up to the first one that ends the chain."""
    for index, operand in enumerate(node.values):
        value = evaluate(operand, scope, condition=True)
        if isinstance(value, Known) and value.truth is isinstance(node.op, ast.Or):
            return node.values[: index + 1]
    return node.values


def _is_pure_call(node: ast.Call, scope: ValueScope) -> bool:
    """True when the call itself does nothing; its receiver and arguments are other questions."""
    environment = scope.environment
    if environment_variable(node, scope) is not None:
        return True
    if isinstance(node.func, ast.Attribute):
        method = f".{node.func.attr}"
        if method in _PURE_CALLS or environment.is_pure(method):
            return True
    match evaluate(node.func, scope):
        case Removed(name=name):
            return environment.called(name) is not None
        case Ref(name):
            return name in _PURE_CALLS or environment.is_pure(name) or isinstance(environment.interpret(name), Known)
    return False


def interpret(function: str, environment: ClosedWorld) -> Value:
    """Constant result of a short function of the tree, its parameters unknown."""
    module, _, name = function.rpartition(".")
    found = environment.outline_of(module)
    bindings = found.names.get(name, ()) if found is not None else ()
    if found is None or not any(isinstance(binding.node, ast.FunctionDef) for binding in bindings):
        # Nearly all.
        return UNKNOWN
    outer = ModuleScope(environment, module)
    alive = [binding.node for binding in bindings if liveness(outer, binding) is not False]
    definition = alive[0] if len(alive) == 1 else None
    if not isinstance(definition, ast.FunctionDef):
        return UNKNOWN
    result = _run(definition.body, function_scope(definition, outer, found.package))
    return result if isinstance(result, Known) and result.rules else UNKNOWN


def _run(body: list[ast.stmt], scope: ValueScope, rules: frozenset[str] = NO_RULES) -> Value | None:
    """Result of a block: a value when it certainly returns it, UNKNOWN when unsure, None when it falls through."""
    for statement in body:
        match statement:
            case ast.Return():
                if statement.value is None:
                    return Known(None, True, rules)
                if not is_pure(statement.value, scope):
                    return UNKNOWN
                value = evaluate(statement.value, scope)
                return value.resting(rules) if isinstance(value, Known) else value
            case ast.If():
                test = evaluate(statement.test, scope, condition=True)
                if not isinstance(test, Known) or not is_pure(statement.test, scope):
                    return UNKNOWN
                rules |= test.rules
                branch = statement.body if test.truth else statement.orelse
            case ast.Try():
                failing = failing_import(statement, scope)
                if failing is None:
                    return UNKNOWN
                rules |= {failing[0]}
                branch = next(h for h in statement.handlers if catches_import_error(h)).body
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Import() | ast.ImportFrom():
                continue
            case _:
                return UNKNOWN
        if (result := _run(branch, scope, rules)) is not None:
            return result
    return None
