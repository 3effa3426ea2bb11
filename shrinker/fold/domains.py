"""Texts that something never is: rows, elements and registrations that stand for one go."""

import ast

from shrinker.facts.effects import is_pure
from shrinker.facts.evaluate import ValueScope, evaluate
from shrinker.facts.lattice import Known, Ref, Removed, TextDomain
from shrinker.fold.context import Context
from shrinker.syntax.names import written


def is_never(node: ast.expr, domain: TextDomain, scope: ValueScope) -> bool:
    """True for an expression whose value is a text that the domain never is."""
    value = evaluate(node, scope)
    return isinstance(value, Known) and value.exact and domain.excludes(value.value)


def drop_texts(
    context: Context, scope: ValueScope, display: ast.Tuple | ast.List | ast.Set, domain: TextDomain
) -> None:
    """Elements that a collection is never asked for, as long as one stays: an emptied set would be a dict."""
    gone = [e for e in display.elts if is_never(e, domain, scope)]
    if len(gone) < len(display.elts):
        for element in gone:
            context.drop_element(element, type(display).__name__, "domain", domain.rules)
        display.elts = [e for e in display.elts if e not in gone]


def drop_rows(context: Context, scope: ValueScope, table: ast.Dict, domain: TextDomain) -> None:
    """Rows of a table that is only asked for texts of the domain."""
    kept: list[tuple[ast.expr | None, ast.expr]] = []
    for key, value in zip(table.keys, table.values, strict=True):
        if key is not None and is_never(key, domain, scope) and is_pure(value, scope):
            context.drop_element(value, "Dict", "table", domain.rules, key)
            context.forget(value)
        else:
            kept.append((key, value))
    table.keys, table.values = [key for key, _ in kept], [value for _, value in kept]


def registration(node: ast.expr, scope: ValueScope) -> Removed | None:
    """The removed thing that a call files: its first argument, or the name that this is made with, is a text that the
    domain never is, or is read from something removed."""
    if not isinstance(node, ast.Call) or not node.args:
        return None
    function = evaluate(node.func, scope)
    name = function.name if isinstance(function, Ref) else f"{scope.module}.{written(node.func)}"
    if (domain := scope.environment.domain(name, "registers")) is None:
        return None
    filed = node.args[0]
    if isinstance(filed, ast.Call):
        filed = next((k.value for k in filed.keywords if k.arg == "name"), filed)
    value = evaluate(filed, scope)
    # Under a name that is read from what a rule removes nothing is filed.
    if not (is_never(filed, domain, scope) or (isinstance(value, Removed) and value.module)):
        return None
    if not all(is_pure(a, scope) for a in (*node.args, *(k.value for k in node.keywords))):
        return None
    rules = "+".join(sorted(domain.rules))
    return Removed(rules, "a name that is not used here", f"{name}({ast.unparse(filed)})")
