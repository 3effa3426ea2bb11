"""What code reads, by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from shrinker.syntax.imports import absolute, package_of
from shrinker.syntax.walk import Definition
from shrinker.values.upstream import PACKAGE_PREFIX, module_name

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)*\Z")
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Names:
    """Names by how they are read; what is only bound or defined is in neither."""

    plain: frozenset[str]
    """Read as a name of their own, imported, or a part of a string that is a dotted name."""
    attributes: frozenset[str]
    """Read as `x.name`, or a part of such a string."""
    empty: frozenset[str] = frozenset()
    """Of functions, where all of that name do nothing."""
    texts: frozenset[str] = frozenset()
    """Of these, the parts of strings."""


def names_of(nodes: Iterable[ast.AST]) -> Names:
    """Those of some parts of a syntax tree."""
    plain: set[str] = set()
    attributes: set[str] = set()
    texts: set[str] = set()
    empty: dict[str, bool] = {}
    for node in (node for top in nodes for node in ast.walk(top)):
        match node:
            case ast.Name(id=name, ctx=ast.Load() | ast.Del()) | ast.AugAssign(target=ast.Name(id=name)):
                plain.add(name)
            # An augmented assignment reads what it writes.
            case ast.Attribute(attr=name, ctx=ast.Load() | ast.Del()) | ast.AugAssign(target=ast.Attribute(attr=name)):
                attributes.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                plain.update(alias.name.rpartition(".")[2] for alias in aliases)
            case ast.Constant(value=str(text)) if len(text) < _LONGEST and _DOTTED.match(text):
                texts.update(re.split(r"[.:]", text))
            case ast.FunctionDef(name=name, body=body) | ast.AsyncFunctionDef(name=name, body=body):
                empty[name] = empty.get(name, True) and all(map(_does_nothing, body))
    idle = frozenset(name for name, nothing in empty.items() if nothing)
    return Names(frozenset(plain | texts), frozenset(attributes | texts), idle, frozenset(texts))


def _does_nothing(node: ast.stmt) -> bool:
    match node:
        case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.Return(value=None | ast.Constant()):
            return True
    return False


def names_of_tree(package: Path) -> Names:
    """Those of all Python files below a folder, but for names by which a file means a definition that the tree has.

    Args:
        package: the folder.

    Raises:
        SyntaxError: a file is not Python.
    """
    trees = {
        module_name(f"{PACKAGE_PREFIX}{file.relative_to(package)}") or "": (
            file,
            ast.parse(file.read_bytes(), str(file)),
        )
        for file in sorted(package.rglob("*.py"))
    }
    defined = {module: {n.name for n in tree.body if isinstance(n, Definition)} for module, (_, tree) in trees.items()}
    plain: set[str] = set()
    for module, (file, tree) in trees.items():
        own = set(defined[module])
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                source = absolute(node.module, node.level, package_of(module, file.name == "__init__.py"))
                own |= {alias.name for alias in node.names if alias.name in defined.get(source, ())}
        names = names_of([tree])
        plain |= (names.plain - own) | names.texts
    whole = names_of(tree for _, tree in trees.values())
    return Names(frozenset(plain), whole.attributes, whole.empty)
