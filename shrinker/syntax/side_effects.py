"""Side effects: what code is known to do nothing besides making a value, by its syntax and the
names that it calls.

Reading names, attributes and items counts as free of them (see ARCHITECTURE.md). What is not listed
here may do anything. Functions that return calls say which names of the module must be free of
effects, too, for the answer to hold; `facts.calls` adds what the closed world knows of names.
"""

import ast
from collections.abc import Callable, Iterable

from shrinker.syntax.bindings import collect
from shrinker.syntax.control import is_generator
from shrinker.syntax.imports import is_type_checking
from shrinker.syntax.names import dotted, first_name, last_name
from shrinker.syntax.scopes import parameters_of
from shrinker.syntax.walk import Function, evaluated, walk

_WRAPPERS = frozenset(
    {
        "staticmethod",
        "classmethod",
        "property",
        "cached_property",
        "abstractmethod",
        "lru_cache",
        "cache",
        "overload",
    }
    | {
        "override",
        "final",
        "wraps",
        "contextmanager",
        "asynccontextmanager",
        "dataclass",
        "total_ordering",
    }
    | {
        "runtime_checkable",
        "no_grad",
        "inference_mode",
        "torch.compile",
        "triton.jit",
        "triton.autotune",
    }
    | {"triton.heuristics", "tilelang.jit", "torch.jit.script", "torch.jit.unused"}
)
"""Decorators that hand the definition back and tell nobody else of it; a dotted name must match its
end.
"""
_PURE_FUNCTIONS = frozenset(
    {
        "ConfigDict",
        "ContextVar",
        "Counter",
        "Field",
        "NewType",
        "OrderedDict",
        "ParamSpec",
        "Path",
        "TypeVar",
    }
    | {
        "abs",
        "all",
        "any",
        "asyncio.Lock",
        "attrgetter",
        "auto",
        "bool",
        "bytes",
        "callable",
        "cast",
    }
    | {
        "collections.OrderedDict",
        "collections.defaultdict",
        "collections.deque",
        "collections.namedtuple",
    }
    | {
        "contextvars.ContextVar",
        "ctypes.c_void_p",
        "dataclasses.field",
        "defaultdict",
        "deque",
        "dict",
    }
    | {
        "enum.auto",
        "enumerate",
        "field",
        "float",
        "frozenset",
        "functools.partial",
        "getLogger",
        "getattr",
    }
    | {
        "hasattr",
        "importlib.util.find_spec",
        "inspect.signature",
        "int",
        "isinstance",
        "issubclass",
    }
    | {
        "itemgetter",
        "iter",
        "len",
        "list",
        "logging.getLogger",
        "map",
        "math.log",
        "math.sqrt",
        "max",
        "min",
    }
    | {
        "namedtuple",
        "object",
        "operator.attrgetter",
        "operator.itemgetter",
        "os.environ.get",
        "os.getenv",
    }
    | {
        "os.path.abspath",
        "os.path.basename",
        "os.path.dirname",
        "os.path.expanduser",
        "os.path.join",
    }
    | {
        "partial",
        "pathlib.Path",
        "property",
        "pydantic.ConfigDict",
        "range",
        "re.compile",
        "re.escape",
    }
    | {
        "reversed",
        "round",
        "set",
        "sorted",
        "str",
        "string.Template",
        "struct.Struct",
        "struct.calcsize",
    }
    | {"sum", "super", "textwrap.dedent", "threading.Lock", "threading.RLock", "threading.local"}
    | {"time.perf_counter", "time.time", "tl.constexpr", "torch.cuda.is_available", "torch.device"}
    | {"torch.finfo", "torch.iinfo", "tuple", "type", "typing.TypeVar", "typing.cast"}
    | {"weakref.WeakKeyDictionary", "weakref.WeakValueDictionary", "zip"}
)
"""Functions and classes that make a value and nothing else, as they are written."""
_PURE_METHODS = frozenset(
    {
        "copy",
        "count",
        "decode",
        "difference",
        "encode",
        "endswith",
        "format",
        "index",
        "intersection",
    }
    | {
        "items",
        "join",
        "keys",
        "lower",
        "lstrip",
        "replace",
        "rstrip",
        "split",
        "startswith",
        "strip",
        "union",
    }
    | {"upper", "values", "with_suffix"}
)
_CALLING = frozenset({"map", "max", "min", "sorted"})
"""Functions that call what they are given."""
_BY_HAND = frozenset(
    {
        "lru_cache",
        "functools.lru_cache",
        "functools.cache",
        "torch.compile",
        "triton.jit",
        "triton.autotune",
    }
)
"""Decorators that change nothing of what they are given: called by hand, they make a value like any
other function.
"""
_OWN_MAKING = frozenset(
    {"__new__", "__setattr__", "__getattribute__", "__getattr__", "__del__", "__set_name__"}
)
"""Methods by which making an object, or storing in it, is not what Python does by itself, or losing
it does something.
"""


