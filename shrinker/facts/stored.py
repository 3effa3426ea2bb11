"""Outlines as they are kept between runs: nearly all of one is the syntax trees that its names are bound to, which are unpacked
when a name is first asked for."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from shrinker.cache import pack, unpack
from shrinker.facts.outline import Outline

_FIELDS = tuple(field.name for field in fields(Outline) if field.name != "names")
_NAMES: Any = Outline.__dict__["names"]
"""The slot that holds the names once they are unpacked."""


class StoredOutline(Outline):
    """An outline whose names are still packed."""

    __slots__ = ("_packed",)

    def __init__(self, values: tuple[Any, ...], packed: bytes) -> None:
        for name, value in zip(_FIELDS, values, strict=True):
            setattr(self, name, value)
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


def store(outline: Outline | None) -> bytes:
    """An outline as bytes; None for a file that does not parse."""
    return pack(outline and (tuple(getattr(outline, name) for name in _FIELDS), pack(outline.names)))


def restore(data: bytes) -> Outline | None:
    """What was stored."""
    found = unpack(data)
    return None if found is None else StoredOutline(*found)
