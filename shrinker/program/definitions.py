"""Read which names a module binds when it is loaded, and which members its classes have."""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from typing import NamedTuple

from shrinker.cache import Cache
from shrinker.facts.outline import may_be_constant
from shrinker.syntax.imports import is_type_checking, names_of, package_of
from shrinker.syntax.names import last_name
from shrinker.syntax.parsing import parsed
from shrinker.syntax.walk import Function, walk
from shrinker.values.relations import grouped
from shrinker.values.upstream import module_name

_PROPERTIES = frozenset({"property", "cached_property"})
_PLAIN = frozenset({"staticmethod", "classmethod", "abstractmethod", *_PROPERTIES})
"""Decorators that leave what a method answers as it is."""


class Definition(NamedTuple):
    """A name of a module, or a member of one of its classes."""

    name: str
    kind: str
    """Of a name: ``function``, ``class``, ``assign``, ``import`` (from the package), ``foreign``
    (from elsewhere), or ``star`` for all names of the module that `name` is.
    Of a member: ``method``, ``property``, ``attribute`` (bound in the class), ``declared`` (a type
    and no value) or ``stored`` (set on ``self``)."""
    line: int
    end_line: int
    guarded: bool = False
    """True in a branch, which facts may refute."""
    owner: str = ""
    """The class of a member."""
    text: str = ""
    """A short function, or the constant of an attribute: what may be known to be one value."""

    @property
    def path(self) -> str:
        """The name below its module."""
        return f"{self.owner}.{self.name}" if self.owner else self.name

    @property
    def is_public(self) -> bool:
        """True for what a module of the package offers; nobody takes a module's own logger."""
        hidden = self.owner or self.kind == "foreign" or self.name.startswith("_")
        return not hidden and self.name != "logger"


class ModuleNames(NamedTuple):
    """What one module offers to whoever imports it."""

    names: tuple[Definition, ...] = ()
    """In the order of the lines; one that is bound twice with its first place."""
    members: tuple[Definition, ...] = ()
    """Of all classes of the module's own level; those of Python's own names are left out."""
    bases: tuple[tuple[str, str], ...] = ()
    """Each class with the last name of each base."""


def read_names(
    hashes: Mapping[str, str], read: Callable[[str], bytes], cache: Cache
) -> dict[str, ModuleNames]:
    """Read the names of modules, by path; `hashes` are the SHA-256 of the files' bytes."""
    layer = cache.layer("definitions")
    keys = {path: layer.key(path, sha256) for path, sha256 in hashes.items()}

    def find(path: str) -> ModuleNames:
        tree = parsed(read(path))
        return ModuleNames() if tree is None else _names_of_module(tree, path)

    return layer.each(keys, find)


def read_public_names(
    hashes: Mapping[str, str], read: Callable[[str], bytes], cache: Cache
) -> dict[str, tuple[Definition, ...]]:
    """Read the names of modules that are for others, by path."""
    found = read_names(hashes, read, cache)
    return {
        path: tuple(one for one in module.names if one.is_public) for path, module in found.items()
    }


def _names_of_module(tree: ast.Module, path: str) -> ModuleNames:
    package = package_of(module_name(path) or "", path.endswith("/__init__.py"))
    bound = list(_bound(tree.body, package))
    deleted = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Delete)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    names = (one for one in bound if one.name not in deleted and not one.name.startswith("__"))
    classes = list(_classes(tree.body))
    members = (one for node in classes for one in _members(node))
    bases = {(node.name, last_name(base)) for node in classes for base in node.bases}
    return ModuleNames(
        tuple(_first_of_each(names)),
        tuple(_first_of_each(members)),
        tuple(sorted(row for row in bases if row[1])),
    )


def _first_of_each(rows: Iterable[Definition]) -> Iterator[Definition]:
    """Take each name once; where any binding of it stands in no branch, it is always there."""
    for found in grouped((one.path, one) for one in rows).values():
        own = next((one for one in found if one.kind != "foreign"), found[0])
        yield own._replace(guarded=all(one.guarded for one in found))


