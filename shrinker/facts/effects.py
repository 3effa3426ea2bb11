"""What is known to be free of side effects. Anything that is not listed here is evaluated or kept."""

import ast

from shrinker.facts.calls import environment_variable
from shrinker.facts.evaluate import ValueScope, evaluate
from shrinker.facts.lattice import Known, Ref, Removed
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
