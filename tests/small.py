"""What small worlds of tests are made of: files, and rules as a file of rules holds them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """The folder, with a file by each of these names below it."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def rule(kind: str, name: str, /, *lines: str, why: str = "A rule of the test.", **keys: Any) -> str:
    """One rule.

    Args:
        kind: of its table.
        name: its id.
        lines: keys with their values, as written.
        keys: values that JSON writes as TOML does: texts, numbers, truths, lists of these.
    """
    own = [f"{key} = {json.dumps(value)}" for key, value in {"id": name, "why": why}.items()]
    more = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join((f"[[{kind}]]", *own, *lines, *more, ""))
