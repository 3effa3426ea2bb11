"""Lists of a module's own names, of which entries go with their definitions: ``__all__``, which a star import takes, and lists that a loop
goes through to give each name that is there something else."""

import ast
from collections.abc import Iterable, Iterator

from shrinker.fold.context import Context
from shrinker.syntax.ranges import span
from shrinker.syntax.side_effects import bound_by
from shrinker.syntax.walk import walk
from shrinker.values.edits import Span


def is_export(node: ast.stmt) -> bool:
    """True for an assignment to ``__all__``, augmented ones included."""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return isinstance(target, ast.Name) and target.id == "__all__"


def exported(tree: ast.Module) -> set[str]:
    """Names in ``__all__``, as far as they are spelled out."""
    values = (node.value for node in tree.body if isinstance(node, ast.Assign | ast.AugAssign) and is_export(node))
    constants = (part for value in values for part in walk(value) if isinstance(part, ast.Constant))
    return {part.value for part in constants if isinstance(part.value, str)}


def replaces_own(node: ast.stmt) -> bool:
    """True for ``for x in NAMES: if x in globals(): globals()[x] = wrap(globals()[x], f"a.{x}")``: it names nothing that is not there."""
    match node:
        case ast.For(
            target=ast.Name(id=name),
            iter=ast.Name(),
            body=[
                ast.If(
                    test=test,
                    body=[ast.Assign(targets=[target], value=ast.Call(func=ast.Name(), args=args, keywords=[]))],
                    orelse=[],
                )
            ],
            orelse=[],
        ):
            own = f"globals()[{name}]"
            plain = (argument for argument in args if not _is_label(argument, name))
            return ast.unparse(test) == f"{name} in globals()" and {*map(ast.unparse, (target, *plain))} == {own}
    return False


def _is_label(node: ast.expr, name: str) -> bool:
    """``f"a.{name}"``."""
    match node:
        case ast.JoinedStr(values=[ast.Constant(value=str() as before), ast.FormattedValue(value=ast.Name(id=shown))]):
            return before.endswith(".") and shown == name
    return False


def replaced_names(tree: ast.Module) -> frozenset[str]:
    """Lists of texts that only such loops read and that are deleted in the end: nothing else can ask for one of their texts."""
    loops = [node for node in tree.body if replaces_own(node)]
    if not loops or "globals" in bound_by(*tree.body):
        return frozenset()
    allowed = {id(node.iter) for node in loops if isinstance(node, ast.For)}
    found: set[str] = set()
    deleted: set[str] = set()
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name) as target], value=ast.List(elts=texts)) if all(
                map(_is_text, texts)
            ):
                found.add(name)
                allowed.add(id(target))
            case ast.Delete(targets=[ast.Name(id=name) as target]):
                deleted.add(name)
                allowed.add(id(target))
    others = {part.id for part in walk(tree) if isinstance(part, ast.Name) and id(part) not in allowed}
    return frozenset(found & deleted - others)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _items(tree: ast.Module) -> Iterator[tuple[str, ast.Constant, ast.List | ast.Tuple]]:
    """Each name that is spelled out, with its place and what holds it."""
    replaced = replaced_names(tree)
    for node in tree.body:
        listed = is_export(node) or (isinstance(node, ast.Assign) and not replaced.isdisjoint(bound_by(node)))
        value = getattr(node, "value", None) if listed else None
        if isinstance(value, ast.List | ast.Tuple):
            for item in value.elts:
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    yield item.value, item, value


def entries(tree: ast.Module) -> tuple[tuple[str, Span], ...]:
    """Names whose entry can be deleted, with its place."""
    return tuple((name, span(item)) for name, item, _ in _items(tree))


def drop_entries(tree: ast.Module, context: Context, gone: Iterable[str]) -> None:
    """Delete the entries of names whose definitions go."""
    items = list(_items(tree))
    for name in sorted(set(gone)):
        for item, container in ((item, container) for each, item, container in items if each == name):
            container.elts = [other for other in container.elts if other is not item]
            context.drop_element(item, type(container).__name__, "export", {"unused"})
