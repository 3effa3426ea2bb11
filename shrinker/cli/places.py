"""Where a generated tree's manifest and reports are. Light to import: `why` answers in a moment."""

from __future__ import annotations

import json
from pathlib import Path

from shrinker.values.errors import InputError
from shrinker.values.manifest import Manifest

REPOSITORY = Path(__file__).resolve().parents[2]
MANIFEST_NAME = "SHRINK.json"
LOCK_NAME = "shrink.lock.json"


def read_manifest(out: Path) -> Manifest:
    """SHRINK.json of a generated tree. Raises InputError when there is none or it is not one."""
    path = out / MANIFEST_NAME
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}", "generate the tree first: `make shrink`") from error
    return Manifest.from_json(text, str(path))


def find_graph(out: Path, reports: Path | None = None) -> Path:
    """graph.json of the reports that belong to a generated tree.

    Raises:
        InputError: there is no tree, or no graph of the same upstream, profile and rules.
    """
    manifest = out / MANIFEST_NAME
    try:
        head = _head(manifest)
    except OSError as error:
        raise InputError(f"{manifest}: {error.strerror or error}", "generate the tree first: `make shrink`") from error
    folders = [reports] if reports else [out.with_name(out.name + ".reports"), REPOSITORY / "reports" / str(head.get("profile"))]
    for folder in folders:
        graph, lock = folder / "graph.json", folder / LOCK_NAME
        if graph.is_file() and lock.is_file() and _head(lock) == head:
            return graph
    raise InputError(
        f"no graph.json of {out} in {' or '.join(str(f) for f in folders)}",
        "generate the tree again with `make shrink`: the graph is not committed",
    )


def _head(path: Path) -> dict[str, object]:
    """Everything of a manifest but its files, without reading them."""
    lines: list[str] = []
    with path.open(encoding="utf-8") as text:
        for line in text:
            if line.startswith(' "files"'):
                break
            lines.append(line)
    try:
        data: dict[str, object] = json.loads("".join(lines).rstrip().rstrip(",") + "}")
    except ValueError as error:
        raise InputError(f"{path} is not a manifest of shrinker: {error}", "generate the tree again: `make shrink`") from error
    return data
