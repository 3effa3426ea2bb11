"""Module-level code that does nothing but make a value."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from shrinker.facts.walk import children, walk
from shrinker.fold.definitions import dotted
from shrinker.fold.definitions import only_wraps as wraps

_PURE = frozenset(
    {
        "logging.getLogger",
        "getLogger",
        "TypeVar",
        "ParamSpec",
        "typing.TypeVar",
        "NewType",
        "frozenset",
        "set",
        "dict",
        "list",
    }
    | {"tuple", "namedtuple", "collections.namedtuple", "OrderedDict", "defaultdict", "deque", "Counter"}
    | {"collections.OrderedDict", "collections.defaultdict", "collections.deque", "range", "len", "min", "max", "sum"}
    | {
        "field",
        "dataclasses.field",
        "Field",
        "auto",
        "enum.auto",
        "re.compile",
        "re.escape",
        "bool",
        "int",
        "str",
        "float",
    }
    | {
        "bytes",
        "object",
        "sorted",
        "zip",
        "enumerate",
        "map",
        "isinstance",
        "issubclass",
        "hasattr",
        "getattr",
        "callable",
    }
    | {"os.getenv", "os.environ.get", "os.path.join", "os.path.dirname", "os.path.abspath", "os.path.basename"}
    | {"os.path.expanduser", "Path", "pathlib.Path", "threading.Lock", "threading.RLock", "threading.local", "partial"}
    | {
        "functools.partial",
        "contextvars.ContextVar",
        "ContextVar",
        "weakref.WeakKeyDictionary",
        "torch.device",
        "round",
    }
    | {"weakref.WeakValueDictionary", "torch.cuda.is_available", "importlib.util.find_spec", "asyncio.Lock", "iter"}
    | {
        "torch.iinfo",
        "torch.finfo",
        "math.sqrt",
        "math.log",
        "cast",
        "typing.cast",
        "reversed",
        "any",
        "all",
        "abs",
        "itemgetter",
    }
    | {"attrgetter", "operator.itemgetter", "operator.attrgetter", "struct.Struct", "struct.calcsize", "tl.constexpr"}
    | {"ctypes.c_void_p", "inspect.signature", "string.Template", "textwrap.dedent", "time.time", "time.perf_counter"}
    | {"ContextVar", "super", "type", "property", "ConfigDict", "pydantic.ConfigDict"}
)
_BY_HAND = frozenset(
    {"lru_cache", "functools.lru_cache", "functools.cache", "torch.compile", "triton.jit", "triton.autotune"}
)
"""Decorators that change nothing of what they are given: called by hand, they make a value like any other function."""
_NOTHING: frozenset[str] = frozenset()
_PURE_METHODS = frozenset(
    {"startswith", "endswith", "lower", "upper", "split", "strip", "join", "format", "keys", "values", "items", "copy"}
    | {
        "union",
        "intersection",
        "difference",
        "replace",
        "encode",
        "decode",
        "index",
        "count",
        "with_suffix",
        "rstrip",
        "lstrip",
    }
)


def only_wraps(decorator: ast.expr) -> bool:
    """True for a decorator that hands the definition back and tells nobody else of it."""
    return wrapping_calls(decorator) == _NOTHING


def is_wrapper(value: ast.expr) -> bool:
    """True for a decorator that is made here, to be applied by its name: ``tuned = triton.autotune(configs=...)``."""
    return isinstance(value, ast.Call) and not value.args and dotted(value.func) in _BY_HAND


def is_pure_value(node: ast.expr) -> bool:
    """True when evaluating an expression at module level only makes a value."""
    return open_calls(node) == _NOTHING


def wrapping_calls(decorator: ast.expr) -> frozenset[str] | None:
    """Calls that must be pure for a decorator to hand the definition back and tell nobody else of it.

    Returns:
        Names of the module that are called; None where no name can say it.
    """
    if isinstance(decorator, ast.Name) and not wraps(decorator):
        return frozenset({decorator.id})
    if not wraps(decorator):
        return None
    given = [*decorator.args, *(k.value for k in decorator.keywords)] if isinstance(decorator, ast.Call) else []
    return joined(open_calls(argument) for argument in given)


def open_calls(node: ast.expr) -> frozenset[str] | None:
    """Calls that must be pure for an expression to make a value and do nothing else.

    Returns:
        Names of the module that are called; None where it does more, or no name can say it.
    """
    found: set[str] = set()
    bound: set[str] = set()
    stack: list[ast.AST] = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
            return None
        if isinstance(part, ast.comprehension):
            bound.update(name.id for name in walk(part.target) if isinstance(name, ast.Name))
        if isinstance(part, ast.Lambda):
            # Making it evaluates its defaults.
            stack.append(part.args)
            continue
        if isinstance(part, ast.Call) and not _is_known(part):
            if not isinstance(part.func, ast.Name):
                return None
            found.add(part.func.id)
        stack.extend(children(part))
    return frozenset(found) if found.isdisjoint(bound) else None


def joined(parts: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    """What all parts need; None where one is impure whatever the names stand for."""
    found: set[str] = set()
    for part in parts:
        if part is None:
            return None
        found |= part
    return frozenset(found)


def _is_known(call: ast.Call) -> bool:
    """True for a call that makes a value and nothing else, by its name alone."""
    name = dotted(call.func)
    if name in _PURE or name in _BY_HAND or name.startswith("triton.Config"):
        return True
    if isinstance(call.func, ast.Attribute) and call.func.attr in _PURE_METHODS:
        return True
    # ``lru_cache(maxsize=1)(f)``: a decorator that is called by hand.
    return isinstance(call.func, ast.Call) and dotted(call.func.func) in _BY_HAND
