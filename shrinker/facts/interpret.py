"""Constant results of short functions of the tree, by interpreting their bodies."""

import ast

from shrinker.facts.bound import failing_import, liveness
from shrinker.facts.effects import is_pure
from shrinker.facts.evaluate import ValueScope, evaluate
from shrinker.facts.lattice import NO_RULES, UNKNOWN, Known, Value
from shrinker.facts.scopes import ModuleScope, function_scope
from shrinker.facts.world import ClosedWorld
from shrinker.syntax.imports import catches_import_error


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
