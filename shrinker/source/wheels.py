"""Wheels of programs that use the served package: named by name, version and hash, kept as files, read and never installed."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from shrinker.project import pins_file
from shrinker.source import cache, index
from shrinker.source.release import download
from shrinker.values.errors import InputError

PINS = "embedders.toml"
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Wheel:
    """One file of the package index."""

    name: str
    """Of the distribution, as the index has it."""
    file: str
    sha256: str
    why: str
    """Who uses it for what."""


def load_wheels(project: Path) -> tuple[Wheel, ...]:
    """Read the `embedders.toml` of a project, or that of the package where it has none.

    Raises:
        InputError: it is missing, is not TOML, or a row is not whole.
    """
    path = pins_file(project, PINS)
    try:
        rows = tomllib.loads(path.read_text("utf-8"))["wheel"]
        found = tuple(Wheel(str(row["name"]), str(row["file"]), str(row["sha256"]), str(row["why"])) for row in rows)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}", "run from a checkout of shrinker") from error
    except (tomllib.TOMLDecodeError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise InputError(f"{PINS}: {error!r}", f"mend {PINS} or take it from git") from error
    for wheel in found:
        if "/" in wheel.file or not wheel.file.endswith(".whl") or not _HASH.fullmatch(wheel.sha256):
            raise InputError(f"{PINS}: {wheel.name}: not the file name and SHA-256 of a wheel", f"mend {PINS}")
    return found


def cached_wheel(wheel: Wheel, folder: Path) -> Path | None:
    """Its file in the cache folder when that is there, byte for byte; the network is not used."""
    file = folder / "downloads" / wheel.sha256 / wheel.file
    return file if file.is_file() and cache.sha256_of(file) == wheel.sha256 else None


def open_wheel(wheel: Wheel, folder: Path, progress: Callable[[str], None]) -> Path:
    """Its file in the cache folder; downloaded when it is not there.

    Args:
        wheel: which.
        folder: the cache folder.
        progress: told what takes time.

    Raises:
        InputError: no network, no such file on the index, or another hash than the pinned one.
    """
    file = folder / "downloads" / wheel.sha256 / wheel.file
    with cache.locked(file):
        found = cached_wheel(wheel, folder)
        if found is not None:
            return found
        url = index.index_url()
        offered = [one for one in index.list_files(url, wheel.name) if one.filename == wheel.file]
        if not offered:
            raise InputError(
                f"{index.without_password(url)} has no {wheel.file}", f"pin another version of it in {PINS}"
            )
        if offered[0].sha256 not in (None, wheel.sha256):
            raise InputError(
                f"{wheel.file}: the index says sha256 {offered[0].sha256}, {PINS} says {wheel.sha256}",
                f"check the index; pin the hash in {PINS} that its project publishes",
            )
        download(index.IndexFile(wheel.file, offered[0].url, wheel.sha256), file, progress)
    return file
