"""Write a comparison: ``comparison.json`` and ``COMPARISON.md``."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from benchmarks.compare.measuring import Comparison
from benchmarks.machine import Machine
from benchmarks.results import show

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Report:
    """All that is written."""

    date: str
    """ISO 8601, UTC."""
    profile: str
    runs: int
    machine: Machine
    comparisons: tuple[Comparison, ...]


def write_report(report: Report, folder: Path) -> Sequence[Path]:
    """Write both files; returns their paths. Raises OSError."""
    texts = {
        "comparison.json": json.dumps({"format": _FORMAT, **asdict(report)}, indent=1, ensure_ascii=False) + "\n",
        "COMPARISON.md": markdown(report),
    }
    for name, text in texts.items():
        new = folder / f".{name}.new"
        new.write_text(text, "utf-8")
        os.replace(new, folder / name)
    return [folder / name for name in texts]


def markdown(report: Report) -> str:
    """The page that people read."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters.update(
        n=lambda number: f"{number:,}",
        seconds=lambda spread: show(spread, 1, 2),
        mib=lambda spread: show(spread, 2**20, 0),
        cell=lambda text: " ".join(str(text).split()).replace("|", "\\|"),
    )
    return environment.get_template("COMPARISON.md.jinja").render(report=report)