def _bound(body: list[ast.stmt], package: str) -> Iterator[Definition]:
    """Go through what some statements bind, in the order of the lines."""
    for node in body:
        lines = (node.lineno, node.end_lineno or node.lineno)
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield Definition(node.name, "function", *lines, text=_text_of_function(node))
            case ast.ClassDef():
                yield Definition(node.name, "class", *lines)
            case ast.Assign(targets=targets):
                for part in (part for target in targets for part in ast.walk(target)):
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                        yield Definition(part.id, "assign", *lines)
            case ast.AnnAssign(target=ast.Name(id=bound), value=ast.expr()):
                yield Definition(bound, "assign", *lines)
            case ast.Import():
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    yield Definition(name, "foreign", alias.lineno, alias.lineno)
            case ast.ImportFrom():
                yield from _imported(node, package)
            case ast.If() | ast.Try():
                inside = _branches(node)
                yield from (one._replace(guarded=True) for one in _bound(inside, package))
            case ast.With():
                yield from _bound(node.body, package)


def _branches(node: ast.If | ast.Try) -> list[ast.stmt]:
    """Take the statements of all branches, but for those that only a type checker reads."""
    if isinstance(node, ast.If) and is_type_checking(node.test):
        return node.orelse
    handlers = node.handlers if isinstance(node, ast.Try) else ()
    handled = (statement for handler in handlers for statement in handler.body)
    return [*node.body, *handled, *node.orelse]


def _imported(node: ast.ImportFrom, package: str) -> Iterator[Definition]:
    own = package.partition(".")[0]
    for (source, _, bound), alias in zip(names_of(node, package), node.names, strict=True):
        of_package = source.partition(".")[0] == own
        if bound != "*":
            kind = "import" if of_package else "foreign"
            yield Definition(bound, kind, alias.lineno, alias.lineno)
        elif of_package:
            yield Definition(source, "star", node.lineno, node.end_lineno or node.lineno)


def _classes(body: list[ast.stmt]) -> Iterator[ast.ClassDef]:
    """Go through the classes of a module's own level."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield node
        elif isinstance(node, ast.If | ast.Try):
            yield from _classes(_branches(node))


def _members(node: ast.ClassDef) -> Iterator[Definition]:
    """Go through the members of a class: what its body binds, then what its methods store."""
    for part in node.body:
        lines = (part.lineno, part.end_lineno or part.lineno)
        match part:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                decorators = {last_name(each) for each in part.decorator_list}
                kind = "method" if _PROPERTIES.isdisjoint(decorators) else "property"
                found = [Definition(part.name, kind, *lines, text=_text_of_function(part))]
            case ast.AnnAssign(target=ast.Name(id=name), value=None):
                found = [Definition(name, "declared", *lines)]
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() as value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant() as value)
            ):
                found = [Definition(name, "attribute", *lines, text=ast.unparse(value))]
            case _:
                bound = _bound([part], "")
                found = [one._replace(kind="attribute", text="") for one in bound]
        yield from (one._replace(owner=node.name) for one in found if one.name[:2] != "__")
    for method in node.body:
        if isinstance(method, Function):
            yield from (one._replace(owner=node.name) for one in _stored(method))


def _stored(method: Function) -> Iterator[Definition]:
    """Go through the attributes that a method sets on its first parameter."""
    parameters = [*method.args.posonlyargs, *method.args.args]
    if not parameters:
        return
    for part in walk(method):
        match part:
            case ast.Attribute(value=ast.Name(id=holder), attr=name, ctx=ast.Store()):
                if holder == parameters[0].arg and not name.startswith("__"):
                    yield Definition(name, "stored", part.lineno, part.lineno, guarded=True)


def _text_of_function(node: Function) -> str:
    """Write out a function that may always answer the same; empty for any other."""
    decorators = {last_name(each) for each in node.decorator_list}
    if not isinstance(node, ast.FunctionDef) or not decorators <= _PLAIN:
        return ""
    plain = copy(node)
    plain.decorator_list = []
    return ast.unparse(plain) if may_be_constant(plain) else ""
