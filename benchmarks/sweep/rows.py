"""What the sweep knows of each upstream, and the file that it is kept in."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.pages import environment
from shrinker.report.place import readable, write_files

FORMAT = 3
FOLDER = Path(__file__).resolve().parents[1]
STATE = "sweep.json"
PAGE = "SWEEP.md"


@dataclass(frozen=True, slots=True)
class Row:
    """One upstream."""

    name: str
    """``release:0.5.14`` or ``git@<commit>``; no place."""
    profile: str
    rules_hash: str
    tool: str
    """Identity of the tool's files and of Python."""
    outcome: str
    """``clean``: the rules fit, see `shrinker.report.fit`; ``generated``; ``failed``; ``killed``
    (time or memory).
    """
    cause: str = ""
    """First words of what went wrong, or of what strict mode would refuse."""
    files_before: int = 0
    files: int = 0
    lines_before: int = 0
    lines: int = 0
    """Of the package's Python, as the files."""
    undefined_names: int = 0
    unknown_predicates: tuple[str, ...] = ()
    findings: dict[str, int] = field(default_factory=dict)
    """What strict mode would refuse, by check."""
    rescued: tuple[str, ...] = ()
    """Modules that a rule removes and that something needs, each with the place."""
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    memory_bytes: int = 0


Key = tuple[str, str]
"""Name of an upstream, and profile: what a row is of."""


def load(folder: Path) -> dict[Key, Row]:
    """Return rows by what they are of; none when there is no file, or one of another format."""
    try:
        data = json.loads((folder / STATE).read_text("utf-8"))
        if data["format"] != FORMAT:
            return {}
        rows = [_row(row) for row in data["rows"]]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return {(row.name, row.profile): row for row in rows}


def save(folder: Path, rows: dict[Key, Row], order: list[Key]) -> None:
    """Write the state and the page of it, each replaced whole.

    Args:
        order: what rows are of, in the order of the page; others follow.

    Raises:
        InputError: the folder cannot be written.
    """
    places = {key: place for place, key in enumerate(order)}
    others = sorted(rows.keys() - places.keys())
    shown = [rows[key] for key in (*order, *others) if key in rows]
    page = environment(Path(__file__).parent).get_template("SWEEP.md.jinja").render(rows=shown)
    state = {"format": FORMAT, "rows": [asdict(row) for row in shown]}
    write_files(folder, {STATE: readable(state), PAGE: page})


def _row(data: dict[str, Any]) -> Row:
    return Row(
        **{
            **data,
            "unknown_predicates": tuple(data["unknown_predicates"]),
            "rescued": tuple(data["rescued"]),
        }
    )