Own = frozenset[str]
"""Names of a module that are bound to what the tree defines: they say nothing by their spelling."""


def hands_back(decorator: ast.expr) -> bool:
    """True for a decorator that hands the definition back and tells nobody else of it, whatever
    making it does.
    """
    name = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
    return name.endswith((".setter", ".getter", ".deleter")) or any(
        name == w or (name.endswith("." + w) and name.count(".") <= 2) for w in _WRAPPERS
    )


def only_wraps(decorator: ast.expr, own: Own = frozenset()) -> bool:
    """Return the same where making the decorator does nothing else either."""
    return wrapping_calls(decorator, own) == frozenset()


def is_wrapper(value: ast.expr) -> bool:
    """True for a decorator that is made here, to be applied by its name: ``tuned =
    triton.autotune(configs=...)``.
    """
    return isinstance(value, ast.Call) and not value.args and dotted(value.func) in _BY_HAND


def wrapping_calls(decorator: ast.expr, own: Own = frozenset()) -> frozenset[str] | None:
    """Find what must be pure for a decorator to hand the definition back and tell nobody else of
    it.

    Args:
        decorator: as it is written, perhaps a call.
        own: names of its module that the tree defines.

    Returns:
        Names of the module whose calls must be pure; None where no name can say it.
    """
    made = decorator.func if isinstance(decorator, ast.Call) else decorator
    of_property = dotted(made).endswith((".setter", ".getter", ".deleter"))
    if not hands_back(decorator) or (first_name(made) in own and not of_property):
        return frozenset({decorator.id}) if isinstance(decorator, ast.Name) else None
    given = (
        [*decorator.args, *(k.value for k in decorator.keywords)]
        if isinstance(decorator, ast.Call)
        else []
    )
    return joined(open_calls(argument, own) for argument in given)


def open_calls(node: ast.expr, own: Own = frozenset()) -> frozenset[str] | None:
    """Find what must be pure for an expression to make a value and do nothing else.

    `[field(name), helper()]` needs that `helper` is pure. Where the module has a `field` of the
    tree, it needs that of `field`, too; and of `own.copy()` that no class of the tree has a method
    of this name.

    Returns:
        Names of the module whose calls must be pure, and names of methods with a dot before them;
        None where the expression does more, or no name can say it.
    """
    found: set[str] = set()
    bound: set[str] = set()
    for part in evaluated(node):
        match part:
            case ast.Await() | ast.Yield() | ast.YieldFrom() | ast.NamedExpr():
                return None
            case ast.comprehension():
                bound.update(name.id for name in walk(part.target) if isinstance(name, ast.Name))
            case ast.Call() if _is_known(part):
                if last_name(part.func) in _CALLING:
                    given = (*part.args, *(keyword.value for keyword in part.keywords))
                    found.update(
                        each.id for each in given if isinstance(each, ast.Name) and each.id in own
                    )
                if first_name(part.func) not in own:
                    continue
                match part.func:
                    case ast.Name(id=name):
                        found.add(name)
                    case ast.Attribute(attr=method) if method in _PURE_METHODS:
                        found.add(f".{method}")
                    case _:
                        return None
            case ast.Call():
                if not isinstance(part.func, ast.Name):
                    return None
                found.add(part.func.id)
    return frozenset(found) if found.isdisjoint(bound) else None


