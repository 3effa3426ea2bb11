"""A module's outline: what other modules can learn about it without reading its functions."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from shrinker.cache import pack, unpack
from shrinker.syntax.bindings import Binding, collect
from shrinker.syntax.control import is_generator, reads_a_frame
from shrinker.syntax.imports import names_of, package_of
from shrinker.syntax.names import dotted, last_name
from shrinker.syntax.walk import Function, statements, walk

ANY_NAME = "*"
"""Among the names that a module rebinds, any."""
_READ_ALL = frozenset({"eval", "exec", "globals"})
_READ_OWN = frozenset({"dir", "locals", "vars"})
"""Functions that, without an argument, list the names around them."""
_ASKING = frozenset({"getattr", "hasattr"})
_PATCHING = frozenset({"patch", "setattr"})
_INTERPRETABLE_STATEMENTS = 12
"""A function longer than this is not interpreted for a constant result."""
_FOLDABLE_NODES = 60
"""An assigned expression larger than this is not evaluated."""


@dataclass(frozen=True)
class Outline:
    """Names bound at module level, trimmed to what constant propagation can use."""

    module: str
    is_package: bool
    packed: bytes
    """`names`."""
    stars: list[Binding]
    rebound: frozenset[str]
    """Names assigned from inside functions through `global` or `globals()`: never constant;
    `ANY_NAME` for all.
    """
    aliases: frozenset[tuple[str, str, str]]
    """``(module, name, bound as)`` of every import anywhere in the file; `name` is empty for
    `import module`.
    """
    read: frozenset[str]
    """Attribute names read from an imported name (``module.flag``)."""
    shown: frozenset[str]
    """Attribute names read inside f-strings, which are never edited."""
    members: dict[str, tuple[str, ...]]
    """Enumerations of the module, nested ones by dotted name, to the names of their members."""
    reads_frames: bool
    """True when code of the module may read the locals of other functions."""
    handed: frozenset[str]
    """Imported names, with what is read of them, that are handed to a function or listed: what they
    are may be a module.
    """
    lists: bool
    """True when code of the module may read every name of it: by `globals`, `eval`, `exec`, or
    `dir()`.
    """
    set_by_calls: frozenset[tuple[str, str]]
    """Imported names that are handed to a function, each with a name that this may set on it, if it
    is a module.
    """
    stored: frozenset[str]
    """Attribute names assigned on an imported name (``module.flag = …``): such a flag may be
    patched.
    """

    @cached_property
    def names(self) -> Mapping[str, list[Binding]]:
        """Bindings by name, nearly all of an outline: unpacked when they are first asked for, since
        most modules are never asked.
        """
        found: dict[str, list[Binding]] = unpack(self.packed)
        return found

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return package_of(self.module, self.is_package)


def outline(module: str, is_package: bool, tree: ast.Module) -> Outline:
    """Summarise one parsed module, which is not changed."""
    package = package_of(module, is_package)
    found = collect(tree.body, package)
    rebound = {*_set_by_globals(tree)}
    patched: set[str] = set()
    aliases: set[tuple[str, str, str]] = set()
    stored: set[tuple[str, str]] = set()
    read: set[tuple[str, str]] = set()
    shown: set[str] = set()
    handed: set[str] = set()
    set_by_calls: set[tuple[str, str]] = set()
    reads_frames = lists = False
    for node in walk(tree):
        reads_frames = reads_frames or reads_a_frame(node)
        match node:
            case ast.JoinedStr():
                shown.update(n.attr for n in walk(node) if isinstance(n, ast.Attribute))
            case ast.Global(names=names):
                rebound.update(names)
            case ast.Import() | ast.ImportFrom():
                aliases.update(names_of(node, package))
            case ast.Attribute(value=value, attr="__dict__", ctx=ast.Load()):
                handed.add(dotted(value))
            case ast.Attribute(value=ast.Name(id=base), attr=name, ctx=ast.Load()):
                read.add((base, name))
            case ast.Attribute(value=ast.Attribute(), attr=name, ctx=ast.Load()):
                # `import a.b`, `a.b.flag`: the base is not a name, so any.
                read.add(("", name))
            case ast.Attribute(value=value, attr=name, ctx=ast.Store() | ast.Del()):
                stored.add((dotted(value).partition(".")[0], name))
            case ast.Call():
                lists = lists or _lists_names(node)
                given = {dotted(argument) for argument in node.args} - {""}
                handed |= given
                set_by_calls |= {(path, name) for path in given for name in _names_given(node)}
                patched.update(_patched(node))
    bound_names = {bound for _, _, bound in aliases}
    return Outline(
        module=module,
        is_package=is_package,
        packed=pack({name: [_trim(b) for b in bindings] for name, bindings in found.names.items()}),
        stars=found.stars,
        rebound=frozenset(rebound),
        aliases=frozenset(aliases),
        shown=frozenset(shown),
        members=dict(_enumerations(tree.body, "")),
        read=frozenset(attribute for base, attribute in read if not base or base in bound_names),
        reads_frames=reads_frames,
        handed=frozenset(name for name in handed if name.partition(".")[0] in bound_names),
        lists=lists,
        set_by_calls=frozenset(
            row for row in set_by_calls if row[0].partition(".")[0] in bound_names
        ),
        stored=frozenset(attribute for base, attribute in stored if base in bound_names) | patched,
    )


def _lists_names(call: ast.Call) -> bool:
    """Tell whether a call may read every name of the module in which it stands."""
    name = last_name(call.func)
    return name in _READ_ALL or (name in _READ_OWN and not call.args)


def _names_given(call: ast.Call) -> set[str]:
    """Find the names that a function may set on another argument: `patch(flags, "FAST", True)`,
    `patch(flags, FAST=True)`.
    """
    texts = {
        part.value
        for part in call.args
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }
    names = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
    return (
        names
        if last_name(call.func) in _ASKING
        else names | {text for text in texts if text.isidentifier()}
    )


def _patched(call: ast.Call) -> set[str]:
    """Find the name that `mock.patch("a.b.NAME", value)` replaces."""
    if last_name(call.func) in _PATCHING and call.args:
        match call.args[0]:
            case ast.Constant(value=str() as text) if "." in text:
                return {text.rpartition(".")[2]}
    return set()


def _set_by_globals(tree: ast.Module) -> Iterator[str]:
    """Find the names of a module that it sets by `globals()`; ``*`` for any.

    Module-level code spells the names that it computes. What the `__getattr__` of a module keeps
    was no name of it before.
    """
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__getattr__":
            continue
        inside = isinstance(statement, Function | ast.ClassDef)
        for node in walk(statement):
            match node:
                case ast.Subscript(
                    ast.Call(func=ast.Name("globals")), ast.Constant(str() as name), ast.Store()
                ):
                    yield name
                case ast.Subscript(
                    ast.Call(func=ast.Name("globals")), _, ast.Store()
                ) | ast.Attribute(ast.Call(func=ast.Name("globals")), "update" | "setdefault"):
                    if inside:
                        yield ANY_NAME
                    else:
                        texts = (
                            part.value for part in walk(tree) if isinstance(part, ast.Constant)
                        )
                        yield from (
                            text for text in texts if isinstance(text, str) and text.isidentifier()
                        )


def _enumerations(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            if any("Enum" in last_name(base) or "Flag" in last_name(base) for base in node.bases):
                targets = (
                    t
                    for statement in node.body
                    if isinstance(statement, ast.Assign)
                    for t in statement.targets
                )
                yield (
                    prefix + node.name,
                    tuple(target.id for target in targets if isinstance(target, ast.Name)),
                )
            yield from _enumerations(node.body, f"{prefix}{node.name}.")


def may_be_constant(node: ast.FunctionDef) -> bool:
    """False for most functions: long ones, those that begin with what is not interpreted, and
    generators, which give an iterator whatever their `return` says; decorators may only remember
    the result.
    """
    first = next(
        (
            s
            for s in node.body
            if not isinstance(s, ast.Expr | ast.Pass | ast.Import | ast.ImportFrom)
        ),
        None,
    )
    if len(node.body) > _INTERPRETABLE_STATEMENTS or not isinstance(
        first, ast.Return | ast.If | ast.Try
    ):
        return False
    decorators = (last_name(d.func if isinstance(d, ast.Call) else d) for d in node.decorator_list)
    short = sum(1 for _ in statements(node)) <= 2 * _INTERPRETABLE_STATEMENTS
    return short and {"lru_cache", "cache"}.issuperset(decorators) and not is_generator(node)


def _trim(binding: Binding) -> Binding:
    node, value = binding.node, binding.value
    if binding.kind == "def" and not (isinstance(node, ast.FunctionDef) and may_be_constant(node)):
        return replace(binding, node=None)
    if isinstance(node, ast.ClassDef):
        shell = ast.ClassDef(node.name, node.bases, node.keywords, [], node.decorator_list)
        return replace(binding, node=shell)
    if value is not None and (
        binding.kind == "opaque" or sum(1 for _ in walk(value)) > _FOLDABLE_NODES
    ):
        return replace(binding, kind="opaque", value=None)
    return binding
