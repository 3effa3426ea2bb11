"""What code reads, by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)*\Z")
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Names:
    """Names by how they are read; what is only bound or defined is in neither."""

    plain: frozenset[str]
    """Read as a name of their own, imported, or a part of a string that is a dotted name."""
    attributes: frozenset[str]
    """Read as `x.name`, or a part of such a string."""


def names_of(nodes: Iterable[ast.AST]) -> Names:
    """Those of some parts of a syntax tree."""
    plain: set[str] = set()
    attributes: set[str] = set()
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, ast.Name):
                if not isinstance(node.ctx, ast.Store):
                    plain.add(node.id)
            elif isinstance(node, ast.Attribute):
                if not isinstance(node.ctx, ast.Store):
                    attributes.add(node.attr)
            elif isinstance(node, ast.AugAssign):
                # Reads what it writes.
                if isinstance(node.target, ast.Name):
                    plain.add(node.target.id)
                elif isinstance(node.target, ast.Attribute):
                    attributes.add(node.target.attr)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                plain.update(alias.name.rpartition(".")[2] for alias in node.names)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_dotted(node.value):
                parts = re.split(r"[.:]", node.value)
                plain.update(parts)
                attributes.update(parts)
    return Names(frozenset(plain), frozenset(attributes))


def _is_dotted(text: str) -> bool:
    return len(text) < _LONGEST and _DOTTED.match(text) is not None


def names_of_tree(package: Path) -> Names:
    """Those of all Python files below a folder. Raises SyntaxError when one is not Python."""
    plain: set[str] = set()
    attributes: set[str] = set()
    for file in sorted(package.rglob("*.py")):
        found = names_of([ast.parse(file.read_bytes(), str(file))])
        plain |= found.plain
        attributes |= found.attributes
    return Names(frozenset(plain), frozenset(attributes))
