"""A module's outline: what other modules can learn about it without reading its functions."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from shrinker.cache import pack, unpack
from shrinker.syntax.bindings import Binding, Bindings, collect
from shrinker.syntax.imports import names_of, package_of
from shrinker.syntax.names import last_name
from shrinker.syntax.walk import statements, walk

_INTERPRETABLE_STATEMENTS = 12
"""A function longer than this is not interpreted for a constant result."""
_FOLDABLE_NODES = 60
"""An assigned expression larger than this is not evaluated."""


class Names(Mapping[str, list[Binding]]):
    """Bindings by name, nearly all of an outline: unpacked when one is first asked for, since most modules are never asked."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._known: dict[str, list[Binding]] | None = None

    def __reduce__(self) -> tuple[type["Names"], tuple[bytes]]:
        return Names, (self._packed,)

    def _bindings(self) -> dict[str, list[Binding]]:
        if self._known is None:
            self._known = unpack(self._packed)
        return self._known

    def __getitem__(self, name: str) -> list[Binding]:
        return self._bindings()[name]

    def __contains__(self, name: object) -> bool:
        return name in self._bindings()

    def __iter__(self) -> Iterator[str]:
        return iter(self._bindings())

    def __len__(self) -> int:
        return len(self._bindings())


@dataclass(frozen=True, slots=True)
class Outline:
    """Names bound at module level, trimmed to what constant propagation can use."""

    module: str
    is_package: bool
    names: Mapping[str, list[Binding]]
    stars: list[Binding]
    rebound: frozenset[str]
    """Names assigned from inside functions through `global`: never constant."""
    aliases: frozenset[tuple[str, str, str]]
    """``(module, name, bound as)`` of every import anywhere in the file; `name` is empty for `import module`."""
    read: frozenset[str]
    """Attribute names read from an imported name (``module.flag``)."""
    shown: frozenset[str]
    """Attribute names read inside f-strings, which are never edited."""
    members: dict[str, tuple[str, ...]]
    """Enumerations of the module, nested ones by dotted name, to the names of their members."""
    stored: frozenset[str]
    """Attribute names assigned on an imported name (``module.flag = …``): such a flag may be patched."""

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return package_of(self.module, self.is_package)


def outline(module: str, is_package: bool, tree: ast.Module) -> Outline:
    """Summarise one parsed module.

    Args:
        module: dotted name.
        is_package: True for an ``__init__.py``.
        tree: its syntax tree; not changed.
    """
    package = package_of(module, is_package)
    found: Bindings = collect(tree.body, package)
    rebound: set[str] = set()
    aliases: set[tuple[str, str, str]] = set()
    stored: set[tuple[str, str]] = set()
    read: set[tuple[str, str]] = set()
    shown: set[str] = set()
    members: dict[str, tuple[str, ...]] = {}
    _enumerations(tree.body, "", members)
    for node in walk(tree):
        if isinstance(node, ast.JoinedStr):
            shown.update(n.attr for n in walk(node) if isinstance(n, ast.Attribute))
        elif isinstance(node, ast.Global):
            rebound.update(node.names)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            aliases.update(names_of(node, package))
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            if isinstance(node.value, ast.Name):
                read.add((node.value.id, node.attr))
            elif isinstance(node.value, ast.Attribute):
                # `import a.b`, `a.b.flag`: the base is not a name, so any.
                read.add(("", node.attr))
        elif isinstance(node, ast.Attribute):
            base = node.value
            while isinstance(base, ast.Attribute):
                base = base.value
            if isinstance(base, ast.Name):
                stored.add((base.id, node.attr))
    bound_names = {bound for _, _, bound in aliases}
    return Outline(
        module=module,
        is_package=is_package,
        names=Names(pack({name: [_trim(b) for b in bindings] for name, bindings in found.names.items()})),
        stars=found.stars,
        rebound=frozenset(rebound),
        aliases=frozenset(aliases),
        shown=frozenset(shown),
        members=members,
        read=frozenset(attribute for base, attribute in read if not base or base in bound_names),
        stored=frozenset(attribute for base, attribute in stored if base in bound_names),
    )


def _enumerations(body: list[ast.stmt], prefix: str, found: dict[str, tuple[str, ...]]) -> None:
    for node in body:
        if not isinstance(node, ast.ClassDef):
            continue
        name = f"{prefix}{node.name}"
        if any("Enum" in last_name(base) or "Flag" in last_name(base) for base in node.bases):
            found[name] = tuple(
                target.id
                for statement in node.body
                if isinstance(statement, ast.Assign)
                for target in statement.targets
                if isinstance(target, ast.Name)
            )
        _enumerations(node.body, f"{name}.", found)


def _trim(binding: Binding) -> Binding:
    guards = binding.guards
    if binding.kind == "def" and not _interpretable(binding.node):
        return Binding("def", binding.line, guards)
    if binding.kind == "class" and isinstance(binding.node, ast.ClassDef):
        shell = ast.ClassDef(
            name=binding.node.name,
            bases=binding.node.bases,
            keywords=binding.node.keywords,
            body=[],
            decorator_list=binding.node.decorator_list,
        )
        return Binding("class", binding.line, guards, node=shell)
    if binding.kind == "value" and binding.value is not None and sum(1 for _ in walk(binding.value)) > _FOLDABLE_NODES:
        return Binding("opaque", binding.line, guards)
    if binding.kind == "opaque" and binding.value is not None:
        return Binding("opaque", binding.line, guards)
    return binding


def _interpretable(node: ast.AST | None) -> bool:
    if not isinstance(node, ast.FunctionDef) or len(node.body) > _INTERPRETABLE_STATEMENTS:
        return False
    return sum(1 for _ in statements(node)) <= 2 * _INTERPRETABLE_STATEMENTS
