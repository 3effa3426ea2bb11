"""Constant results of short functions of the tree, by interpreting their bodies."""

import ast

from shrinker.facts.bound import failing_import, liveness
from shrinker.facts.effects import is_pure
from shrinker.facts.evaluate import ValueScope, evaluate
from shrinker.facts.lattice import NO_RULES, UNKNOWN, Known, Value
from shrinker.facts.scopes import ModuleScope, function_scope
from shrinker.facts.world import ClosedWorld
from shrinker.syntax.bindings import Binding
from shrinker.syntax.imports import catches_import_error
from shrinker.syntax.names import last_name
from shrinker.syntax.walk import walk


def interpret(function: str, environment: ClosedWorld) -> Value:
    """Constant result of a short function of the tree, its parameters unknown."""
    module, _, name = function.rpartition(".")
    found = environment.outlines.get(module)
    if found is None or not any(map(_may_answer, found.names.get(name, ()))):
        return UNKNOWN
    bindings = [b for b in found.names[name] if liveness(ModuleScope(environment, module), b) is not False]
    if len(bindings) != 1 or bindings[0].kind != "def" or not isinstance(bindings[0].node, ast.FunctionDef):
        return UNKNOWN
    definition = bindings[0].node
    decorators = (d.func if isinstance(d, ast.Call) else d for d in definition.decorator_list)
    if not all(last_name(decorator) in ("lru_cache", "cache") for decorator in decorators):
        # Others than those which only remember the result.
        return UNKNOWN
    inner = function_scope(definition, ModuleScope(environment, module), found.package)
    result = _run(definition.body, inner)
    if not isinstance(result, Known) or not result.rules:
        return UNKNOWN
    # A generator returns an iterator, whatever its `return` says.
    return UNKNOWN if any(isinstance(part, ast.Yield | ast.YieldFrom) for part in walk(definition)) else result


def _may_answer(binding: Binding) -> bool:
    """False for a function that begins with what `_run` does not interpret: most do, and need no further look."""
    if binding.kind != "def" or binding.node is None:
        return False
    first = next((statement for statement in binding.node.body if not _says_nothing(statement)), None)
    return isinstance(first, ast.Return | ast.If | ast.Try)


def _says_nothing(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Import() | ast.ImportFrom():
            return True
    return False


def _run(body: list[ast.stmt], scope: ValueScope, rules: frozenset[str] = NO_RULES) -> Value | None:
    """Result of a block: a value when it certainly returns it, UNKNOWN when unsure, None when it falls through."""
    for statement in body:
        branch: list[ast.stmt] = []
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
            case _ if not _says_nothing(statement):
                return UNKNOWN
        if (result := _run(branch, scope, rules)) is not None:
            return result
    return None
