"""A published release: downloaded as a file, verified against the index's hash, never installed, never executed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

from shrinker.source import archive, cache, declared, index, layout
from shrinker.source.cache import Materialised, Writer
from shrinker.values.errors import InputError
from shrinker.values.upstream import PACKAGE_PREFIX, DeclaredPackage

PROJECT = "sglang"


def open_release(version: str, folder: Path, progress: Callable[[str], None]) -> Materialised:
    """The tree of a release.

    Args:
        version: normalised (PEP 440).
        folder: the cache folder.
        progress: told what takes time.

    Raises:
        InputError: unknown version, no network and not cached, hash mismatch, or a hostile archive.
    """
    file, sha256 = _downloaded(version, folder, progress)
    return cache.tree(folder, cache.tree_key("release", sha256), lambda write: unpack(file, write), file.name)


def unpack(file: Path, write: Writer) -> DeclaredPackage:
    """Hand the tree's files of a wheel or source distribution to `write`; returns what it declares."""
    wheel = file.suffix == ".whl"
    place = layout.from_wheel if wheel else layout.from_sdist
    described: dict[str, bytes] = {}
    package = False
    for member, content in archive.members(file):
        path = place(member)
        if path is not None:
            package = package or path == f"{PACKAGE_PREFIX}__init__.py"
            write(path, content)
        name = member.partition("/")[2]
        if (wheel and member.partition("/")[0].endswith(".dist-info")) or (not wheel and name == "pyproject.toml"):
            described[name] = content
    if not package:
        raise InputError(f"{file.name} holds no package `sglang`", "check the index and the version")
    if "pyproject.toml" in described:
        return declared.from_pyproject(described["pyproject.toml"], f"{file.name}: pyproject.toml")
    if "METADATA" not in described:
        raise InputError(f"{file.name} has no metadata", "check the index and the version")
    return declared.from_metadata(
        described["METADATA"], described.get("entry_points.txt", b""), f"{file.name}: METADATA"
    )


def _downloaded(version: str, folder: Path, progress: Callable[[str], None]) -> tuple[Path, str]:
    """The release's file in the cache and its SHA-256; the network is used only when it is not there."""
    url = index.index_url()
    # By index: two indexes may serve different files under one version. Hashed: the URL may hold a password.
    record = folder / "index" / hashlib.sha256(url.encode()).hexdigest()[:16] / f"{version}.json"
    with cache.locked(record):
        known = _recorded(record)
        if known is not None:
            file = folder / "downloads" / known[1] / known[0]
            if file.is_file() and cache.sha256_of(file) == known[1]:
                return file, known[1]
        progress(f"looking for {PROJECT} {version} on {index.without_password(url)}")
        chosen = index.choose(index.list_files(url, PROJECT), version, url)
        assert chosen.sha256 is not None
        layout.checked_path(chosen.filename, "index")
        file = folder / "downloads" / chosen.sha256 / chosen.filename
        if not (file.is_file() and cache.sha256_of(file) == chosen.sha256):
            download(chosen, file, progress)
        with cache.replacing(record) as new:
            new.write_text(json.dumps({"filename": chosen.filename, "sha256": chosen.sha256}), "utf-8")
    return file, chosen.sha256


def download(chosen: index.IndexFile, file: Path, progress: Callable[[str], None]) -> None:
    """Put a file of the index in its place, once its bytes have the hash that is said of it. Raises InputError."""
    progress(f"downloading {chosen.filename}")
    _, body, _ = index.fetch(chosen.url)
    found = hashlib.sha256(body).hexdigest()
    if found != chosen.sha256:
        raise InputError(
            f"{chosen.filename}: sha256 is {found}, the index says {chosen.sha256}",
            "nothing was kept of it; a proxy or mirror may have changed it: check UV_DEFAULT_INDEX / PIP_INDEX_URL",
        )
    with cache.replacing(file) as new:
        new.write_bytes(body)


def _recorded(record: Path) -> tuple[str, str] | None:
    try:
        data = json.loads(record.read_text("utf-8"))
        filename, sha256 = data["filename"], data["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return (filename, sha256) if "/" not in f"{filename}" and re.fullmatch("[0-9a-f]{64}", f"{sha256}") else None
