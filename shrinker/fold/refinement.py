"""What the rounds over all modules found out about one (`Refinement`), put into effect: reads of
attributes with one value are that literal, stores that nobody reads go, and so does what nothing
reachable names.
"""

import ast
from collections import defaultdict

from shrinker.facts.lattice import Decided, Known
from shrinker.fold.context import Context, filled
from shrinker.fold.exports import drop_entries, entries
from shrinker.fold.messages import no_program
from shrinker.syntax.control import is_main
from shrinker.syntax.imports import Import, absolute
from shrinker.syntax.names import assigned
from shrinker.syntax.ranges import extent, first_line, span
from shrinker.syntax.side_effects import bound_by
from shrinker.syntax.walk import BLOCKS_OF, Function, walk
from shrinker.values.edits import DropElse, LoadModule, Span

_CONSTANT, _UNREACHABLE = "attribute-constant", "unreachable"
"""Rules that decisions tell."""


def decide_attributes(
    tree: ast.Module, attributes: frozenset[tuple[str, str, str]], decided: Decided
) -> None:
    """Note on each read of such an attribute (class, name, literal) what it is; folding
    acts on it.
    """
    by_class: defaultdict[str, dict[str, Known]] = defaultdict(dict)
    for owner, name, text in attributes:
        by_class[owner][name] = Known(ast.literal_eval(text), True, frozenset({_CONSTANT}))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in by_class:
            for method in node.body:
                if isinstance(method, Function) and method.args.args:
                    _decide_in(method, by_class[node.name], decided)


def _decide_in(method: Function, values: dict[str, Known], decided: Decided) -> None:
    own, parts = method.args.args[0], [*walk(method)]
    bases: set[ast.expr] = set()
    for part in parts:
        match part:
            case ast.Name(id=own.arg, ctx=ast.Store()):
                return
            case ast.arg(arg=own.arg) if part is not own:
                return
            case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Call(func=value):
                # `self.a.b`: not for the sake of writing `None.b`.
                bases.add(value)
    for part in parts:
        match part:
            case ast.Attribute(value=ast.Name(id=own.arg), attr=name, ctx=ast.Load()) if (
                part not in bases
            ):
                if name in values:
                    decided[part] = values[name]


def drop_stores(tree: ast.Module, context: Context, names: frozenset[str]) -> None:
    """Delete the assignments of a constant to these attributes."""
    stack: list[ast.AST] = [tree] if names else []
    while stack:
        node = stack.pop()
        for field in BLOCKS_OF[node.__class__]:
            body = getattr(node, field)
            stack.extend(body)
            stores = [s for s in body if field not in ("handlers", "cases") and _is_store(s, names)]
            if not stores or (
                len(stores) == len(body) and not isinstance(node, ast.FunctionDef | ast.ClassDef)
            ):
                continue
            for statement in stores:
                context.forget(statement)
                context.sweep(statement, "attribute", {_CONSTANT})
            setattr(node, field, filled([s for s in body if s not in stores]))


def _is_store(node: ast.stmt, names: frozenset[str]) -> bool:
    match assigned(node):
        case ast.Attribute(value=ast.Name(), attr=name), ast.Constant():
            return name in names
    return False


def drop_unreachable(
    tree: ast.Module, context: Context, dead: frozenset[Span], loads: frozenset[Span]
) -> None:
    """Delete statements, names of imports and entries of ``__all__`` by their position, after
    everything else was folded.

    Args:
        tree: the module; it is changed.
        context: gets the edits.
        dead: places of what goes.
        loads: places of those names of imports of which the module is loaded all the same.
    """
    if not dead:
        return
    before = bound_by(*tree.body)
    tree.body = [
        _load(node, context) if _is_load(node, dead, loads) else node for node in tree.body
    ]
    tree.body = _left(tree.body, context, dead)
    gone = set(before - bound_by(*tree.body))
    gone.update(name for name, place in entries(tree) if place in dead)
    drop_entries(tree, context, gone)
    context.settle()


