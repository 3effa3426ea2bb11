"""Evaluate expressions in the closed world.

Names are looked up through a `Scope`; `scopes` has the real ones. Calls are known through facts, or by
interpreting a short function of the tree (`interpret`), which the environment does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from shrinker.facts.attributes import attribute, in_domain
from shrinker.facts.comparing import compare_member, compare_switched_off, compare_values
from shrinker.facts.effects import ENVIRONMENT_READERS
from shrinker.facts.lattice import (
    NO_RULES,
    ON_TEXTS,
    UNKNOWN,
    Domain,
    Known,
    Ref,
    Removed,
    SwitchedOff,
    Value,
    join,
    literal,
)

if TYPE_CHECKING:
    from shrinker.facts.environment import Environment


class Scope(Protocol):
    """Where a name is looked up."""

    environment: Environment
    module: str

    def lookup(self, name: str, line: int) -> Value:
        """Value of a name read at a line."""


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
    evaluator = _EVALUATORS.get(node.__class__)
    return UNKNOWN if evaluator is None else evaluator(node, scope, condition, depth)


def _constant(node: ast.Constant, scope: Scope, condition: bool, depth: int) -> Value:
    made: Known | None = getattr(node, "decided", None)
    return made if made is not None else literal(node.value)


def _name(node: ast.Name, scope: Scope, condition: bool, depth: int) -> Value:
    fixed: Value | None = getattr(node, "decided", None)
    if fixed is not None:
        return fixed
    found = scope.lookup(node.id, node.lineno)
    if condition and isinstance(found, Ref):
        # `if is_cuda:` asks the function itself, which is always true.
        asked = scope.environment.called(found.name)
        return found if asked is None else Known(True, False, asked.rules)
    return in_domain(node.id, scope, found)


def _attribute(node: ast.Attribute, scope: Scope, condition: bool, depth: int) -> Value:
    # Noted there by a refinement round.
    decided: Value | None = getattr(node, "decided", None)
    return attribute(node, evaluate(node.value, scope, depth=depth), scope) if decided is None else decided


def _unary(node: ast.UnaryOp, scope: Scope, condition: bool, depth: int) -> Value:
    match node:
        case ast.UnaryOp(op=ast.Not()):
            inner = evaluate(node.operand, scope, condition=True, depth=depth)
            return Known(not inner.truth, True, inner.rules) if isinstance(inner, Known) else _only_removed(inner)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return literal(-number)
    return UNKNOWN


def _ternary(node: ast.IfExp, scope: Scope, condition: bool, depth: int) -> Value:
    test = evaluate(node.test, scope, condition=True, depth=depth)
    if isinstance(test, Known):
        arm = evaluate(node.body if test.truth else node.orelse, scope, condition=condition, depth=depth)
        return Known(arm.value, arm.exact, arm.rules | test.rules) if isinstance(arm, Known) else arm
    if isinstance(test, Removed):
        return test
    return join([evaluate(arm, scope, depth=depth) for arm in (node.body, node.orelse)])


def _comparison(node: ast.Compare, scope: Scope, condition: bool, depth: int) -> Value:
    return _compare(node, scope, depth) if len(node.ops) == 1 else _links(node, scope, condition, depth)


def _called(node: ast.Call, scope: Scope, condition: bool, depth: int) -> Value:
    noted: Value | None = getattr(node, "decided", None)
    return _call(node, scope, depth) if noted is None else noted


def _named(node: ast.NamedExpr, scope: Scope, condition: bool, depth: int) -> Value:
    return evaluate(node.value, scope, condition=condition, depth=depth)


def _binary(node: ast.BinOp, scope: Scope, condition: bool, depth: int) -> Value:
    left = _only_removed(evaluate(node.left, scope, depth=depth))
    return left if isinstance(left, Removed) else _only_removed(evaluate(node.right, scope, depth=depth))


def _only_removed(value: Value) -> Value:
    return value if isinstance(value, Removed) else UNKNOWN


def _boolean(node: ast.BoolOp, scope: Scope, condition: bool, depth: int) -> Value:
    is_and = isinstance(node.op, ast.And)
    rules = NO_RULES
    all_known = True
    exact = True
    last: Known | None = None
    values: list[Value] = []
    for index, operand in enumerate(node.values):
        value = evaluate(operand, scope, condition=True, depth=depth)
        values.append(value)
        if isinstance(value, Removed):
            return value if all_known else UNKNOWN
        if not isinstance(value, Known):
            all_known = False
            continue
        rules |= value.rules
        last = value
        exact = exact and value.exact
        if value.truth is not is_and:
            # Decides the truth of the whole chain; its exact value only when nothing unknown stands before it, or
            # when that could only be the same.
            same = all_known or (
                isinstance(value.value, bool)
                and value.exact
                and all(_is_boolean(v, scope) for v in node.values[:index])
            )
            return Known(value.value if all_known else value.truth, value.exact and same, rules)
    if all_known and last is not None:
        return Known(last.value, exact, rules)
    return UNKNOWN if condition else join(values)


def _is_boolean(node: ast.expr, scope: Scope) -> bool:
    from shrinker.facts.booleans import is_boolean

    return is_boolean(node, scope)


def _links(node: ast.Compare, scope: Scope, condition: bool, depth: int) -> Value:
    """``a < b < c``, which is ``a < b and b < c``."""
    operands = (node.left, *node.comparators)
    links: list[ast.expr] = [
        ast.copy_location(ast.Compare(left, [link], [right]), node)
        for left, link, right in zip(operands, node.ops, operands[1:], strict=False)
    ]
    value = _boolean(ast.copy_location(ast.BoolOp(ast.And(), links), node), scope, condition, depth)
    return value if isinstance(value, Known) else UNKNOWN


def _compare(node: ast.Compare, scope: Scope, depth: int) -> Value:
    left = evaluate(node.left, scope, depth=depth)
    right = evaluate(node.comparators[0], scope, depth=depth)
    if isinstance(left, Removed) and left.member and isinstance(node.ops[0], ast.In | ast.NotIn):
        # Nothing equals it, so no collection holds it.
        return Known(isinstance(node.ops[0], ast.NotIn), True, frozenset({left.rule}))
    for side in (left, right):
        if isinstance(side, Removed):
            return compare_member(side, node.ops[0]) if side.member else side
    if isinstance(left, SwitchedOff):
        return compare_switched_off(left, node.ops[0], node.comparators[0])
    for domain, other in ((left, node.comparators[0]), (right, node.left)):
        if isinstance(domain, Domain):
            return _compare_domain(domain, node.ops[0], other, scope, right is domain)
    return compare_values(left, node.ops[0], right)


def _compare_domain(domain: Domain, kind: ast.cmpop, other: ast.expr, scope: Scope, swapped: bool) -> Value:
    """``device == "npu"``, ``device in ("npu", "xpu")`` for a device that is never one of them."""
    equal = isinstance(kind, ast.Eq | ast.NotEq | ast.Is | ast.IsNot)
    if swapped and isinstance(kind, ast.In | ast.NotIn):
        part = evaluate(other, scope)
        if isinstance(part, Known) and part.exact and domain.lacks(part.value):
            return Known(isinstance(kind, ast.NotIn), True, domain.rules | part.rules)
    if domain.items:
        return UNKNOWN
    if not equal and (swapped or not isinstance(kind, ast.In | ast.NotIn)):
        return UNKNOWN
    texts = [other] if equal else other.elts if isinstance(other, ast.Tuple | ast.List | ast.Set) else []
    values = [evaluate(t, scope) for t in texts]
    if not values or not all(isinstance(v, Known) and v.exact and domain.excludes(v.value) for v in values):
        return UNKNOWN
    return Known(isinstance(kind, ast.NotEq | ast.IsNot | ast.NotIn), True, domain.rules)


def _call(node: ast.Call, scope: Scope, depth: int) -> Value:
    environment = scope.environment
    variable = environment_variable(node, scope)
    if variable is not None:
        return variable
    for argument in node.args:
        if isinstance(argument, ast.Constant):
            removed = environment.named_by_string(argument.value)
            if removed is not None:
                return removed
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("lower", "upper", "strip"):
        text = evaluate(node.func.value, scope, depth=depth)
        if isinstance(text, SwitchedOff):
            return text
    function = evaluate(node.func, scope, depth=depth)
    if isinstance(function, Removed):
        # A fact may say what the function returns where its feature is off.
        method = f".{node.func.attr}" if isinstance(node.func, ast.Attribute) else ""
        return environment.called(function.name) or environment.called(function.name + method) or function
    if not isinstance(function, Ref):
        return _method(node, scope, depth)
    fact = environment.called(function.name)
    if fact is not None:
        return fact
    domain = environment.domain(function.name, "calls")
    if domain is not None:
        return domain
    if function.name in ("builtins.hasattr", "builtins.getattr"):
        return _asked_attribute(node, function.name, scope, depth)
    if function.name == "builtins.str" and len(node.args) == 1 and not node.keywords:
        text = evaluate(node.args[0], scope, depth=depth)
        return text if isinstance(text, Domain) else _only_removed(text)
    if function.name == "builtins.bool" and len(node.args) == 1 and not node.keywords:
        inner = evaluate(node.args[0], scope, condition=True, depth=depth)
        return Known(inner.truth, True, inner.rules) if isinstance(inner, Known) else _only_removed(inner)
    if function.name == "builtins.int" and len(node.args) == 1 and not node.keywords:
        inner = evaluate(node.args[0], scope, depth=depth)
        return Known(0, False, inner.rules) if isinstance(inner, SwitchedOff) else _only_removed(inner)
    result = environment.interpret(function.name, depth)
    if isinstance(result, Known) or not isinstance(node.func, ast.Name | ast.Attribute):
        return result
    if ")" in function.name and isinstance(node.func, ast.Attribute):
        return environment.called_on_any(node.func.attr) or UNKNOWN
    # What it returns has no value of its own, but a rule may name its attributes.
    return Ref(f"{function.name}()") if function.name.partition(".")[0] in environment.packages else result


def _method(node: ast.Call, scope: Scope, depth: int) -> Value:
    """A method of a receiver that is not resolved, or of a text."""
    if not isinstance(node.func, ast.Attribute):
        return UNKNOWN
    fact = scope.environment.called_on_any(node.func.attr)
    if fact is not None:
        return fact
    receiver = evaluate(node.func.value, scope, depth=depth)
    if node.func.attr in ("lower", "strip") and not node.args:
        if not isinstance(receiver, Domain) or receiver.items:
            return UNKNOWN
        texts = receiver.only
        return replace(receiver, only=texts and frozenset(getattr(t, node.func.attr)() for t in texts))
    if node.func.attr in ("startswith", "endswith") and len(node.args) == 1 and not node.keywords:
        text = evaluate(node.args[0], scope, depth=depth)
        if not isinstance(text, Known) or not isinstance(text.value, str):
            return UNKNOWN
        if isinstance(receiver, Known) and receiver.exact and isinstance(receiver.value, str):
            found: bool = getattr(receiver.value, node.func.attr)(text.value)
            return Known(found, True, receiver.rules | text.rules)
        if isinstance(receiver, Domain) and node.func.attr == "startswith" and receiver.starts_never(text.value):
            return Known(False, True, receiver.rules)
    return UNKNOWN


def _asked_attribute(node: ast.Call, function: str, scope: Scope, depth: int) -> Value:
    """``hasattr(torch, "npu")`` and ``getattr(args, "device", None)``."""
    if len(node.args) < 2 or node.keywords or not isinstance(node.args[1], ast.Constant):
        return UNKNOWN
    name = node.args[1].value
    if not isinstance(name, str) or not name.isidentifier():
        return UNKNOWN
    base = evaluate(node.args[0], scope, depth=depth)
    if isinstance(base, Removed):
        return base
    missing = scope.environment.missing_attribute(f"{base.name}.{name}") if isinstance(base, Ref) else None
    if missing is not None:
        if function == "builtins.hasattr":
            return Known(False, True, frozenset({missing.rule}))
        if len(node.args) == 3:
            default = evaluate(node.args[2], scope, depth=depth)
            return (
                Known(default.value, default.exact, default.rules | {missing.rule})
                if isinstance(default, Known)
                else UNKNOWN
            )
        return missing
    if function == "builtins.getattr" and (fact := scope.environment.read_on_any(name)) is not None:
        return fact
    if function == "builtins.getattr":
        read = evaluate(ast.copy_location(ast.Attribute(node.args[0], name, ast.Load()), node), scope, depth=depth)
        return read if isinstance(read, Domain) else UNKNOWN
    return UNKNOWN


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
        if isinstance(reader, Ref) and any(
            reader.name == r or reader.name.endswith("." + r) for r in ENVIRONMENT_READERS
        ):
            value = environment.variable(str(node.args[0].value))
            if value is not None and reader.name.startswith("os."):
                return UNKNOWN if value.truth or _on_by_default(node) else SwitchedOff(value.rules)
            return value
    return None


def _on_by_default(node: ast.Call) -> bool:
    defaults = [*node.args[1:], *(k.value for k in node.keywords)]
    return any(
        not isinstance(d, ast.Constant) or d.value in ON_TEXTS or d.value is True or d.value == 1 for d in defaults
    )


def _environment_item(node: ast.Subscript, scope: Scope, condition: bool, depth: int) -> Value:
    base = evaluate(node.value, scope, depth=depth)
    if isinstance(base, Domain) and base.items and isinstance(node.slice, ast.Constant) and node.slice.value == 0:
        return replace(base, items=False)
    return _only_removed(base)


_EVALUATORS: dict[type[ast.AST], Callable[[Any, Scope, bool, int], Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.IfExp: _ternary,
    ast.Compare: _comparison,
    ast.Call: _called,
    ast.Subscript: _environment_item,
    ast.NamedExpr: _named,
    ast.BinOp: _binary,
}
"""By the class of the node: this is asked a million times a run."""
