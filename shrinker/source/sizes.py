"""How large a distribution is to download, where the package index tells it (PEP 700). Asked for by name only."""

from __future__ import annotations

import json
from collections.abc import Iterable

from packaging.requirements import Requirement
from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

from shrinker.source.index import fetch
from shrinker.values.errors import InputError


def download_size(index: str, requirement: str) -> int | None:
    """Bytes of the file that an x86-64 Linux machine would download of the newest version that fits.

    Dependencies do not count. A size that cannot be had is None, never an error.

    Args:
        index: URL of a PEP 503 index.
        requirement: PEP 508; its marker is not looked at.
    """
    wanted = Requirement(requirement)
    try:
        kind, body, _ = fetch(f"{index}/{wanted.name.lower()}/")
        rows = json.loads(body)["files"] if "json" in kind else []
        files = [(str(row["filename"]), int(row["size"])) for row in rows if "size" in row and not row.get("yanked")]
    except (InputError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return _size(wanted, files)


def _size(wanted: Requirement, files: Iterable[tuple[str, int]]) -> int | None:
    best: tuple[Version, int, str, int] | None = None
    for name, size in files:
        ranked = _rank(name)
        if ranked is None or not wanted.specifier.contains(ranked[0]):
            continue
        candidate = (ranked[0], ranked[1], name, size)
        if best is None or candidate > best:
            best = candidate
    return best[3] if best is not None else None


def _rank(filename: str) -> tuple[Version, int] | None:
    """Version, and how well the file fits: a Linux wheel of the machine, a pure one, a source distribution."""
    try:
        if not filename.endswith(".whl"):
            return parse_sdist_filename(filename)[1], 0
        _, version, _, tags = parse_wheel_filename(filename)
    except (InvalidWheelFilename, InvalidSdistFilename):
        return None
    platforms = {tag.platform for tag in tags}
    if any("linux" in platform and platform.endswith("x86_64") for platform in platforms):
        return version, 2
    return (version, 1) if "any" in platforms else None
