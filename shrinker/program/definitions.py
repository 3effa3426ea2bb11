"""Public names of modules: what they define at module level, and what they hand on from other modules of the package."""

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from shrinker.cache import Cache
from shrinker.syntax.imports import absolute, package_of
from shrinker.syntax.parsing import parsed
from shrinker.values.relations import grouped
from shrinker.values.upstream import module_name


class Definition(NamedTuple):
    """A public name of a module."""

    name: str
    kind: str
    """``function``, ``class``, ``assign`` or ``import``; ``star`` for all names of the module that `name` is."""
    line: int
    end_line: int
    guarded: bool = False
    """True in a branch, which facts may refute."""


def public_definitions(
    hashes: Mapping[str, str], read: Callable[[str], bytes], cache: Cache
) -> dict[str, tuple[Definition, ...]]:
    """Public names by path, in the order of the lines; a name that is bound twice with its first place. Hashes are of the files' bytes."""
    layer = cache.layer("definitions")
    keys = {path: layer.key(path, sha256) for path, sha256 in hashes.items()}
    return layer.each(keys, lambda path: _definitions(path, read(path)))


def _definitions(path: str, data: bytes) -> tuple[Definition, ...]:
    tree = parsed(data)
    if tree is None:
        return ()
    package = package_of(module_name(path) or "", path.endswith("/__init__.py"))
    # Nobody takes a module's own logger from it.
    public = (one for one in _bound(tree.body, package) if not one.name.startswith("_") and one.name != "logger")
    return tuple(rows[0] for rows in grouped((one.name, one) for one in public).values())


def _bound(body: list[ast.stmt], package: str) -> Iterator[Definition]:
    for node in body:
        lines = (node.lineno, node.end_lineno or node.lineno)
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield Definition(node.name, "function", *lines)
            case ast.ClassDef():
                yield Definition(node.name, "class", *lines)
            case ast.Assign(targets=targets):
                for name in (part for target in targets for part in ast.walk(target)):
                    if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                        yield Definition(name.id, "assign", *lines)
            case ast.AnnAssign(target=ast.Name(id=bound), value=ast.expr()):
                yield Definition(bound, "assign", *lines)
            case ast.ImportFrom():
                source = absolute(node.module, node.level, package)
                if source.partition(".")[0] == package.partition(".")[0]:
                    for alias in node.names:
                        if alias.name == "*":
                            yield Definition(source, "star", *lines)
                        else:
                            yield Definition(alias.asname or alias.name, "import", alias.lineno, alias.lineno)
            case ast.If(body=body, orelse=orelse) | ast.Try(body=body, orelse=orelse):
                handlers = node.handlers if isinstance(node, ast.Try) else ()
                inside = [*body, *(statement for handler in handlers for statement in handler.body), *orelse]
                yield from (one._replace(guarded=True) for one in _bound(inside, package))
            case ast.With():
                yield from _bound(node.body, package)
