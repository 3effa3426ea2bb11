"""One digest of a Python syntax tree that is the same on every Python version.

`ast.dump` is not: fields come and go between versions (`type_params`, optional fields shown or
not). Here empty fields are left out, so that a digest written on one version holds on another.
"""

from __future__ import annotations

import ast
import hashlib

_POSITION_FIELDS = frozenset({"ctx", "type_ignores", "type_comment", "kind"})


def digest(tree: ast.AST) -> str:
    """SHA-256 (hex) of the tree's structure, positions left out.

    Args:
        tree: any `ast` node, as parsed or as transformed.

    Returns:
        64 hexadecimal digits, equal for equal programs whatever their formatting.
    """
    out: list[str] = []
    _write(tree, out.append)
    return hashlib.sha256("\x00".join(out).encode("utf-8", "surrogatepass")).hexdigest()


def _write(value: object, put) -> None:  # type: ignore[no-untyped-def]
    if isinstance(value, ast.AST):
        put(type(value).__name__)
        for name in value._fields:
            if name in _POSITION_FIELDS:
                continue
            child = getattr(value, name, None)
            if child is None or child == []:
                # `Constant(value=None)` must differ from a missing value.
                if isinstance(value, ast.Constant):
                    put("None")
                continue
            put(name)
            _write(child, put)
        put(")")
    elif isinstance(value, list):
        put("[")
        for item in value:
            if item is None:
                put("-")
            else:
                _write(item, put)
        put("]")
    else:
        put(f"{type(value).__name__}:{value!r}")
