"""Parameters that every call gives the same literal: in the body they are that literal.

Only parameters are looked at for which folding wrote a literal at a call. Names are compared, not objects: every call of
the name anywhere counts, whatever it may call, and one mention of the name that is no call leaves all parameters open.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from shrinker.facts.decided import Decided
from shrinker.facts.environment import Environment
from shrinker.facts.evaluate import evaluate
from shrinker.facts.hierarchy import CALLED_BY_TORCH
from shrinker.facts.lattice import Known
from shrinker.facts.scopes import ModuleScope
from shrinker.fold.propagate.calls import OPEN, items_of, shapes_of
from shrinker.fold.propagate.names import LITERALS, is_own_name, literal_of
from shrinker.fold.propagate.world import World
from shrinker.syntax.control import READ_ALL_LOCALS
from shrinker.syntax.names import dotted
from shrinker.syntax.walk import Function, walk
from shrinker.values.usage import words_in

_RULE = "constant-parameter"
_SHAPES = 64
"""A function called in more different ways is not looked at."""
SAME_PARAMETERS = frozenset(
    {"staticmethod", "classmethod", "lru_cache", "cache", "contextmanager", "asynccontextmanager", "override", "final"}
    | {"no_grad", "inference_mode", "compile", "jit"}
)
"""Last names of decorators that call the function with what they are called with."""


# What all kept modules together say


def find_parameters(world: World) -> dict[str, set[tuple[str, str]]]:
    """Shapes of all calls of the functions that may have a constant parameter, by path of their module.

    Returns:
        ``function`` or ``Class.method``, and a shape.
    """
    candidates = {word.partition("(")[0] for m in world.modules for word in words_in(m.usage.calls) if "!" in word}
    candidates = {n for n in candidates if n not in world.outside and n not in world.texts and not world.computes(n)}
    shapes = shapes_of(world, candidates)
    found: dict[str, set[tuple[str, str]]] = {}
    open_names = {n for n, known in shapes.items() if OPEN in known or len(known) > _SHAPES or not _agree(known)}
    for module in world.modules:
        for qualified in words_in(module.usage.free):
            owner, _, name = qualified.rpartition(".")
            if name in candidates and name not in open_names and is_closed(world, module.module, owner, name):
                found.setdefault(module.path, set()).update((qualified, shape) for shape in shapes[name])
    return found


def _agree(shapes: set[str]) -> bool:
    """True when there is a place at which no two calls give different things, one of them a literal by folding."""
    places: dict[str, set[str]] = {}
    for shape in shapes:
        for index, item in enumerate(items_of(shape)):
            name, equal, value = item.rpartition("=")
            places.setdefault(name if equal else str(index), set()).add(value)
    return any(
        any(v.endswith("!") for v in values) and len({v.rstrip("!") for v in values}) == 1 for values in places.values()
    )


def is_closed(world: World, module: str, owner: str, name: str) -> bool:
    """True when only code of the tree calls it."""
    if name in CALLED_BY_TORCH or name in world.public:
        return False
    if not owner:
        return True
    if owner in world.public_classes and not name.startswith("_"):
        return False
    qualified = f"{module}.{owner}"
    return not world.hierarchy.is_called_from_outside(qualified) or (
        is_own_name(name) and not world.hierarchy.has_foreign_base(qualified)
    )


# Folding with it


def decide_parameters(
    tree: ast.Module, module: str, environment: Environment, calls: frozenset[tuple[str, str]], decided: Decided
) -> set[str]:
    """Note on each read of a constant parameter what it is; folding acts on it.

    Returns:
        The names of these parameters.
    """
    if not calls:
        return set()
    shapes: dict[str, set[str]] = {}
    for qualified, shape in calls:
        shapes.setdefault(qualified, set()).add(shape)
    found: set[str] = set()
    for owner, node in _definitions(tree):
        known = shapes.get(f"{owner}.{node.name}" if owner else node.name)
        if known is not None:
            for name, text in _constants(node, bool(owner), known, None if owner else ModuleScope(environment, module)):
                if _note(node, name, Known(LITERALS[text], True, frozenset({_RULE})), decided):
                    found.add(name)
    return found


def _definitions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    for node in tree.body:
        if isinstance(node, Function):
            yield "", node
        elif isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, Function):
                    yield node.name, method


def _constants(node: Function, method: bool, shapes: set[str], scope: ModuleScope | None) -> Iterator[tuple[str, str]]:
    """Parameters and the texts of their only values."""
    decorators = {dotted(d.func if isinstance(d, ast.Call) else d).rpartition(".")[2] for d in node.decorator_list}
    if not decorators <= SAME_PARAMETERS:
        return
    arguments = node.args
    positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    defaults: dict[str, ast.expr] = dict(
        zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True)
    )
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            defaults[argument.arg] = default
    names = [*positional, *(a.arg for a in arguments.kwonlyargs)]
    receives = method and "staticmethod" not in decorators
    values: dict[str, set[str]] = {name: set() for name in names}
    for shape in shapes:
        for bound in _ways(shape, receives, "classmethod" in decorators):
            given = dict(
                zip(positional, (["*"] if bound else []) + [i for i in items_of(shape) if "=" not in i], strict=False)
            )
            given.update(item.partition("=")[::2] for item in items_of(shape) if "=" in item)
            if method and any(name not in given and name not in defaults for name in names):
                # It is not called in this way: a parameter without a default is missing.
                continue
            for name in names:
                values[name].add(given.get(name) or _default(defaults.get(name), scope))
    for name in names[1:] if receives else names:
        texts = {text.rstrip("!") for text in values[name]}
        if len(texts) == 1 and texts <= LITERALS.keys() and any(text.endswith("!") for text in values[name]):
            yield name, next(iter(texts))


def _ways(shape: str, receives: bool, of_class: bool) -> tuple[bool, ...]:
    """Whether the first parameter comes beside the arguments; both for ``x.m()``, which may be ``Class.m(x)``."""
    if not receives:
        return (False,)
    return (True,) if of_class else (True, False)


def _default(node: ast.expr | None, scope: ModuleScope | None) -> str:
    text = literal_of(node)
    if node is None or text is not None or scope is None:
        return text or "*"
    value = evaluate(node, scope)
    if isinstance(value, Known) and value.exact and (value.value is None or isinstance(value.value, bool)):
        return f"{value.value!r}!"
    return "*"


def _note(node: Function, name: str, value: Known, decided: Decided) -> bool:
    """Note the value on the reads of a parameter; False when its body gives the name another value."""
    reads: list[ast.Name] = []
    followed: set[int] = set()
    own = [a for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs) if a.arg == name]
    for part in (p for statement in node.body for p in walk(statement)):
        match part:
            case ast.Name(id=found) if found == name:
                if not isinstance(part.ctx, ast.Load):
                    return False
                reads.append(part)
            case ast.Name(id=found) if found in READ_ALL_LOCALS:
                return False
            case ast.arg(arg=found) | ast.ExceptHandler(name=found) | ast.MatchAs(name=found) if found == name:
                return False
            case ast.MatchStar(name=found) | ast.MatchMapping(rest=found) if found == name:
                return False
            case ast.FunctionDef(name=found) | ast.AsyncFunctionDef(name=found) | ast.ClassDef(name=found) if (
                found == name
            ):
                return False
            case ast.alias() if (part.asname or part.name.partition(".")[0]) == name:
                return False
            case ast.Global(names=names) | ast.Nonlocal(names=names) if name in names:
                return False
            case ast.Attribute(value=base) | ast.Subscript(value=base) | ast.Call(func=base):
                followed.add(id(base))
    if len(own) != 1:
        return False
    for read in reads:
        if id(read) not in followed:
            decided.note(read, value)
    return bool(reads)
