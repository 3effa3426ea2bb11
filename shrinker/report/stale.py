"""Evidence that is of another tree than the one whose reports it lies among: its page says so in its first lines."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shrinker.values.manifest import Manifest

EVIDENCE = ("verify", "mutation", "breakages", "gpu")
"""Pairs of a page and a JSON document that no run of `shrink` writes."""
_MARK = "> **Stale.** "


def mark_stale(reports: Path, manifest: Manifest) -> Sequence[str]:
    """Mark the pages that are evidence of another tree, and take the mark from those that are of this one.

    Args:
        reports: of the tree.
        manifest: of the tree.

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
    tree, upstream = data.get("tree"), data.get("upstream", "")
    rules = data.get("rules_hash", "")
    known = tree == manifest.tree if tree else (upstream, rules) == (manifest.upstream.spec, manifest.rules_hash)
    if known:
        return ""
    return f"the tree {tree[:12]} of {upstream}" if tree else f"{upstream} by rules {rules[:12]}"


def _marked(text: str, mark: str) -> str:
    lines = text.split("\n")
    at = next((number for number, line in enumerate(lines) if line.startswith(_MARK)), None)
    if at is not None:
        del lines[at - 1 : at + 1]
    if mark:
        # Below the title.
        lines[1:1] = ["", mark]
    return "\n".join(lines)
