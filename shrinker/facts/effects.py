"""What is known to be free of side effects. Anything that is not listed here is evaluated or kept."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shrinker.facts.lattice import Known, Ref, Removed
from shrinker.facts.walk import walk

if TYPE_CHECKING:
    from shrinker.facts.evaluate import Scope

ENVIRONMENT_READERS = frozenset(
    {
        "os.getenv",
        "os.environ.get",
        "get_bool_env_var",
        "get_int_env_var",
        "get_str_env_var",
    }
)
"""Functions whose first argument is the name of an environment variable; a dotted name is exact, a
bare one matches the function wherever the tree defines it."""

PURE_CALLS = frozenset(
    {
        "builtins.bool",
        "builtins.callable",
        "builtins.getattr",
        "builtins.hasattr",
        "builtins.int",
        "builtins.isinstance",
        "builtins.issubclass",
        "builtins.len",
        "builtins.str",
        "builtins.tuple",
        "builtins.type",
        "os.environ.get",
        "os.getenv",
        "importlib.util.find_spec",
        "torch.cuda.device_count",
        "torch.cuda.get_device_capability",
        "torch.cuda.is_available",
        "torch.device",
        # Methods of any receiver that do not change it.
        ".startswith",
        ".endswith",
        ".lower",
        ".upper",
        ".split",
        ".strip",
        ".dim",
        ".numel",
        ".size",
        ".element_size",
        ".is_contiguous",
        ".get_device_capability",
    }
)
"""Qualified functions, or ``.method`` for a method of any receiver."""


def is_pure(node: ast.expr, scope: Scope, depth: int = 0) -> bool:
    """True when evaluating the expression is known to have no side effect (attribute and item access
    count as free of them; see ARCHITECTURE.md)."""
    from shrinker.facts.evaluate import environment_variable, evaluate

    for part in walk(node):
        if isinstance(part, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
            return False
        if isinstance(part, ast.Call):
            if environment_variable(part, scope) is not None:
                continue
            if isinstance(part.func, ast.Attribute) and scope.environment.is_pure_on_any(part.func.attr):
                continue
            function = evaluate(part.func, scope)
            if isinstance(function, Removed) and scope.environment.called(function.name) is not None:
                continue
            if isinstance(function, Ref) and (
                function.name in PURE_CALLS
                or scope.environment.called(function.name) is not None
                or scope.environment.is_pure(function.name)
                or isinstance(scope.environment.interpret(function.name, depth), Known)
            ):
                continue
            if isinstance(part.func, ast.Attribute) and f".{part.func.attr}" in PURE_CALLS:
                continue
            return False
    return True
