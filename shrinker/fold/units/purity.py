"""Module-level code that does nothing but make a value."""

from __future__ import annotations

import ast

from shrinker.facts.walk import walk
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
    | {"ContextVar", "super", "type", "property"}
)
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
    return wraps(decorator) and all(
        is_pure_value(a)
        for a in ([*decorator.args, *(k.value for k in decorator.keywords)] if isinstance(decorator, ast.Call) else ())
    )


def is_pure_value(node: ast.expr) -> bool:
    """True when evaluating an expression at module level only makes a value."""
    for part in walk(node):
        if isinstance(part, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
            return False
        if isinstance(part, ast.Call):
            name = dotted(part.func)
            method = part.func.attr if isinstance(part.func, ast.Attribute) else ""
            if name not in _PURE and not (name.startswith("triton.Config")) and method not in _PURE_METHODS:
                return False
    return True
