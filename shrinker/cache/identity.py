"""What every cached result depends on besides its input: this project's own code, and the Python that runs it."""

import hashlib
import sys
from collections.abc import Container
from functools import cache
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[2]
_DATA = frozenset({"rules", "upstream.toml", "embedders.toml"})
"""What lies in the package and is input: results that depend on it say so themselves."""


def content_digest(folder: Path, without: Container[str] = ()) -> str:
    """SHA-256 (hex) over paths and bytes of every file below a folder, but byte code and some names directly below it."""
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if "__pycache__" not in path.parts and path.is_file()):
        name = file.relative_to(folder)
        if name.parts[0] not in without:
            data = file.read_bytes()
            digest.update(f"{name.as_posix()}\0{len(data)}\0".encode())
            digest.update(data)
    return digest.hexdigest()


@cache
def tool_identity(package: str = "shrinker") -> str:
    """Changes with every change of a package of this project and with the Python version, to the build.

    By default of the package that generates, which imports no other to do so. What others compute says that it depends on them, too.
    """
    code = content_digest(_CHECKOUT / package, _DATA)
    return hashlib.sha256(f"{code}\0{sys.implementation.name}\0{sys.version}".encode()).hexdigest()
