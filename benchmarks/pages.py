"""What every generated page of this folder shares: how it is rendered, how figures are shown, how files are replaced."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from benchmarks.figures import Spread


def environment(folder: Path) -> Environment:
    """Templates of a folder, with the filters ``n``, ``seconds``, ``mib`` and ``cell``."""
    made = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    made.filters.update(
        n=lambda number: f"{number:,}",
        seconds=lambda spread: show(spread, 1, 2),
        mib=lambda spread: show(spread, 2**20, 0),
        # A bar would end the cell.
        cell=lambda text: " ".join(str(text).split()).replace("|", "\\|"),
    )
    return made


def show(spread: Spread | None, unit: float, digits: int) -> str:
    """``min / median / max``, or the one figure when all are equal."""
    if spread is None:
        return "-"
    shown = [f"{value / unit:.{digits}f}" for value in (spread.minimum, spread.median, spread.maximum)]
    return shown[0] if len(set(shown)) == 1 else " / ".join(shown)


def replace_files(texts: Mapping[str, str], folder: Path) -> list[Path]:
    """Write files by name, each beside its place and then into it; returns their paths. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        new = folder / f".{name}.new"
        new.write_text(text, "utf-8")
        os.replace(new, folder / name)
    return [folder / name for name in texts]
