"""The cache folder: downloads by hash, and trees by content, each entry whole and checked or not
there.

An entry is written to a temporary folder beside its place and renamed, under a lock, so that a
killed run leaves no half entry and two runs at once do not disturb each other.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from shrinker.source.layout import Guard
from shrinker.values.errors import InputError
from shrinker.values.manifest import files_below
from shrinker.values.upstream import DeclaredPackage, SourceFile

Progress = Callable[[str], None]
"""Called with one line for each thing that a person should know."""
Writer = Callable[[str, bytes], None]
"""Takes a file of a tree: its path and its content."""
Opened = tuple[DeclaredPackage, Mapping[str, str]]
"""What a package declares; and the files of its source that are no part of the tree, each with why.
"""
Builder = Callable[[Writer], Opened]
"""Hands every file of the tree to the writer, in any order, and returns what else is to be known of
the source.
"""
Materialised = tuple[Path, tuple[SourceFile, ...], DeclaredPackage, Mapping[str, str]]
"""A tree in the cache: the folder, its files, and what its builder returned."""

_FORMAT = "tree 3"
"""Part of every key: raise it when `layout` decides differently, so that old entries are not used.
"""
MOST_TREES = 24
"""Trees that stay unpacked: 20 to 60 MiB each."""


def default_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """`$SHRINKER_CACHE`, else `$XDG_CACHE_HOME/shrinker`, else `~/.cache/shrinker`."""
    if environment.get("SHRINKER_CACHE"):
        return Path(environment["SHRINKER_CACHE"]).expanduser().absolute()
    # The XDG specification: a relative path is to be ignored.
    xdg = environment.get("XDG_CACHE_HOME", "")
    base = Path(xdg) if xdg.startswith("/") else Path("~/.cache").expanduser()
    return base / "shrinker"


def clear(folder: Path) -> None:
    """Remove what shrinker put into the cache folder, and nothing else that may lie there."""
    for name in ("compiled", "downloads", "generated", "git", "index", "results", "trees"):
        shutil.rmtree(folder / name, ignore_errors=True)


@contextlib.contextmanager
def locked(place: Path) -> Iterator[None]:
    """Hold the lock of one cache entry; waits for another run that is writing it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(_lock_of(place), "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _lock_of(place: Path) -> Path:
    return place.parent / f".{place.name}.lock"


@contextlib.contextmanager
def replacing(place: Path) -> Iterator[Path]:
    """Yield a temporary path beside `place` that becomes `place` when the block ends without an
    error.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".tmp-{place.name}-", dir=place.parent))
    try:
        new = scratch / place.name
        yield new
        if place.is_dir() and not place.is_symlink():
            # Renamed out of the way first: a reader sees the old entry or the new one, whole.
            os.rename(place, scratch / f"{place.name}.old")
        os.replace(new, place)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def tree_key(*identity: str) -> str:
    """Name of a tree's entry, from what fixes its content (a wheel's hash, a commit …)."""
    return hashlib.sha256("\0".join((_FORMAT, *identity)).encode()).hexdigest()[:32]


def tree(cache: Path, key: str, build: Builder, where: str) -> Materialised:
    """Return the tree of a key, see `tree_key`: the cached one when every byte of it is as
    recorded, else built anew. Messages call its source `where`. Raises InputError, as `build` does
    or for a path that must not be written, and OSError where the cache cannot be written.
    """
    place = cache / "trees" / key
    with locked(place):
        found = _sound(place)
        if found is None:
            # Under the lock, so what is left here is a killed run's.
            for left in place.parent.glob(f".tmp-{key}-*"):
                shutil.rmtree(left, ignore_errors=True)
            with replacing(place) as new:
                _write(new, build, where)
            found = _sound(place)
            forget(place.parent, {place}, MOST_TREES)
        if found is None:
            message = f"{place} does not hold what was just written to it"
            raise InputError(message, "check the disk, or set SHRINKER_CACHE to another one")
        return found


def touch(place: Path) -> None:
    """An entry is asked for."""
    with contextlib.suppress(OSError):
        _lock_of(place).touch()


def forget(folder: Path, stay: Collection[Path], most: int) -> None:
    """Remove the entries of a folder that were not asked for longest, when there are more than
    `most`; they are made again when they are asked for. Some stay, as does what a run has asked for
    within the hour.
    """
    others: list[tuple[float, Path]] = []
    for place in {*folder.glob("[!.]*")}.difference(stay):
        with contextlib.suppress(OSError):
            # Opening an entry writes its lock file.
            others.append((_lock_of(place).stat().st_mtime, place))
    for at, place in sorted(others)[: max(0, len(others) + len(stay) - most)]:
        if time.time() - at > 3600:
            with contextlib.suppress(OSError), locked(place):
                shutil.rmtree(place)


def _write(folder: Path, build: Builder, where: str) -> None:
    root, guard = folder / "files", Guard(where)
    rows: dict[str, tuple[str, int]] = {}

    def put(path: str, content: bytes) -> None:
        target = root / guard.admit(path, len(content))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        rows[path] = (hashlib.sha256(content).hexdigest(), len(content))

    root.mkdir(parents=True)
    declared, unread = build(put)
    record = {
        "files": dict(sorted(rows.items())),
        "declared": asdict(declared),
        "unread": dict(unread),
    }
    body = json.dumps(record, sort_keys=True)
    (folder / "tree.json").write_text(
        json.dumps([hashlib.sha256(body.encode()).hexdigest(), body]), "utf-8"
    )


def _sound(place: Path) -> Materialised | None:
    """Return the entry at `place` when its record and every file are whole and nothing else lies
    there.
    """
    root = place / "files"
    try:
        digest, body = json.loads((place / "tree.json").read_text("utf-8"))
        if hashlib.sha256(body.encode()).hexdigest() != digest:
            return None
        data = json.loads(body)
        files = tuple(
            SourceFile(path, sha256, size) for path, (sha256, size) in sorted(data["files"].items())
        )
        there = {path: root / path for path in files_below(root)}
        regular = all(stat.S_ISREG(file.lstat().st_mode) for file in there.values())
        if not regular or {path: sha256_of(file) for path, file in there.items()} != {
            f.path: f.sha256 for f in files
        }:
            return None
        declared = data["declared"]
        extras = {extra: tuple(rows) for extra, rows in declared["extras"].items()}
        lists = {"dependencies": tuple(declared["dependencies"]), "extras": extras}
        return root, files, DeclaredPackage(**declared | lists), data["unread"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
