"""What the files of upstream import, as they are written, and which public names they have: what they define at module level, and what they hand
on from other modules of the package.

Imports are read with a regular expression from the source text, since removed modules are never parsed: for explanations, and to know which
names upstream uses at all. One in a documentation string counts; nothing is removed because of one that is found.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from shrinker.cache import Cache
from shrinker.syntax.imports import absolute_written, names_of, package_of
from shrinker.syntax.parsing import parsed
from shrinker.values.relations import grouped
from shrinker.values.upstream import UpstreamTree, module_name

Written = Mapping[str, tuple[tuple[int, str], ...]]
"""Path of every module of the package to line and dotted name of what it imports, in the order of the file."""

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)|import[ \t]+([\w., \t]+))", re.MULTILINE
)
_NAME = re.compile(r"(?:^|[(,\n])\s*(\w+)")


def written_imports(tree: UpstreamTree, cache: Cache | None = None) -> Written:
    """Read the imports of all modules."""
    layer = (cache or Cache()).layer("imports")
    modules = (file for file in tree.files if module_name(file.path) is not None)
    keys = {file.path: layer.key(file.path, file.sha256) for file in modules}
    return layer.each(keys, lambda path: tuple(_imports(tree.read(path), _package(path))))


def _package(path: str) -> str:
    return package_of(module_name(path) or "", path.endswith("/__init__.py"))


def _imports(data: bytes, package: str) -> Iterator[tuple[int, str]]:
    """Line and dotted name of what a file imports from anywhere, in its order."""
    line, at = 1, 0
    for match in _IMPORT.finditer(data):
        line, at = line + data.count(b"\n", at, match.start()), match.start()
        origin, names, plain = ((text or b"").decode("utf-8", "replace") for text in match.groups())
        if plain:
            yield from ((line, part.split(" as ")[0].strip()) for part in plain.split(","))
            continue
        base = absolute_written(origin, package)
        yield line, base
        yield from ((line, f"{base}.{name}") for name in _NAME.findall(names))


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

    def found(path: str) -> tuple[Definition, ...]:
        tree = parsed(read(path))
        bound = _bound(tree.body, _package(path)) if tree is not None else ()
        # Nobody takes a module's own logger from it.
        public = ((one.name, one) for one in bound if not one.name.startswith("_") and one.name != "logger")
        return tuple(rows[0] for rows in grouped(public).values())

    return layer.each(keys, found)


def _bound(body: list[ast.stmt], package: str) -> Iterator[Definition]:
    for node in body:
        lines = (node.lineno, node.end_lineno or node.lineno)
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield Definition(node.name, "class" if isinstance(node, ast.ClassDef) else "function", *lines)
            case ast.Assign(targets=targets):
                for name in (part for target in targets for part in ast.walk(target)):
                    if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                        yield Definition(name.id, "assign", *lines)
            case ast.AnnAssign(target=ast.Name(id=bound), value=ast.expr()):
                yield Definition(bound, "assign", *lines)
            case ast.ImportFrom():
                for (source, _, bound), alias in zip(names_of(node, package), node.names, strict=True):
                    if bound == "*":
                        found = Definition(source, "star", *lines)
                    else:
                        found = Definition(bound, "import", alias.lineno, alias.lineno)
                    if source.partition(".")[0] == package.partition(".")[0]:
                        yield found
            case ast.If() | ast.Try():
                handlers = node.handlers if isinstance(node, ast.Try) else ()
                inside = [*node.body, *(statement for handler in handlers for statement in handler.body), *node.orelse]
                yield from (one._replace(guarded=True) for one in _bound(inside, package))
            case ast.With():
                yield from _bound(node.body, package)
