"""What a run of wrong rules showed, as JSON and as a page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

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
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{NAME}.json").write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", "utf-8")
    (folder / f"{NAME}.md").write_text(page(data), "utf-8")
    return data


def page(data: Mapping[str, Any]) -> str:
    """The same to read."""
    changing = [row for row in data["rules"] if row["files"]]
    survivors = [row for row in changing if not row["caught_by"]]
    whole = sum(row["whole"] for row in changing)
    share = 100 * (len(changing) - len(survivors)) / len(changing) if changing else 100.0
    columns = ["kind of rule", "planted", "change the tree", *data["levels"], "survive"]
    lines = [
        "# Wrong rules, planted one at a time",
        "",
        f"Upstream `{data['upstream']}`, profile `{data['profile']}`, seed {data['seed']}. A default run notices {share:.1f} % of the "
        f"{len(changing)} that change the tree; the goal is {GOAL} %. What a rule does by itself was enough for {len(changing) - whole} of them; for "
        f"{whole} the whole tree was made, all survivors among them.",
        "",
        "| " + " | ".join(columns) + " |",
        "| --- |" + " ---: |" * (len(columns) - 1),
        *("| " + " | ".join(str(cell) for cell in row) + " |" for row in data["table"]),
    ]
    if survivors:
        lines += ["", f"## Survivors ({len(survivors)})", ""]
        for row in survivors:
            shown = ", ".join(f"`{path}`" for path in row["removed"])
            lines.append(f"- {row['kind']}: `{row['subject']}`: {row['files']} files are other ones or gone: {shown}")
    return "\n".join([*lines, ""])
