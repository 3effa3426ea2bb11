"""What a run of wrong rules showed, as JSON and as a page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shrinker.report.pages import readable, render, write_files
from shrinker.values.errors import InputError
from shrinker.values.manifest import Manifest

NAME = "mutation-rules"
FORMAT = 2
GOAL = 95
"""Per cent of the wrong rules that change the tree, which a default run is to notice."""
_NOT_KEPT = ("seconds",)
"""Of an outcome: what depends on the machine."""


def header(manifest: Manifest, seed: int) -> dict[str, Any]:
    """What outcomes must agree in to stand in one report."""
    return {
        "format": FORMAT,
        "profile": manifest.profile,
        "upstream": manifest.upstream.spec,
        "rules_hash": manifest.rules_hash,
        "tree": manifest.tree,
        "seed": seed,
    }


def read_outcomes(file: Path, head: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Outcomes of an earlier run; none where there is no file.

    Raises:
        InputError: it holds what another run gave, which is not replaced.
    """
    if not file.is_file():
        return []
    try:
        data = json.loads(file.read_text("utf-8"))
        other = [key for key, value in head.items() if data.get(key) != value]
        rows: list[dict[str, Any]] = data["rules"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{file} cannot be read: {error!r}", "remove it, or name another folder with --reports"
        ) from error
    if other:
        raise InputError(
            f"{file} is of another run: {', '.join(other)} differ", "say --anew, or name another folder with --reports"
        )
    return rows


def write_outcomes(folder: Path, head: Mapping[str, Any], outcomes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Write both files; returns the content of the JSON."""
    rows = [{key: value for key, value in row.items() if key not in _NOT_KEPT} for row in outcomes]
    levels = sorted({row["caught_by"] for row in rows} - {""})
    table = []
    for kind in [*dict.fromkeys(row["kind"] for row in rows), "all"]:
        some = [row for row in rows if kind in ("all", row["kind"])]
        changing = [row for row in some if row["files"]]
        by = Counter(row["caught_by"] for row in changing)
        table.append([kind, len(some), len(changing), *(by[level] for level in levels), by[""]])
    data = {**head, "levels": levels, "table": table, "rules": rows}
    write_files(folder, {f"{NAME}.json": readable(data), f"{NAME}.md": page(data)})
    return data


def page(data: Mapping[str, Any]) -> str:
    """The same to read."""
    changing = [row for row in data["rules"] if row["files"]]
    survivors = [row for row in changing if not row["caught_by"]]
    share = 100 * (len(changing) - len(survivors)) / len(changing) if changing else 100.0
    whole = sum(row["whole"] for row in changing)
    said = {"changing": changing, "survivors": survivors, "share": share, "whole": whole, "goal": GOAL}
    return render(f"{NAME}.md.jinja", **data, **said)
