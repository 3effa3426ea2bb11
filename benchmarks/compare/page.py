"""Write a comparison: ``comparison.json`` and ``COMPARISON.md``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.compare.measuring import Comparison
from benchmarks.machine import Machine
from benchmarks.pages import environment, replace_files

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
    return replace_files(texts, folder)


def markdown(report: Report) -> str:
    """The page that people read."""
    return environment(Path(__file__).parent).get_template("COMPARISON.md.jinja").render(report=report)
