"""Outlines as they are kept between runs: read fast, and comparable without being read.

Nearly all of an outline is the syntax trees of what its names are bound to. They are unpacked when a name is first
asked for. The *skeleton* is a hash of everything that an outline can answer.
"""

from __future__ import annotations

import ast
import hashlib
from dataclasses import fields, is_dataclass
from typing import Any

from shrinker.cache import pack, unpack
from shrinker.facts.outline import Outline

_FIELDS = tuple(field.name for field in fields(Outline) if field.name != "names")
_NAMES: Any = Outline.__dict__["names"]
"""The slot that holds the names once they are unpacked."""
POOLED = frozenset({"read", "shown", "stored"})
"""Fields of which only the union over all modules is ever asked (`Environment.read` …): most edits change one module's words of
these kinds, and hardly ever the words of all modules together."""


class StoredOutline(Outline):
    """An outline whose names are still packed."""

    __slots__ = ("_packed", "skeleton")

    def __init__(self, skeleton: str, values: tuple[Any, ...], packed: bytes) -> None:
        for name, value in zip(_FIELDS, values, strict=True):
            setattr(self, name, value)
        self.skeleton = skeleton
        self._packed = packed

    @property
    def names(self) -> Any:  # type: ignore[override]
        """See `Outline.names`."""
        try:
            return _NAMES.__get__(self)
        except AttributeError:
            value = unpack(self._packed)
            _NAMES.__set__(self, value)
            self._packed = b""
            return value


def store(outline: Outline | None, *, compared: bool = True) -> bytes:
    """An outline as bytes.

    Args:
        outline: None for a file that does not parse.
        compared: False when nobody will ask for its skeleton, which is half the cost.
    """
    if outline is None:
        return pack(None)
    return pack(
        (skeleton(outline) if compared else "", tuple(getattr(outline, name) for name in _FIELDS), pack(outline.names))
    )


def restore(data: bytes) -> Outline | None:
    """What was stored."""
    found = unpack(data)
    return None if found is None else StoredOutline(*found)


def skeleton(outline: Outline) -> str:
    """Hash (hex) of an outline in which line numbers count by their order alone.

    Nothing that the environment answers depends on more of a line than whether it stands above another one. So a
    module whose functions change inside keeps its skeleton, and with it every answer about it stays. What is `POOLED` is left
    out: who compares environments by skeletons compares those unions, too.
    """
    if isinstance(outline, StoredOutline):
        return outline.skeleton
    parts: list[str | int] = []
    seen: dict[int, str] = {}
    for field in fields(outline):
        if field.name not in POOLED:
            _write(getattr(outline, field.name), parts, seen)
    lines = {line: number for number, line in enumerate(sorted({part for part in parts if isinstance(part, int)}))}
    text = "\0".join(part if isinstance(part, str) else f"line {lines[part]}" for part in parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _write(value: object, parts: list[str | int], seen: dict[int, str]) -> None:
    kind = value.__class__
    if kind is str:
        parts.append(f"str:{len(value)}:{value}")  # type: ignore[arg-type]
    elif isinstance(value, ast.AST):
        # All names bound in one `try` hold it as their guard.
        if id(value) in seen:
            parts.append(seen[id(value)])
            return
        seen[id(value)] = f"#{len(seen)}"
        parts.append(kind.__name__)
        for name in kind._fields:  # type: ignore[attr-defined]
            item = getattr(value, name, None)
            if item is not None and not isinstance(item, ast.expr_context):
                parts.append(name)
                _write(item, parts, seen)
        line = getattr(value, "lineno", None)
        if line is not None:
            parts.append(line)
            # Nodes that share a line may still stand in another order on it.
            parts.append(f"{value.col_offset}")  # type: ignore[attr-defined]
            parts.append(value.end_lineno or line)  # type: ignore[attr-defined]
    elif value is None or isinstance(value, bool | int | float | complex | bytes) or value is ...:
        parts.append(f"{type(value).__name__}:{value!r}")
    elif isinstance(value, frozenset | set):
        parts.append(f"{{{len(value)}")
        parts.extend(sorted(map(repr, value)))
    elif isinstance(value, list | tuple):
        parts.append(f"[{len(value)}")
        for item in value:
            _write(item, parts, seen)
    elif isinstance(value, dict):
        parts.append(f"({len(value)}")
        for key, item in value.items():
            _write(key, parts, seen)
            _write(item, parts, seen)
    elif is_dataclass(value):
        parts.append(type(value).__name__)
        for field in fields(value):
            found = getattr(value, field.name)
            if field.name == "line":
                parts.append(found)
            else:
                _write(found, parts, seen)
    else:
        raise TypeError(f"an outline holds a {type(value).__name__}, of which no skeleton is known")
