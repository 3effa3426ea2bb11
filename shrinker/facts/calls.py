"""What calls give: by a fact, a domain, a builtin that is known, or by interpreting a short
function of the tree. And which are known to be free of side effects, as all that is not listed here
is evaluated or kept.
"""

import ast
import builtins
from dataclasses import replace

from shrinker.facts.evaluate import ValueScope, evaluate, evaluates, only_removed
from shrinker.facts.lattice import UNKNOWN, Known, Ref, Removed, TextDomain, Value
from shrinker.syntax.walk import children

_READERS = ("os.getenv", "os.environ.get", "get_bool_env_var", "get_int_env_var", "get_str_env_var")
"""Functions whose first argument is the name of an environment variable; a dotted name is exact, a
bare one matches the function wherever the tree defines it.
"""
_ON = frozenset({"1", "true", "True", "TRUE", "yes", "on", "y", "t"})
"""What an environment variable that is off is none of: it is unset (then it is the caller's
default), or a text that means no.
"""
_IMPORTERS = frozenset(
    {
        "builtins.__import__",
        "importlib.import_module",
        "importlib.__import__",
        "pkgutil.resolve_name",
        "runpy.run_module",
    }
)
"""Functions of other packages that import the module that a text names."""
_TELLING = frozenset(
    {
        "startswith",
        "endswith",
        "removeprefix",
        "removesuffix",
        "replace",
        "split",
        "find",
        "count",
        "index",
        "join",
    }
    | {"debug", "info", "warning", "error", "exception", "critical", "log", "write"}
)
"""Methods of texts and of loggers: none of them imports what it is given."""
_PURE_BUILTINS = "bool callable float getattr hasattr int isinstance issubclass len str tuple type"
_PURE_CALLS = frozenset(f"builtins.{name}" for name in _PURE_BUILTINS.split()) | frozenset(
    {
        "os.environ.get",
        "os.getenv",
        "importlib.util.find_spec",
        "torch.device",
        "torch.cuda.is_available",
    }
    | {"torch.cuda.device_count", "torch.cuda.get_device_capability"}
    # Methods of any receiver that do not change it.
    | {
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
    }
    | {".is_contiguous", ".get_device_capability"}
)
"""Qualified functions, or ``.method`` for a method of any receiver."""


@evaluates(ast.Call)
def _call(node: ast.Call, scope: ValueScope, condition: bool) -> Value:
    environment = scope.environment
    if (variable := environment_variable(node, scope)) is not None:
        return variable
    if (named := named_argument(node, scope)) is not None:
        return named
    function = evaluate(node.func, scope)
    if isinstance(function, Removed):
        # A fact may say what the function returns where its feature is off.
        method = f".{node.func.attr}" if isinstance(node.func, ast.Attribute) else ""
        return (
            environment.called(function.name)
            or environment.called(function.name + method)
            or function
        )
    if not isinstance(function, Ref):
        return _method(node, scope)
    if (
        said := environment.called(function.name) or environment.domain(function.name, "calls")
    ) is not None:
        return said
    if function.name in ("builtins.hasattr", "builtins.getattr"):
        return _asked_attribute(node, function.name, scope)
    if function.name in ("builtins.isinstance", "builtins.issubclass"):
        return _asked_kind(node, scope)
    if (
        function.name in ("builtins.str", "builtins.bool", "builtins.int")
        and len(node.args) == 1
        and not node.keywords
    ):
        given = evaluate(node.args[0], scope, condition=function.name == "builtins.bool")
        match function.name, given:
            case "builtins.str", TextDomain():
                return given
            case "builtins.bool", Known():
                return Known(given.truth, True, given.rules)
            case "builtins.int", TextDomain(never=never) if never >= _ON:
                return Known(0, False, given.rules)
        return only_removed(given)
    result = environment.interpret(function.name)
    if isinstance(result, Known) or not isinstance(node.func, ast.Name | ast.Attribute):
        return result
    if ")" in function.name and isinstance(node.func, ast.Attribute):
        return environment.called(f".{node.func.attr}") or UNKNOWN
    # What it returns has no value of its own, but a rule may name its attributes.
    return (
        Ref(f"{function.name}()")
        if function.name.partition(".")[0] in environment.packages
        else result
    )


