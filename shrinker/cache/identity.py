"""What every cached result depends on besides its input: this tool's own code, and the Python that runs it."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def content_digest(folder: Path) -> str:
    """SHA-256 (hex) over paths and bytes of every file below a folder, byte code aside."""
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if "__pycache__" not in path.parts and path.is_file()):
        data = file.read_bytes()
        digest.update(f"{file.relative_to(folder).as_posix()}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()


@cache
def tool_identity() -> str:
    """Changes with every change of shrinker's own files and with the Python version, to the build."""
    return hashlib.sha256(f"{content_digest(_PACKAGE)}\0{sys.implementation.name}\0{sys.version}".encode()).hexdigest()
