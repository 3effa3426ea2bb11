"""Parameters that nothing reads any more: they leave their signature, and their arguments the calls.

Only parameters are looked at whose name folding dropped a use of. An argument goes only where it is given by keyword and
where it does nothing but read; one call that gives it in another way, or that may call something else, and all stay.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from shrinker.facts.lattice import Ref
from shrinker.fold.context import Context
from shrinker.fold.propagate.calls import ANYTHING, OPEN, calls_of, items_of, shapes_of
from shrinker.fold.propagate.names import is_own_name
from shrinker.fold.propagate.parameters import SAME_PARAMETERS, is_closed
from shrinker.fold.propagate.world import World
from shrinker.syntax.control import READ_ALL_LOCALS
from shrinker.syntax.names import dotted
from shrinker.syntax.ranges import span
from shrinker.syntax.walk import Function, walk
from shrinker.values.edits import DropElement, Span
from shrinker.values.folded import FoldedModule
from shrinker.values.usage import words_in

_RULE = "unread-parameter"
_WORDS = re.compile(r"\w+")
_CONSTRUCTOR = "__init__"
_COPIES = frozenset({"__new__", "__reduce__", "__reduce_ex__", "__getnewargs__", "__getnewargs_ex__", "__class__"})
"""A class that mentions one of these may make instances without its name."""


# What one folded module says


def unread_parameters(tree: ast.Module, context: Context) -> set[str]:
    """Parameters that their body does not read, as words of `Usage.unread`: only of functions that folding changed."""
    found: set[str] = set()
    lost, lines = context.lost, context.lines
    for node in tree.body:
        if isinstance(node, Function | ast.ClassDef) and not context.is_edited(node):
            continue
        if isinstance(node, Function):
            found.update(f"{node.name}:{word}" for word in _unread(node, lost, lines, 0))
        elif isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, Function) and context.is_edited(method):
                    static = any(dotted(d) == "staticmethod" for d in method.decorator_list)
                    words = list(_unread(method, lost, lines, 0 if static else 1))
                    if words and method.name == _CONSTRUCTOR and (node.decorator_list or _makes_itself(node)):
                        continue
                    found.update(f"{node.name}.{method.name}:{word}" for word in words)
    return found


def _unread(node: Function, lost: set[str], lines: list[str], receives: int) -> Iterator[str]:
    """``name:2``: how many arguments a call may give by position; ``name:*`` when it may be any number."""
    names = [*node.args.args, *node.args.kwonlyargs]
    if lost.isdisjoint(a.arg for a in names):
        return
    decorators = {dotted(d.func if isinstance(d, ast.Call) else d).rpartition(".")[2] for d in node.decorator_list}
    if not decorators <= SAME_PARAMETERS:
        return
    reads: set[str] = set()
    for part in (p for statement in node.body for p in walk(statement)):
        if isinstance(part, ast.Name):
            reads.add(part.id)
        elif isinstance(part, ast.Yield | ast.YieldFrom | ast.Global | ast.Nonlocal):
            # Folding may still take back what it did to such a function.
            return
    if not reads.isdisjoint(READ_ALL_LOCALS):
        return
    # What the body itself never said is upstream's own.
    head = [part.end_lineno or 0 for part in walk(node.args) if isinstance(part, ast.expr | ast.arg)]
    lost = lost.intersection(_WORDS.findall("\n".join(lines[max([node.lineno, *head]) : node.end_lineno])))
    before = len(node.args.posonlyargs)
    for index, argument in enumerate(node.args.args):
        if index + before >= receives and argument.arg in lost and argument.arg not in reads:
            yield f"{argument.arg}:{index + before - receives}"
    only = [a.arg for a in node.args.kwonlyargs if a.arg in lost and a.arg not in reads]
    if node.args.vararg is not None or len(only) < len(node.args.kwonlyargs):
        # A bare `*` needs a parameter after it.
        yield from (f"{name}:*" for name in only)


def _makes_itself(node: ast.ClassDef) -> bool:
    constructors = sum(isinstance(s, Function) and s.name == _CONSTRUCTOR for s in node.body)
    return constructors != 1 or any(
        (isinstance(part, ast.Attribute) and part.attr in _COPIES)
        or (isinstance(part, Function) and part.name in _COPIES)
        or (isinstance(part, ast.Name) and part.id == "cls")
        or (
            isinstance(part, ast.Call)
            and dotted(part.func) == "type"
            and (not part.args or dotted(part.args[0]) == "self")
        )
        for part in walk(node)
    )


# What all kept modules together say


def find_unpassed(world: World) -> tuple[dict[str, set[tuple[str, str]]], dict[str, set[tuple[str, str]]]]:
    """Parameters that may go.

    Returns:
        By path of a module: definition and parameter; name that is called, and keyword.
    """
    parameters: dict[str, set[tuple[str, str]]] = {}
    arguments: dict[str, set[tuple[str, str]]] = {}
    unread: list[tuple[FoldedModule, str, str, str]] = []
    for module in world.modules:
        for word in words_in(module.usage.unread):
            qualified, name, limit = word.split(":")
            if name not in world.texts and not world.computes_text(name):
                unread.append((module, qualified, name, limit))
    if not unread:
        return parameters, arguments
    classes = {q.partition(".")[0] for _, q, _, _ in unread if q.endswith(f".{_CONSTRUCTOR}")}
    functions = {q.rpartition(".")[2] for _, q, _, _ in unread} - {_CONSTRUCTOR}
    definitions: dict[str, int] = {}
    fixed: set[str] = set()
    for module in world.modules:
        fixed.update(words_in(module.usage.fixed), words_in(module.usage.mixed))
        for qualified in words_in(module.usage.free):
            name = qualified.rpartition(".")[2]
            definitions[name] = definitions.get(name, 0) + 1
    shapes = {False: shapes_of(world, functions), True: shapes_of(world, classes, classes=True)}
    nameless = shapes_of(world, {ANYTHING, "cls"})
    loose = {item.partition("=")[0] for known in nameless.values() for shape in known for item in items_of(shape)}
    for module, qualified, name, limit in sorted(unread, key=lambda u: (u[0].path, *u[1:])):
        owner, _, last = qualified.rpartition(".")
        constructor = last == _CONSTRUCTOR
        called = owner if constructor else last
        known = shapes[constructor][called]
        if (
            definitions.get(called) == 1
            and called not in fixed
            and called not in world.outside
            and not world.computes(called)
            and name not in loose
            and _all_by_keyword(known, name, limit)
            and _is_alone(world, module, owner, called, constructor)
            and _are_its_calls(world, module, owner, called, name, known, constructor)
        ):
            parameters.setdefault(module.path, set()).add((qualified, name))
            for caller in world.modules:
                if called in world.words_of(caller) or caller is module:
                    arguments.setdefault(caller.path, set()).add((called, name))
    return parameters, arguments


def _all_by_keyword(shapes: set[str], name: str, limit: str) -> bool:
    """True when every call gives the argument by keyword, or not at all, and as something that only reads."""
    if OPEN in shapes:
        return False
    for shape in shapes:
        items = items_of(shape)
        if limit != "*" and sum("=" not in item for item in items) > int(limit):
            return False
        if any(item.partition("=")[::2] == (name, "*") for item in items):
            return False
    return True


def _is_alone(world: World, module: FoldedModule, owner: str, called: str, constructor: bool) -> bool:
    if constructor:
        qualified = f"{module.module}.{owner}"
        return (
            called not in world.public
            and not world.hierarchy.descendants(qualified)
            and not world.hierarchy.has_foreign_base(qualified)
        )
    return is_closed(world, module.module, owner, called)


def _are_its_calls(
    world: World, module: FoldedModule, owner: str, called: str, name: str, shapes: set[str], constructor: bool
) -> bool:
    """True when calls give the argument, each of them certainly one of this definition."""
    given = {shape for shape in shapes if any(item.startswith(f"{name}=") for item in items_of(shape))}
    if not given:
        return False
    if any(shape.startswith("(.") for shape in given) and (constructor or not is_own_name(called)):
        return False
    bare = any(not shape.startswith("(.") for shape in given)
    if bare and owner and not constructor:
        return False
    environment = world.environment
    for caller in world.modules if bare else ():
        if given.isdisjoint(calls_of(world, caller, called)):
            continue
        outline = environment.outlines.get(caller.module)
        if outline is None:
            return False
        sources = {(source, called) for source, imported, bound in outline.aliases if bound == called}
        if not sources or called in outline.names:
            sources.add((caller.module, called))
        if any(environment.resolve(*source) != Ref(f"{module.module}.{called}") for source in sources):
            return False
    return True


# Folding with it


def drop_parameters(
    tree: ast.Module,
    context: Context,
    parameters: frozenset[tuple[str, str]],
    arguments: frozenset[tuple[str, str]],
) -> None:
    """Delete these parameters and arguments from a folded module."""
    if not parameters and not arguments:
        return
    for node in walk(tree):
        if isinstance(node, ast.Call):
            callee = node.func.value if isinstance(node.func, ast.Subscript) else node.func
            name = getattr(callee, "id", "") or getattr(callee, "attr", "")
            for keyword in node.keywords:
                if (name, keyword.arg) in arguments:
                    context.forget(keyword.value)
                    context.edits.append(DropElement(span(keyword), "Call"))
                    context.decide(keyword, "argument", {_RULE}, "removed", 0)
            node.keywords = [k for k in node.keywords if (name, k.arg) not in arguments]
    for node in tree.body:
        if isinstance(node, Function):
            _drop_from(node, {p for q, p in parameters if q == node.name}, context)
        elif isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, Function):
                    qualified = f"{node.name}.{method.name}"
                    _drop_from(method, {p for q, p in parameters if q == qualified}, context)


def _drop_from(node: Function, names: set[str], context: Context) -> None:
    arguments = node.args
    for argument in (*arguments.args, *arguments.kwonlyargs):
        if argument.arg in names:
            context.forget(argument)
            place = Span(
                argument.lineno, argument.col_offset, argument.lineno, argument.col_offset + len(argument.arg.encode())
            )
            context.edits.append(DropElement(place, "parameter"))
            context.decide(argument, "parameter", {_RULE}, "removed", 0)
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [*([None] * (len(positional) - len(arguments.defaults))), *arguments.defaults]
    kept = [(a, d) for a, d in zip(positional, defaults, strict=True) if a.arg not in names]
    for _, default in (r for r in zip(positional, defaults, strict=True) if r[0].arg in names):
        if default is not None:
            context.forget(default)
    arguments.args = [a for a, _ in kept[len(arguments.posonlyargs) :]]
    arguments.defaults = [d for _, d in kept if d is not None]
    only = [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if a.arg not in names]
    arguments.kwonlyargs, arguments.kw_defaults = [a for a, _ in only], [d for _, d in only]
