"""One digest of a Python syntax tree that is the same on every Python version.

`ast.dump` is not: fields come and go between versions (`type_params`, optional fields shown or
not). Here empty fields are left out, so that a digest written on one version holds on another.
"""

import ast
import functools
import hashlib
from collections.abc import Callable
from typing import Any

_POSITION_FIELDS = frozenset({"ctx", "type_ignores", "type_comment", "kind"})


def digest(tree: ast.AST) -> str:
    """SHA-256 (hex) of the structure of a tree, as parsed or as transformed: equal for equal
    programs whatever their formatting.
    """
    out: list[str] = []
    _write(tree, out.append)
    return hashlib.sha256("\x00".join(out).encode("utf-8", "surrogatepass")).hexdigest()


@functools.cache
def _fields(cls: type[ast.AST]) -> tuple[str, ...]:
    return tuple(name for name in cls._fields if name not in _POSITION_FIELDS)


def _write(node: Any, put: Callable[[str], None]) -> None:
    cls = node.__class__
    if cls is ast.Name:
        # A third of all nodes.
        put(f"Name\x00id\x00str:{node.__dict__['id']!r}\x00)")
        return
    if not isinstance(node, ast.AST):
        put(f"{cls.__name__}:{node!r}")
        return
    put(cls.__name__)
    for name in _fields(cls):
        value = node.__dict__.get(name)
        if value is None:
            # `Constant(value=None)` must differ from a missing value.
            if cls is ast.Constant:
                put("None")
        elif value.__class__ is not list:
            put(name)
            _write(value, put)
        elif value:
            put(name)
            put("[")
            for item in value:
                if item is None:
                    put("-")
                else:
                    _write(item, put)
            put("]")
    put(")")
