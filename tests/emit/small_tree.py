"""A generated tree of a few files, with the manifest that says so."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from shrinker.values.manifest import Manifest
from shrinker.values.outcome import EmittedFile
from shrinker.values.upstream import Identity


def write_tree(out: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text)
    listed = tuple(EmittedFile(n, hashlib.sha256(t.encode()).hexdigest(), 1, 1, False, None) for n, t in files.items())
    manifest = Manifest("1", "deepseek", "h", Identity("release", "release:1", "1", None, False), listed)
    (out / "SHRINK.json").write_text(manifest.to_json())


def dead_process() -> int:
    """The number of a process that has ended."""
    process = os.fork()
    if not process:
        os._exit(0)
    os.waitpid(process, 0)
    return process