def joined(parts: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    """Return what all parts need; None where one is impure whatever the names stand for."""
    found: set[str] = set()
    for part in parts:
        if part is None:
            return None
        found |= part
    return frozenset(found)


def _is_known(call: ast.Call) -> bool:
    """True for a call that makes a value and nothing else, by its name alone."""
    match call.func:
        case ast.Call(func=decorator):
            # ``lru_cache(maxsize=1)(f)``: a decorator that is called by hand.
            return dotted(decorator) in _BY_HAND
        case ast.Attribute(attr=method) if method in _PURE_METHODS:
            return True
        case ast.Name(id="type"):
            # With bases it makes a class, which may tell others of it.
            return len(call.args) == 1
    name = dotted(call.func)
    return name in _PURE_FUNCTIONS or name in _BY_HAND or name.startswith("triton.Config")


def function_calls(
    node: Function, made: str = "", fixed: frozenset[str] = frozenset(), own: Own = frozenset()
) -> tuple[str, ...] | None:
    """Return names of its module, sorted, that a function calls where calling it makes a value and
    does nothing else; None where it may do more.

    Args:
        made: the parameter whose attributes it may set: the object that is being made.
        fixed: attributes of that object that may not be set: setting one may call something.
        own: names of its module that the tree defines.
    """
    # What a decorator hands back may do more than the function.
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return None

    def is_place(target: ast.expr) -> bool:
        match target:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                return name == made and attribute not in fixed
        return isinstance(target, ast.Name)

    parts = joined(_statement(statement, is_place, own) for statement in node.body)
    if (
        parts is None
        or is_generator(node)
        or not parts.isdisjoint(parameters_of(node.args) | bound_by(*node.body))
    ):
        return None
    return tuple(sorted(parts))


def class_calls(node: ast.ClassDef, own: Own = frozenset()) -> tuple[str, ...] | None:
    """Return the same of making an object of a class that inherits from nothing and is made as
    Python makes classes.
    """
    methods = [s for s in node.body if isinstance(s, Function)]
    if (
        node.bases
        or node.keywords
        or node.decorator_list
        or any(method.name in _OWN_MAKING for method in methods)
    ):
        return None
    match [method for method in methods if method.name == "__init__"]:
        case []:
            return ()
        case [init] if parameters := [*init.args.posonlyargs, *init.args.args]:
            return function_calls(init, parameters[0].arg, bound_by(*node.body), own)
    return None


def _statement(
    node: ast.stmt, is_place: Callable[[ast.expr], bool], own: Own = frozenset()
) -> frozenset[str] | None:
    """Return names whose calls must be pure for a statement to set such targets and do nothing
    else.
    """
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Nonlocal():
            return frozenset()
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            defaults = (*node.args.defaults, *filter(None, node.args.kw_defaults))
            decorators = (wrapping_calls(decorator, own) for decorator in node.decorator_list)
            return joined((*decorators, *(open_calls(default, own) for default in defaults)))
        case ast.Assign(targets=targets, value=value) if all(map(is_place, targets)):
            return open_calls(value, own)
        case ast.AnnAssign(target=target) if not is_place(target):
            return None
        case ast.Return(value=value) | ast.AnnAssign(value=value):
            return open_calls(value, own) if value is not None else frozenset()
        case ast.If():
            blocks = (
                _statement(statement, is_place, own) for statement in (*node.body, *node.orelse)
            )
            return joined((open_calls(node.test, own), *blocks))
    return None


def bound_by(*body: ast.stmt) -> frozenset[str]:
    """Return names that statements bind around them; definitions inside are one name."""
    found = collect(body, "")
    return frozenset((*found.names, *found.declared))


def is_inert(tree: ast.Module) -> bool:
    """Tell whether importing a module does nothing but import, define, and make values, whatever is
    decided in it.
    """
    return not any(
        isinstance(s, ast.Try) or (isinstance(s, ast.If) and not _typing_only(s)) or acts(s)
        for s in tree.body
    )


def acts(node: ast.stmt) -> bool:
    """True for a statement of a module or class that may do something besides binding names."""
    return acting_calls(node) != frozenset()


def acting_calls(node: ast.stmt, own: Own = frozenset()) -> frozenset[str] | None:
    """Find what must be pure for a statement of a module or class to bind names and do nothing
    else.

    Returns:
        As `open_calls` does.
    """
    match node:
        case ast.Import() | ast.ImportFrom():
            return frozenset()
        case ast.Expr(value=value):
            return open_calls(value, own)
        case ast.ClassDef():
            if not all(dotted(k.value).rpartition(".")[2] == "ABCMeta" for k in node.keywords):
                return None
            decorators = (wrapping_calls(decorator, own) for decorator in node.decorator_list)
            bases = (open_calls(base, own) for base in node.bases)
            return joined((*decorators, *bases, *(acting_calls(part, own) for part in node.body)))
        case ast.If():
            if _typing_only(node):
                return frozenset()
            inside = (acting_calls(part, own) for part in (*node.body, *node.orelse))
            return joined((open_calls(node.test, own), *inside))
        case ast.Try():
            handled = [part for handler in node.handlers for part in handler.body]
            parts = (*node.body, *handled, *node.orelse, *node.finalbody)
            return joined(acting_calls(part, own) for part in parts)
    return _statement(node, unpacks, own)


def unpacks(target: ast.expr) -> bool:
    """True for a target that is a name, or a tuple of names."""
    return all(
        isinstance(part, ast.Name)
        for part in (target.elts if isinstance(target, ast.Tuple) else (target,))
    )


def _typing_only(node: ast.If) -> bool:
    return not node.orelse and is_type_checking(node.test)
