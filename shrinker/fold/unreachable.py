"""Deletes what nothing reachable names, after a module is folded."""

import ast

from shrinker.fold.context import Context, filled
from shrinker.fold.exports import drop_entries, entries
from shrinker.fold.messages import no_program
from shrinker.syntax.control import is_main
from shrinker.syntax.imports import Import
from shrinker.syntax.ranges import extent, first_line, span
from shrinker.syntax.side_effects import bound_by
from shrinker.values.edits import DropElse, Span

_RULE = "unreachable"


def drop_unreachable(tree: ast.Module, context: Context, dead: frozenset[Span]) -> None:
    """Delete statements, names of imports and entries of ``__all__`` by their position, after everything else was folded."""
    if not dead:
        return
    before = bound_by(*tree.body)
    tree.body = _without(tree.body, context, dead)
    gone = set(before - bound_by(*tree.body))
    gone.update(name for name, place in entries(tree) if place in dead)
    drop_entries(tree, context, gone)
    context.settle()


def _without(body: list[ast.stmt], context: Context, dead: frozenset[Span]) -> list[ast.stmt]:
    kept: list[ast.stmt] = []
    for node in body:
        aliases = [alias for alias in node.names if span(alias) in dead] if isinstance(node, Import) else []
        if span(node) in dead and is_main(node):
            kept.append(_refuse(node, context))
            continue
        if span(node) in dead or (isinstance(node, Import) and len(aliases) == len(node.names)):
            _forget(node, context)
            context.forget(node)
            context.sweep(node, "symbol", {_RULE})
            continue
        match node:
            case ast.Import() | ast.ImportFrom():
                context.drop_aliases(node, [(alias, {_RULE}) for alias in aliases])
            case ast.ClassDef():
                node.body = filled(_without(node.body, context, dead))
            case ast.If():
                whole = _goes_whole(node, context, dead)
                node.body = filled(_without(node.body, context, dead))
                if whole:
                    context.edits.append(DropElse(span(node)))
                    context.decide(node.orelse[0], "symbol", {_RULE}, "removed", extent(node.orelse))
                    node.orelse = []
                elif node.orelse:
                    node.orelse = filled(_without(node.orelse, context, dead))
        kept.append(node)
    return kept


def _goes_whole(node: ast.If, context: Context, dead: frozenset[Span]) -> bool:
    """True for an `else` that goes and that folding left as upstream wrote it."""
    if not node.orelse or any(span(part) not in dead for part in node.orelse):
        return False
    body, whole = span(node.body[-1]), span(node)
    return not any(body.after <= edit.span and _within(edit.span, whole) for edit in context.edits)


def _refuse(node: ast.If, context: Context) -> ast.If:
    """The named error for what would run as a program: without it, running the module would do nothing and say nothing."""
    _forget(node, context)
    context.forget(*node.body)
    # Folding may have dropped the first statement, or taken it out of a block: upstream's own is where the error stands.
    body = context.as_written(node).body
    node.body = [context.raises(body[0], no_program(context.module))]
    context.decide(body[0], "program", {_RULE}, "raises", extent(body))
    return node


def _forget(node: ast.stmt, context: Context) -> None:
    """What folding did inside a statement that goes needs not be done, nor told."""
    first, whole = first_line(node), span(node)
    context.decisions = [each for each in context.decisions if not first <= each.line <= whole.end_line]
    context.uncertain = [each for each in context.uncertain if not first <= each.line <= whole.end_line]
    start = Span(first, 0, first, 0)
    # A block that took the place of its statement is around it.
    context.edits = [e for e in context.edits if not (start <= e.span < whole.after and _within(e.span, whole))]


def _within(inner: Span, outer: Span) -> bool:
    return (inner.end_line, inner.end_col) <= (outer.end_line, outer.end_col)