def _method(node: ast.Call, scope: ValueScope) -> Value:
    """Return a method of a receiver that is not resolved, or of a text."""
    if not isinstance(node.func, ast.Attribute):
        return UNKNOWN
    if (fact := scope.environment.called(f".{node.func.attr}")) is not None:
        return fact
    receiver = evaluate(node.func.value, scope)
    if node.func.attr in ("lower", "strip") and not node.args:
        if not isinstance(receiver, TextDomain) or receiver.items:
            return UNKNOWN
        texts = receiver.only
        return replace(
            receiver, only=texts and frozenset(getattr(t, node.func.attr)() for t in texts)
        )
    if node.func.attr in ("startswith", "endswith") and len(node.args) == 1 and not node.keywords:
        text = evaluate(node.args[0], scope)
        if not isinstance(text, Known) or not isinstance(text.value, str):
            return UNKNOWN
        if isinstance(receiver, Known) and receiver.exact and isinstance(receiver.value, str):
            found: bool = getattr(receiver.value, node.func.attr)(text.value)
            return Known(found, True, receiver.rules | text.rules)
        if (
            isinstance(receiver, TextDomain)
            and node.func.attr == "startswith"
            and receiver.starts_never(text.value)
        ):
            return Known(False, True, receiver.rules)
    return UNKNOWN


def _asked_kind(node: ast.Call, scope: ValueScope) -> Value:
    """``isinstance(detector, OtherDetector)``: false where facts say that no asked class has an
    object.
    """
    if len(node.args) != 2 or node.keywords:
        return UNKNOWN
    asked = node.args[1]
    kinds = asked.elts if isinstance(asked, ast.Tuple) else [asked]
    rules: set[str] = set()
    for kind in kinds:
        value = evaluate(kind, scope)
        said = scope.environment.without_objects(value.name) if isinstance(value, Ref) else None
        if said is None:
            return UNKNOWN
        rules |= said.rules
    return Known(False, True, frozenset(rules)) if kinds else UNKNOWN


def _asked_attribute(node: ast.Call, function: str, scope: ValueScope) -> Value:
    """``hasattr(torch, "npu")`` and ``getattr(args, "device", None)``."""
    if len(node.args) < 2 or node.keywords or not isinstance(node.args[1], ast.Constant):
        return UNKNOWN
    name = node.args[1].value
    if not isinstance(name, str) or not name.isidentifier():
        return UNKNOWN
    base = evaluate(node.args[0], scope)
    if isinstance(base, Removed):
        return base
    missing = (
        scope.environment.missing_attribute(f"{base.name}.{name}")
        if isinstance(base, Ref)
        else None
    )
    if missing is not None:
        if function == "builtins.hasattr":
            return Known(False, True, frozenset({missing.rule}))
        if len(node.args) == 3:
            default = evaluate(node.args[2], scope)
            return (
                default.resting(frozenset({missing.rule}))
                if isinstance(default, Known)
                else UNKNOWN
            )
        return missing
    if function == "builtins.hasattr":
        return UNKNOWN
    if (fact := scope.environment.named(f".{name}")) is not None:
        return fact
    read = evaluate(ast.copy_location(ast.Attribute(node.args[0], name, ast.Load()), node), scope)
    return read if isinstance(read, TextDomain) else UNKNOWN


def named_argument(node: ast.Call, scope: ValueScope) -> Removed | None:
    """``register("npu", "sglang.srt.npu.store")``: an import by name, when it is asked for.

    A function of another package imports nothing of this one for its text (``print``,
    ``getLogger``), but for those that import by name; nor does one of a module that neither imports
    by name nor uses a module of the tree that does.
    """
    named = (
        scope.environment.named_by_string(part.value)
        for part in node.args
        if isinstance(part, ast.Constant)
    )
    removed = next((removed for removed in named if removed is not None), None)
    if removed is None:
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr in _TELLING:
        return None
    function = evaluate(node.func, scope)
    if not isinstance(function, Ref) or function.name in _IMPORTERS:
        return removed
    top, _, name = function.name.partition(".")
    if top == "builtins" and not hasattr(builtins, name):
        # A name that nothing here binds: a star import may give it.
        return removed
    return removed if scope.environment.may_import_by_name(function.name) else None


