"""Files of the package index, verified against a hash, kept as files, never installed, executed or
extracted by name alone: a published release; and wheels of programs that use the served package,
named by name, version and hash.
"""

import hashlib
import json
import re
import stat
import tomllib
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shrinker.project import pins_file
from shrinker.source import cache, declared, index, layout
from shrinker.source.cache import Opened, Progress, Writer
from shrinker.source.pins import Pins, reading
from shrinker.source.spec import without_password
from shrinker.values.errors import InputError
from shrinker.values.upstream import PACKAGE, PACKAGE_PREFIX, Identity, UpstreamTree

PINS = "embedders.toml"


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

    Raises InputError: it is missing, is not TOML, or a row is not whole.
    """
    path = pins_file(project, PINS)
    with reading(path):
        rows = tomllib.loads(path.read_text("utf-8"))["wheel"]
        found = tuple(
            Wheel(str(row["name"]), str(row["file"]), str(row["sha256"]), str(row["why"]))
            for row in rows
        )
    for wheel in found:
        if (
            "/" in wheel.file
            or not wheel.file.endswith(".whl")
            or not re.fullmatch("[0-9a-f]{64}", wheel.sha256)
        ):
            raise InputError(
                f"{PINS}: {wheel.name}: not the file name and SHA-256 of a wheel", f"mend {PINS}"
            )
    return found


def cached_wheel(wheel: Wheel, folder: Path) -> Path | None:
    """Return its file in the cache folder when that is there, byte for byte; the network is not
    used.
    """
    return _cached(folder, wheel.file, wheel.sha256)


def open_wheel(wheel: Wheel, folder: Path, progress: Progress) -> Path:
    """Return its file in the cache folder; downloaded when it is not there.

    Raises InputError: no network, no such file on the index, or another hash than the pinned one.
    """
    with cache.locked(_place(folder, wheel.file, wheel.sha256)):
        found = cached_wheel(wheel, folder)
        if found is not None:
            return found
        url = index.index_url()
        offered = [one for one in index.list_files(url, wheel.name) if one.filename == wheel.file]
        if not offered:
            raise InputError(
                f"{without_password(url)} has no {wheel.file}",
                f"pin another version of it in {PINS}",
            )
        if offered[0].sha256 not in (None, wheel.sha256):
            raise InputError(
                (
                    f"{wheel.file}: the index says sha256 {offered[0].sha256}, {PINS} says "
                    f"{wheel.sha256}"
                ),
                f"check the index; pin the hash in {PINS} that its project publishes",
            )
        return _download(
            index.IndexFile(wheel.file, offered[0].url, wheel.sha256), folder, progress
        )


def open_release(version: str, pins: Pins, folder: Path, progress: Progress) -> UpstreamTree:
    """Return the tree of a release, by its normalised version (PEP 440).

    Raises InputError: unknown version, no network and not cached, hash mismatch, or a hostile
    archive.
    """
    url = index.index_url()
    # By index: two indexes may serve different files under one version. Hashed: the URL may hold a
    # password.
    record = folder / "index" / hashlib.sha256(url.encode()).hexdigest()[:16] / f"{version}.json"
    with cache.locked(record):
        name, sha256 = _recorded(record)
        file = _cached(folder, name, sha256)
        if file is None:
            progress(f"looking for {PACKAGE} {version} on {without_password(url)}")
            chosen = index.choose(index.list_files(url, PACKAGE), version, url)
            assert chosen.sha256 is not None
            name, sha256 = layout.checked_path(chosen.filename, "index"), chosen.sha256
            file = _cached(folder, name, sha256) or _download(chosen, folder, progress)
            with cache.replacing(record) as new:
                new.write_text(json.dumps({"filename": name, "sha256": sha256}), "utf-8")
    found = cache.tree(
        folder, cache.tree_key("release", sha256), lambda write: unpack(file, write), name
    )
    return UpstreamTree(
        Identity("release", f"release:{version}", version, pins.commit_of.get(version), False),
        *found,
    )


def unpack(file: Path, write: Writer) -> Opened:
    """Hand the tree's files of a wheel to `write`; returns what it declares, and what else it
    holds.
    """
    described: dict[str, bytes] = {}
    unread: dict[str, str] = {}
    package = False
    for member, content in members(file):
        path, why = layout.from_wheel(member)
        if why:
            unread[path] = why
        else:
            package = package or path == f"{PACKAGE_PREFIX}__init__.py"
            write(path, content)
        folder, _, name = member.partition("/")
        if folder.endswith(".dist-info"):
            described[name] = content
    if not package:
        raise InputError(
            f"{file.name} holds no package `sglang`", "check the index and the version"
        )
    metadata, entry_points, wheel = (
        described.get(name, b"") for name in ("METADATA", "entry_points.txt", "WHEEL")
    )
    return declared.from_metadata(metadata, entry_points, f"{file.name}: METADATA", wheel), unread


def members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of every regular file of a wheel, in the archive's order.

    Raises InputError: damaged, or a member is absolute, climbs with `..`, is a link or a device, is
    given twice, or is larger than `layout.MAX_MEMBER_BYTES`.
    """
    guard = layout.Guard(archive.name)
    try:
        with zipfile.ZipFile(archive) as opened:
            for info in opened.infolist():
                # The name as stored: zipfile's own cuts it at a NUL and turns separators round.
                name = info.orig_filename
                if info.is_dir():
                    layout.checked_path(name.rstrip("/"), archive.name)
                    continue
                mode = stat.S_IFMT(info.external_attr >> 16)
                if mode not in (0, stat.S_IFREG) or info.flag_bits & 1:
                    raise InputError(
                        f"{archive.name}: {name!r} is a link, a device or encrypted", layout.HOSTILE
                    )
                guard.admit(name, info.file_size)
                with opened.open(info) as member:
                    data = member.read(layout.MAX_MEMBER_BYTES + 1)
                if len(data) != info.file_size:
                    raise InputError(
                        f"{archive.name}: {name!r} is not as long as the archive says",
                        layout.HOSTILE,
                    )
                yield name, data
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
        raise InputError(
            f"{archive.name} cannot be read: {error}",
            "remove it from the cache (`make clean-cache`) and run again",
        ) from error


def _place(folder: Path, filename: str, sha256: str) -> Path:
    return folder / "downloads" / sha256 / filename


def _cached(folder: Path, filename: str, sha256: str) -> Path | None:
    file = _place(folder, filename, sha256)
    return file if file.is_file() and cache.sha256_of(file) == sha256 else None


def _download(chosen: index.IndexFile, folder: Path, progress: Progress) -> Path:
    """Put a file of the index in its place, once its bytes have the hash that is said of it.

    Raises InputError.
    """
    progress(f"downloading {chosen.filename}")
    _, body, _ = index.fetch(chosen.url)
    found = hashlib.sha256(body).hexdigest()
    if found != chosen.sha256:
        raise InputError(
            f"{chosen.filename}: sha256 is {found}, the index says {chosen.sha256}",
            (
                "nothing was kept of it; a proxy or mirror may have changed it: check "
                "UV_DEFAULT_INDEX / PIP_INDEX_URL"
            ),
        )
    file = _place(folder, chosen.filename, found)
    with cache.replacing(file) as new:
        new.write_bytes(body)
    return file


def _recorded(record: Path) -> tuple[str, str]:
    """File name and SHA-256 that an earlier run wrote down; empty where none did."""
    try:
        data = json.loads(record.read_text("utf-8"))
        return str(data["filename"]), str(data["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return "", ""
