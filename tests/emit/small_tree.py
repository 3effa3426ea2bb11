"""A generated tree of a few files, with the manifest that says so."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from shrinker.values.manifest import Manifest
from shrinker.values.outcome import EmittedFile
from shrinker.values.upstream import Identity
from tests.small import content, write


def write_tree(out: Path, files: Mapping[str, str]) -> None:
    write(out, files)
    listed = tuple(EmittedFile(n, hashlib.sha256(t.encode()).hexdigest(), 1, 1, False, None) for n, t in files.items())
    manifest = Manifest("1", "deepseek", "h", Identity("release", "release:1", "1", None, False), listed)
    (out / "SHRINK.json").write_text(manifest.to_json())


def neighbours(out: Path) -> list[str]:
    """What stands beside the output, itself included."""
    return sorted(p.name for p in out.parent.iterdir())


def previous_tree(out: Path) -> dict[str, bytes]:
    """A generated tree that stands there already, and what it holds."""
    out.mkdir(parents=True)
    write_tree(out, {"old.py": "old"})
    return content(out)


def dead_process() -> int:
    """The number of a process that has ended."""
    process = os.fork()
    if not process:
        os._exit(0)
    os.waitpid(process, 0)
    return process
