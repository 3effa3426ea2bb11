"""Functions, methods and properties that answer one constant after folding: their calls are that constant.

Only results are looked at that folding has made constant somewhere: upstream's own hooks stay. Names are compared, not
objects: one kept definition of the name that answers something else, or one value that is given to the name, and its
calls stay.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from shrinker.facts.decided import Decided
from shrinker.facts.environment import Environment
from shrinker.facts.hierarchy import CALLED_BY_TORCH
from shrinker.facts.lattice import Known, Ref
from shrinker.fold.propagate.names import LITERALS, is_own_name, literal_of, own_parameter, roots_outside
from shrinker.fold.propagate.world import World
from shrinker.fold.reading import Reading
from shrinker.syntax.walk import children, walk
from shrinker.values.edits import Edit
from shrinker.values.folded import FoldedModule
from shrinker.values.usage import words_in

_RULE = "constant-result"
_CACHES = frozenset({"lru_cache", "cache", "staticmethod", "classmethod"})


# What one folded module says


def constant_results(reading: Reading, edits: Iterable[Edit]) -> tuple[set[str], set[str]]:
    """Definitions with a constant result, and names of which the module holds other definitions.

    Args:
        reading: the folded module.
        edits: what folding did.

    Returns:
        Words as in `Usage.results` and `Usage.mixed`.
    """
    places = sorted((e.span.line, e.span.col) for e in edits)
    results: set[str] = set()
    mixed: set[str] = set()
    body = reading.tree.body
    _of_block(body, "", places, results, mixed)
    outer = {id(node) for node in body}
    for node, _ in reading.definitions:
        if isinstance(node, ast.ClassDef):
            outermost = id(node) in outer
            if outermost:
                _of_block(node.body, f"{node.name}.", places, results, mixed)
            mixed |= _bound_in_class(node, definitions=not outermost)
    return results, mixed


def _of_block(
    body: list[ast.stmt], prefix: str, places: list[tuple[int, int]], results: set[str], mixed: set[str]
) -> None:
    seen: set[str] = set()
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if node.name in seen:
            mixed.add(node.name)
        seen.add(node.name)
        found = _result(node) if isinstance(node, ast.FunctionDef) else None
        if found is not None and isinstance(node, ast.FunctionDef):
            results.add(f"{prefix}{node.name}{found}{'!' if _is_changed(node, places) else ''}")


def _bound_in_class(node: ast.ClassDef, *, definitions: bool) -> set[str]:
    """Names that a class body gives a value beside its definitions."""
    found: set[str] = set()
    stack: list[ast.AST] = list(node.body)
    while stack:
        part = stack.pop()
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if definitions:
                found.add(part.name)
        elif isinstance(part, ast.Import | ast.ImportFrom):
            found.update(a.asname or a.name.partition(".")[0] for a in part.names)
        elif isinstance(part, ast.Name):
            if isinstance(part.ctx, ast.Store):
                found.add(part.id)
        elif not isinstance(part, ast.Lambda):
            stack.extend(children(part))
    return found


def _result(node: ast.FunctionDef) -> str | None:
    """``()=False`` of a function, ``=False`` of a property; None when the result is open."""
    names = [
        d.id if isinstance(d, ast.Name) else getattr(getattr(d, "func", d), "attr", "") for d in node.decorator_list
    ]
    kind = "()"
    if names == ["property"]:
        kind = ""
    elif not _CACHES.issuperset(names) or (node.name.startswith("__") and node.name.endswith("__")):
        return None
    body = node.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    body = [s for s in body if not isinstance(s, ast.Pass)]
    match body:
        case [] | [ast.Return(value=None)]:
            return f"{kind}=None"
        case [ast.Return(value=ast.Constant() as value)] if (text := literal_of(value)) is not None:
            return f"{kind}={text}"
    return None


def _is_changed(node: ast.FunctionDef, places: list[tuple[int, int]]) -> bool:
    """True when folding edited the body."""
    arguments = node.args
    head = [*walk(arguments), *([node.returns] if node.returns is not None else [])]
    after = max(
        [(n.end_lineno or 0, n.end_col_offset or 0) for n in head if isinstance(n, ast.expr | ast.arg)],
        default=(node.lineno, node.col_offset + 1),
    )
    return any(after < place and place[0] <= (node.end_lineno or 0) for place in places)


# What all kept modules together say


def find_results(world: World) -> dict[str, set[tuple[str, str]]]:
    """Calls and properties that are one constant, by path of the module that holds them.

    Returns:
        What is called, and the value: ``f()`` a function by its name, ``Class.m()`` what a method of a class calls on
        itself, ``.m()`` a method of any receiver; without brackets a property.
    """
    found: dict[str, dict[tuple[str, str], tuple[str, str]]] = {}
    changed: set[str] = set()
    mixed: set[str] = set()
    for module in world.modules:
        mixed.update(words_in(module.usage.mixed), words_in(module.usage.fixed))
        for word in words_in(module.usage.results):
            qualified, _, value = word.partition("=")
            kind = "()" if qualified.endswith("()") else ""
            qualified = qualified.removesuffix("()")
            name = qualified.rpartition(".")[2]
            found.setdefault(name, {})[module.path, qualified] = kind, value.rstrip("!")
            if value.endswith("!"):
                changed.add(name)
    wanted = {
        n
        for n in changed
        if n not in mixed
        and n not in CALLED_BY_TORCH
        and n not in world.texts
        and len(set(found[n].values())) == 1
        and not world.may_store(n)
    }
    for module in world.modules:
        for qualified in words_in(module.usage.free):
            name = qualified.rpartition(".")[2]
            if name in wanted and (module.path, qualified) not in found[name]:
                wanted.discard(name)
    by_path = {module.path: module for module in world.modules}
    results: dict[str, set[tuple[str, str]]] = {}
    for name in sorted(wanted):
        owners = {(by_path[path], q.rpartition(".")[0]) for path, q in found[name]}
        _spread(world, name, *next(iter(found[name].values())), owners, results)
    return results


def _spread(
    world: World,
    name: str,
    kind: str,
    value: str,
    owners: set[tuple[FoldedModule, str]],
    results: dict[str, set[tuple[str, str]]],
) -> None:
    """Add what is known to the modules that mention the name."""
    classes = {f"{module.module}.{own}" for module, own in owners if own}
    if not name.startswith("_") and any(own in world.public_classes for _, own in owners if own):
        # People may inherit from it.
        return
    specs: dict[str | None, set[str]] = {}
    if kind and any(not own for _, own in owners):
        specs[None] = {f"{name}{kind}"}
    if classes and is_own_name(name) and not any(world.hierarchy.has_foreign_base(c) for c in classes):
        specs.setdefault(None, set()).add(f".{name}{kind}")
    for qualified in {*classes, *(d for c in classes for d in world.hierarchy.descendants(c))}:
        if not world.hierarchy.is_called_from_outside(qualified):
            around, _, own = qualified.rpartition(".")
            specs.setdefault(around, set()).add(f"{own}.{name}{kind}")
    for module in world.modules:
        known = specs.get(None, set()) | specs.get(module.module, set())
        if known and name in world.words_of(module):
            results.setdefault(module.path, set()).update((spec, value) for spec in known)


# Folding with it


def decide_results(
    tree: ast.Module, module: str, environment: Environment, results: frozenset[tuple[str, str]], decided: Decided
) -> set[str]:
    """Note on each such call or read what it is; folding acts on it.

    Returns:
        The names that were looked for.
    """
    if not results:
        return set()
    values = {spec: Known(LITERALS[text], True, frozenset({_RULE})) for spec, text in results}
    found = dict(_calls(tree, module, environment, values))
    found.update(_own_calls(tree, values))
    if found:
        bases, operands = _uses(tree)
        for node, value in found.items():
            if id(node) not in bases and not (value.value is None and id(node) in operands):
                decided.note(node, value)
    return {spec.removesuffix("()").rpartition(".")[2] for spec in values}


def _calls(
    tree: ast.Module, module: str, environment: Environment, values: dict[str, Known]
) -> Iterator[tuple[ast.expr, Known]]:
    """Calls of such functions, and what is asked of any receiver."""
    bound: dict[str, list[ast.FunctionDef | ast.alias | None]] | None = None
    outside: set[str] | None = None
    for node in walk(tree):
        if not isinstance(node, ast.Call | ast.Attribute):
            continue
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = node.func.id
            if f"{name}()" in values:
                bound = _bindings(tree) if bound is None else bound
                if _is_function(name, module, environment, bound.get(name, [])):
                    yield node, values[f"{name}()"]
        spec, receiver = _asked(node)
        if receiver is not None and f".{spec}" in values:
            outside = roots_outside(tree, module, environment) if outside is None else outside
            if _root(receiver) not in outside:
                yield node, values[f".{spec}"]


def _own_calls(tree: ast.Module, values: dict[str, Known]) -> Iterator[tuple[ast.expr, Known]]:
    """What the methods of a class ask of their own class."""
    owners = {spec.partition(".")[0] for spec in values}
    for owner in tree.body:
        if not isinstance(owner, ast.ClassDef) or owner.name not in owners:
            continue
        for method in owner.body:
            if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            own = own_parameter(method)
            for node in walk(method):
                if isinstance(node, ast.Call | ast.Attribute):
                    spec, receiver = _asked(node)
                    value = values.get(f"{owner.name}.{spec}")
                    if value and receiver and (_is_super(receiver) or (own and _name(receiver) == own)):
                        yield node, value


def _asked(node: ast.AST) -> tuple[str, ast.expr | None]:
    """``m()`` or ``m``, and what it is asked of."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return f"{node.func.attr}()", node.func.value
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        return node.attr, node.value
    return "", None


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return _name(node)


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _name(node.func) == "super" and not node.args


