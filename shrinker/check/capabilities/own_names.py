"""Names of a module: which it reads, and entries of lists of its own names that nobody misses."""

import ast
from collections import Counter
from collections.abc import Iterator

from shrinker.syntax.side_effects import bound_by


def entries_without_name(ours: ast.Module, theirs: ast.Module) -> frozenset[str]:
    """Texts of upstream's lists (`ours`) that are only asked which of the module's own names they are (``for x in NAMES: if x in globals()``),
    and that the generated module (`theirs`) does not bind: nobody misses them."""
    reads: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    texts: dict[str, list[str]] = {}
    said: Counter[object] = Counter()
    for node in ast.walk(ours):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                reads[name] += 1
            case ast.For(target=ast.Name(id=name), iter=ast.Name(id=listed), body=[ast.If(test=test, orelse=[])]):
                asked[listed] += ast.unparse(test) == f"{name} in globals()"
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=listed), attr="append"))):
                asked[listed] += 1
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.List(elts=elements)):
                texts[name] = [part.value for part in elements if isinstance(part, ast.Constant)]  # type: ignore[misc]
            case ast.Constant(value=value):
                said[value] += 1
    lists = (found for name, found in texts.items() if 0 < reads[name] == asked[name])
    return frozenset(text for found in lists for text in found if said[text] == 1) - bound_by(*theirs.body)


def names_read(node: ast.AST) -> Iterator[str]:
    """Names that some code reads."""
    return (each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load))
