"""Which folder holds the reports of a generated tree."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shrinker.project import default_out, project_folder
from shrinker.source.pins import load_pins
from shrinker.values.contents import MANIFEST
from shrinker.values.manifest import Manifest
from shrinker.values.upstream import Identity

LOCK = "shrink.lock.json"
WRITTEN = (
    "DEPENDENCIES.md",
    "REMOVED_FILES.md",
    "api.md",
    "dependencies.json",
    "dependencies.svg",
    "errors.txt",
    "tuning.txt",
    "lines.txt",
    "graph.json",
    "interface.json",
    "interface.md",
    "keep.txt",
    "questionable.txt",
    "remove.txt",
    "rules.json",
    "rules.md",
    "run.json",
    "index.html",
    "summary.json",
    "symbol_edges.json",
    "symbols.json",
    "uncertain.txt",
)
"""What a run writes beside the lock."""


def reports_beside(out: Path) -> Path:
    """The folder beside a tree for what belongs to that tree alone."""
    return out.with_name(out.name + ".reports")


def new_reports(out: Path, upstream: Identity, profile: str, *, usual: bool = True) -> Path:
    """Where a run puts the reports of the tree that it makes.

    Args:
        out: where the tree goes.
        upstream: that it is made from.
        profile: by which.
        usual: whether it is made by the project's own rules, all of them, as `shrink` is by default.

    Returns:
        The project's `reports/PROFILE` for what its owner keeps: the usual tree of the pinned upstream in its usual
        place. For any other a folder beside the tree, so that no experiment replaces what is kept.
    """
    project = project_folder()
    in_place = out.resolve() == (project / default_out(profile)).resolve()
    if usual and in_place and load_pins(project).is_pinned(upstream):
        return project / "reports" / profile
    return reports_beside(out)


def reports_of(out: Path, manifest: Manifest, asked: Path | None = None) -> Path:
    """Where the reports of a tree are: the folder whose lock is the tree's manifest, byte for byte.

    A run puts the lock in place last, so that a folder with another one belongs to another tree or to a run that died.
    Where no folder has it, the one where a run would put them.
    """
    if asked is not None:
        return asked
    recorded = (out / MANIFEST).read_bytes()
    for folder in candidates(out, manifest.profile):
        lock = folder / LOCK
        if lock.is_file() and lock.read_bytes() == recorded:
            return folder
    return new_reports(out, manifest.upstream, manifest.profile)


def candidates(out: Path, profile: str) -> tuple[Path, ...]:
    """Folders that may hold the reports of a tree, the likeliest first."""
    return reports_beside(out), project_folder() / "reports" / profile


def foreign_reports(folder: Path) -> list[Path]:
    """Files of a folder that a run would replace and that no run wrote: there is no lock beside them."""
    return [] if (folder / LOCK).is_file() else [folder / name for name in WRITTEN if os.path.lexists(folder / name)]


def evidence_folder(out: Path, reports: Path, name: str, same: Callable[[Any], bool]) -> Path:
    """Where evidence of a tree goes: among its reports, unless what stands there was asked for otherwise.

    Args:
        out: the tree.
        reports: its reports.
        name: of the JSON file of this evidence.
        same: says of the content of such a file whether it was asked for as this run is.

    Returns:
        `reports`, or the folder beside the tree: a quick try replaces no evidence that somebody keeps.
    """
    try:
        kept = json.loads((reports / name).read_text("utf-8"))
    except (OSError, ValueError):
        return reports
    with contextlib.suppress(KeyError, TypeError, AttributeError):
        if same(kept):
            return reports
    return reports_beside(out)