def environment_variable(node: ast.Call, scope: ValueScope) -> Value | None:
    """Return value of ``os.getenv("X")``, ``get_bool_env_var("X")``, ``envs.X.get()`` … for a
    variable that a fact fixes.
    """
    match node:
        case ast.Call(ast.Attribute(ast.Attribute(attr=name), "get"), []) if (
            value := scope.environment.variable(name)
        ):
            return value
        case ast.Call(args=[ast.Constant(str() as name), *_]) if (
            value := scope.environment.variable(name)
        ):
            reader = evaluate(node.func, scope)
            if isinstance(reader, Ref) and any(
                f".{reader.name}".endswith(f".{r}") for r in _READERS
            ):
                if not reader.name.startswith("os."):
                    return value
                return (
                    _unset_text(node, value)
                    if value.value is None
                    else _text_of_one_off(node, value)
                )
    return None


def _unset_text(node: ast.Call, value: Known) -> Value:
    """Return what ``os.getenv("X")`` reads of a variable that a server with any text in it refuses:
    none, an empty one, the default.

    ``os.getenv("X") == "reuse"`` is false then, and ``os.getenv("X") is None`` is open.
    """
    defaults = _defaults(node)
    if not all(isinstance(d, ast.Constant) and isinstance(d.value, str | None) for d in defaults):
        return UNKNOWN
    texts = (d.value for d in defaults if isinstance(d, ast.Constant) and isinstance(d.value, str))
    only = frozenset({"", *texts})
    return TextDomain(_ON - only, value.rules, only)


def _text_of_one_off(node: ast.Call, value: Known) -> Value:
    """Return what ``os.getenv("X")`` reads of a variable that is off: its truth is open, since "0"
    is true.
    """
    on = any(
        not isinstance(d, ast.Constant) or d.value in _ON or d.value is True or d.value == 1
        for d in _defaults(node)
    )
    return UNKNOWN if value.truth or on else TextDomain(_ON, value.rules)


def _defaults(node: ast.Call) -> list[ast.expr]:
    return [*node.args[1:], *(k.value for k in node.keywords)]


# Side effects


def is_pure(node: ast.expr, scope: ValueScope) -> bool:
    """Tell whether evaluating the expression is known to have no side effect (attribute and item
    access count as free of them; see ARCHITECTURE.md). What the facts keep from being evaluated
    does not count.
    """
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


def is_stated_pure(node: ast.Call, scope: ValueScope) -> bool:
    """Tell whether a rule says that the function, or the method of any receiver, only answers."""
    if isinstance(node.func, ast.Attribute) and scope.environment.is_pure(f".{node.func.attr}"):
        return True
    function = evaluate(node.func, scope)
    return isinstance(function, Ref) and scope.environment.is_pure(function.name)


def _reached(node: ast.BoolOp, scope: ValueScope) -> list[ast.expr]:
    """Return operands up to the first one that ends the chain."""
    for index, operand in enumerate(node.values):
        value = evaluate(operand, scope, condition=True)
        if isinstance(value, Known) and value.truth is isinstance(node.op, ast.Or):
            return node.values[: index + 1]
    return node.values


def _is_pure_call(node: ast.Call, scope: ValueScope) -> bool:
    """Tell whether the call itself does nothing; its receiver and arguments are other questions."""
    environment = scope.environment
    if environment_variable(node, scope) is not None:
        return True
    if isinstance(node.func, ast.Attribute):
        method = f".{node.func.attr}"
        if method in _PURE_CALLS or environment.is_pure(method):
            return True
    match evaluate(node.func, scope):
        case Removed(name=name):
            method = f".{node.func.attr}" if isinstance(node.func, ast.Attribute) else ""
            return (
                environment.called(name) is not None
                or environment.called(name + method) is not None
            )
        case Ref(name):
            return (
                name in _PURE_CALLS
                or environment.is_pure(name)
                or isinstance(environment.interpret(name), Known)
            )
    return False
