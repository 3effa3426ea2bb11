"""Options that several commands share, and how they are read and answered."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


Out = Annotated[Path, typer.Option("--out", help="The generated tree.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, also for an error.")]
Everything = Annotated[bool, typer.Option("--all", help="List what is explained too, with its reason.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Worker processes; default: one a core.")]
Reports = Annotated[
    Path | None, typer.Option("--reports", help="Reports of the tree; default: where shrink puts them.")
]
Rules = Annotated[
    Path | None, typer.Option("--rules", help="Folder of rule files with profiles/ in it; default: rules/.")
]
RecordedUpstream = Annotated[
    str | None, typer.Option("--upstream", help="Where upstream is; default: what SHRINK.json names.")
]

DEFAULT_OUT = Path("dist/sglang_deepseek")
CORES = _cores()


def absolute(path: Path | None) -> Path | None:
    """The path from the root, None for None."""
    return path.absolute() if path is not None else None


def print_json(document: Any) -> None:
    """Print the one document of ``--json``."""
    print(json.dumps(document, indent=1, sort_keys=True))
