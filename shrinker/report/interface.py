"""The content of `interface.json`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from shrinker.values.interface import Interface

FORMAT = 1


def interface_data(interface: Interface) -> dict[str, Any]:
    """The content of ``interface.json``."""
    return {"format": FORMAT, "unexplained": len(interface.unexplained()), **asdict(interface)}
