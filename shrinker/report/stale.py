"""Evidence that is of another tree than the one whose reports it lies among: its page says so in its first lines."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from shrinker.values.manifest import Manifest

EVIDENCE = ("verify", "mutation", "mutation-rules", "breakages", "gpu")
"""Pairs of a page and a JSON document that no run of `shrink` writes."""
_MARK = "> **Stale.** "


def mark_stale(reports: Path, manifest: Manifest) -> Sequence[str]:
    """Mark the pages that are evidence of another tree, and take the mark from those that are of this one.

    Returns:
        Of each stale piece of evidence its file, and what it is evidence of.
    """
    found: list[str] = []
    for name in EVIDENCE:
        page = reports / f"{name}.md"
        with contextlib.suppress(OSError, ValueError):
            data = json.loads((reports / f"{name}.json").read_text("utf-8"))
            text = page.read_text("utf-8")
            of = _other(data, manifest)
            marked = _marked(text, of and f"{_MARK}Evidence of {of}, not of the tree of these reports.")
            if of:
                found.append(f"{page.name}: {of}")
            if marked != text:
                page.write_text(marked, "utf-8")
    return found


def _other(data: Any, manifest: Manifest) -> str:
    """What a document is evidence of, where that is not this tree; else nothing."""
    ran = data.get("hardware", {}).get("trees", {}).get("generated")
    if ran is not None:
        # The runner on GPUs knows Python files alone, and no manifest.
        return "" if ran == _python_digest(manifest) else f"a tree whose Python is {ran}"
    tree, upstream = data.get("tree"), data.get("upstream", "")
    rules = data.get("rules_hash", "")
    known = tree == manifest.tree if tree else (upstream, rules) == (manifest.upstream.spec, manifest.rules_hash)
    if known:
        return ""
    return f"the tree {tree[:12]} of {upstream}" if tree else f"{upstream} by rules {rules[:12]}"


def _python_digest(manifest: Manifest) -> str:
    """As `equivalence.gpu` names a tree: by path and content of every Python file below `python/`."""
    files = [(PurePosixPath(f.path).relative_to("python"), f.sha256) for f in manifest.files if _is_python(f.path)]
    rows = (f"{path.as_posix()}\0{sha256}\n" for path, sha256 in sorted(files))
    return hashlib.sha256("".join(rows).encode()).hexdigest()[:16]


def _is_python(path: str) -> bool:
    return path.startswith("python/") and path.endswith(".py")


def _marked(text: str, mark: str) -> str:
    lines = text.split("\n")
    at = next((number for number, line in enumerate(lines) if line.startswith(_MARK)), None)
    if at is not None:
        del lines[at - 1 : at + 1]
    if mark:
        # Below the title.
        lines[1:1] = ["", mark]
    return "\n".join(lines)