def _is_load(node: ast.stmt, dead: frozenset[Span], loads: frozenset[Span]) -> bool:
    """Tell whether nothing but the loading of a module is left of an import."""
    if not isinstance(node, ast.ImportFrom):
        return False
    places = {span(alias) for alias in node.names}
    return places <= dead and not places.isdisjoint(loads)


def _load(node: ast.stmt, context: Context) -> ast.stmt:
    """Put an import of the module alone in the place of an import of its names."""
    assert isinstance(node, ast.ImportFrom)
    module = absolute(node.module, node.level, context.package)
    _forget(node, context)
    context.forget(*node.names)
    context.edits.append(LoadModule(span(node), module))
    context.decide(node, "import", {_UNREACHABLE}, "loads", 0)
    alias = ast.copy_location(ast.alias(module), node)
    # Where a name was, a place is needed that no dead one has.
    alias.end_lineno, alias.end_col_offset = node.lineno, node.col_offset
    return ast.copy_location(ast.Import([alias]), node)


def _left(body: list[ast.stmt], context: Context, dead: frozenset[Span]) -> list[ast.stmt]:
    kept: list[ast.stmt] = []
    for node in body:
        aliases = (
            [alias for alias in node.names if span(alias) in dead]
            if isinstance(node, Import)
            else []
        )
        if span(node) in dead and is_main(node):
            kept.append(_refuse(node, context))
            continue
        if span(node) in dead or (isinstance(node, Import) and len(aliases) == len(node.names)):
            _forget(node, context)
            context.forget(node)
            context.sweep(node, "symbol", {_UNREACHABLE})
            continue
        match node:
            case ast.Import() | ast.ImportFrom():
                context.drop_aliases(node, [(alias, {_UNREACHABLE}) for alias in aliases])
            case ast.ClassDef():
                node.body = filled(_left(node.body, context, dead))
            case ast.If():
                whole = _goes_whole(node, context, dead)
                node.body = filled(_left(node.body, context, dead))
                if whole:
                    context.edits.append(DropElse(span(node)))
                    context.decide(
                        node.orelse[0], "symbol", {_UNREACHABLE}, "removed", extent(node.orelse)
                    )
                    node.orelse = []
                elif node.orelse:
                    node.orelse = filled(_left(node.orelse, context, dead))
        kept.append(node)
    return kept


def _goes_whole(node: ast.If, context: Context, dead: frozenset[Span]) -> bool:
    """True for an `else` that goes and that folding left as upstream wrote it."""
    if not node.orelse or any(span(part) not in dead for part in node.orelse):
        return False
    body, whole = span(node.body[-1]), span(node)
    return not any(body.after <= edit.span and _within(edit.span, whole) for edit in context.edits)


def _refuse(node: ast.If, context: Context) -> ast.If:
    """Return the named error for what would run as a program: without it, running the module would
    do nothing and say nothing.
    """
    _forget(node, context)
    context.forget(*node.body)
    # Folding may have dropped the first statement, or taken it out of a block: upstream's own is
    # where the error stands.
    body = context.as_written(node).body
    node.body = context.raises(body, "program", _UNREACHABLE, no_program(context.module))
    return node


def _forget(node: ast.stmt, context: Context) -> None:
    """What folding did inside a statement that goes needs not be done, nor told."""
    first, whole = first_line(node), span(node)
    context.decisions = [
        each for each in context.decisions if not first <= each.line <= whole.end_line
    ]
    context.uncertain = [
        each for each in context.uncertain if not first <= each.line <= whole.end_line
    ]
    # Another statement may stand before it on its line; a decorator begins one.
    column = node.col_offset if first == node.lineno else 0
    start = Span(first, column, first, column)
    # A block that took the place of its statement is around it.
    context.edits = [
        e for e in context.edits if not (start <= e.span < whole.after and _within(e.span, whole))
    ]


def _within(inner: Span, outer: Span) -> bool:
    return (inner.end_line, inner.end_col) <= (outer.end_line, outer.end_col)
