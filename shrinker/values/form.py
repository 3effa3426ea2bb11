"""One digest of a Python syntax tree that is the same on every Python version.

`ast.dump` is not: fields come and go between versions (`type_params`, optional fields shown or
not). Here empty fields are left out, so that a digest written on one version holds on another.
"""

import ast
import hashlib
from collections.abc import Callable

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


_FIELDS: dict[type, tuple[str, ...]] = {}
"""Fields of each node class, positions left out: looked up once a class, since this runs for every node of a file."""


def _write(node: ast.AST, put: Callable[[str], None]) -> None:
    cls = node.__class__
    fields = _FIELDS.get(cls)
    if fields is None:
        fields = _FIELDS[cls] = tuple(name for name in cls._fields if name not in _POSITION_FIELDS)
    values = node.__dict__
    # More than half of all nodes are of these two kinds.
    if cls is ast.Name:
        put(f"Name\x00id\x00str:{values['id']!r}\x00)")
        return
    if cls is ast.Attribute:
        put("Attribute\x00value")
        _write(values["value"], put)
        put(f"attr\x00str:{values['attr']!r}\x00)")
        return
    put(cls.__name__)
    for name in fields:
        value = values.get(name)
        if value is None:
            # `Constant(value=None)` must differ from a missing value.
            if cls is ast.Constant:
                put("None")
            continue
        kind = value.__class__
        if kind is list:
            if value:
                put(name)
                put("[")
                for item in value:
                    if item is None:
                        put("-")
                    elif isinstance(item, ast.AST):
                        _write(item, put)
                    else:
                        put(f"{item.__class__.__name__}:{item!r}")
                put("]")
        elif isinstance(value, ast.AST):
            put(name)
            _write(value, put)
        else:
            put(name)
            put(f"{kind.__name__}:{value!r}")
    put(")")
