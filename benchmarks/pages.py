"""What every generated page of this folder shares: how it is rendered, and how figures are
shown.
"""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment

from benchmarks.figures import Spread
from shrinker.report.place import templates


def environment(folder: Path) -> Environment:
    """Templates of a folder, with the filters of the reports, ``seconds`` and ``mib``."""
    made = templates(folder)
    made.filters.update(
        seconds=lambda spread: show(spread, 1, 2), mib=lambda spread: show(spread, 2**20, 0)
    )
    return made


def show(spread: Spread | None, unit: float, digits: int) -> str:
    """``min / median / max``, or the one figure when all are equal."""
    if spread is None:
        return "-"
    shown = [
        f"{value / unit:.{digits}f}" for value in (spread.minimum, spread.median, spread.maximum)
    ]
    return shown[0] if len(set(shown)) == 1 else " / ".join(shown)
