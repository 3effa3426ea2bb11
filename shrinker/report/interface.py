"""The content of `interface.json`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from shrinker.values.entries import KEPT, Entries
from shrinker.values.interface import Interface

FORMAT = 1


def interface_data(interface: Interface, entries: Entries) -> dict[str, Any]:
    """The content of ``interface.json``."""
    effects = [asdict(flag) for flag in entries.flags if flag.effect != KEPT]
    return {"format": FORMAT, "unexplained": len(interface.unexplained()), **asdict(interface), "effects": effects}