def _uses(tree: ast.Module) -> tuple[set[int], set[int]]:
    """Expressions whose value is used so that some literals fail there.

    Returns:
        What is looked into, called or waited for (`None.b` would be the same error in other words); and what is calculated with
        or run through, which `None` cannot be: such a place is reached where it is something else.
    """
    followed: set[int] = set()
    calculated: set[int] = set()
    for node in walk(tree):
        match node:
            case (
                ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Call(func=value) | ast.Await(value=value)
            ):
                followed.add(id(value))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                followed.update(map(id, node.decorator_list))
            case ast.BinOp(left=left, op=operator, right=right) if not isinstance(operator, ast.BitOr):
                calculated.update((id(left), id(right)))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=value):
                calculated.add(id(value))
            case (
                ast.For(iter=value)
                | ast.AsyncFor(iter=value)
                | ast.comprehension(iter=value)
                | ast.Starred(value=value)
            ):
                calculated.add(id(value))
            case ast.Compare(left=left, ops=operators, comparators=others):
                for before, kind, after in zip([left, *others], operators, others, strict=False):
                    if isinstance(kind, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
                        calculated.update((id(before), id(after)))
                    elif isinstance(kind, ast.In | ast.NotIn):
                        calculated.add(id(after))
    return followed, calculated


def _bindings(tree: ast.Module) -> dict[str, list[ast.FunctionDef | ast.alias | None]]:
    """What binds each name anywhere in a module; None for anything but an import or a function that rounds know."""
    found: dict[str, list[ast.FunctionDef | ast.alias | None]] = {}
    known = {id(n) for n in tree.body} | {id(n) for c in tree.body if isinstance(c, ast.ClassDef) for n in c.body}
    for node in walk(tree):
        match node:
            case ast.FunctionDef() if id(node) in known:
                found.setdefault(node.name, []).append(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.setdefault(node.name, []).append(None)
            case ast.alias():
                found.setdefault(node.asname or node.name.partition(".")[0], []).append(node)
            case ast.Name(id=name) if not isinstance(node.ctx, ast.Load):
                found.setdefault(name, []).append(None)
            case ast.arg(arg=name) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.setdefault(name, []).append(None)
            case ast.ExceptHandler(name=str(name)) | ast.MatchMapping(rest=str(name)):
                found.setdefault(name, []).append(None)
    return found


def _is_function(
    name: str, module: str, environment: Environment, bound: list[ast.FunctionDef | ast.alias | None]
) -> bool:
    """True when the name can only mean a function of the tree that has this name."""
    if any(b is None or getattr(b, "asname", None) for b in bound):
        return False
    sources = {(module, name)}
    for source, imported, as_name in environment.outlines[module].aliases:
        if as_name == name:
            if imported != name:
                return False
            sources.add((source, name))
    if len(sources) > 1 and name not in environment.outlines[module].names:
        sources.discard((module, name))
    for source, own in sources:
        value = environment.resolve(source, own)
        place, _, last = value.name.rpartition(".") if isinstance(value, Ref) else ("", "", "")
        outline = environment.outlines.get(place)
        if outline is None or last != name or name in outline.rebound:
            return False
        if not outline.names.get(name) or any(b.kind != "def" for b in outline.names[name]):
            return False
    return True
