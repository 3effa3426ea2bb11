"""The cache folder: downloads by hash, and trees by content, each entry whole and checked or not there.

An entry is written to a temporary folder beside its place and renamed, under a lock, so that a
killed run leaves no half entry and two runs at once do not disturb each other.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from shrinker.source.archive import Guard
from shrinker.values.errors import InputError
from shrinker.values.upstream import DeclaredPackage, SourceFile


class Writer(Protocol):
    """Takes the files of a tree."""

    def __call__(self, path: str, content: bytes) -> None:
        """A file by its content."""

    def again(self, path: str, sha256: str) -> bool:
        """A file that the tree before had, too; False when it cannot be taken from there."""


Builder = Callable[[Writer], DeclaredPackage]
"""Hands every file of the tree to the writer, in any order, and returns what the package declares."""

_FORMAT = "tree 1"
"""Part of every key: raise it when `layout` decides differently, so that old entries are not used."""


MOST_TREES = 48
"""Trees that stay unpacked: 20 to 60 MiB each."""


class Materialised(NamedTuple):
    """A tree in the cache: the folder, its files and what the package declares."""

    root: Path
    files: tuple[SourceFile, ...]
    declared: DeclaredPackage


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
    for name in ("compiled", "downloads", "generated", "git", "index", "results", "stamps", "trees"):
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
    """A temporary path beside `place` that becomes `place` when the block ends without an error."""
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


def tree(cache: Path, key: str, build: Builder, where: str, before: str | None = None) -> Materialised:
    """The tree of this key: the cached one when every byte of it is as recorded, else built anew.

    Args:
        cache: the cache folder.
        key: from `tree_key`.
        build: called when there is no sound entry.
        where: name of the source, for messages.
        before: key of an earlier tree of the source; files that did not change become links to its.

    Raises:
        InputError: from `build`, or for a path that must not be written.
        OSError: the cache cannot be written.
    """
    place = cache / "trees" / key
    with locked(place):
        found = _sound(place)
        if found is None:
            # Under the lock, so what is left here is a killed run's.
            for left in place.parent.glob(f".tmp-{key}-*"):
                shutil.rmtree(left, ignore_errors=True)
            for donor in (place.parent / before, None) if before else (None,):
                with replacing(place) as new:
                    _write(new, build, where, donor)
                found = _sound(place)
                if found is not None:
                    break
            bound(cache, key)
        if found is None:
            raise InputError(
                f"{place} does not hold what was just written to it",
                "check the disk, or set SHRINKER_CACHE to another one",
            )
        return found


def bound(cache: Path, key: str) -> None:
    """Remove the trees that were not opened for longest, when there are more than `MOST_TREES`; releases are kept as files.

    Args:
        key: of the tree that was just made, which stays.
    """
    opened: list[tuple[float, str]] = []
    for place in (cache / "trees").iterdir():
        with contextlib.suppress(OSError):
            if not place.name.startswith(".") and place.name != key:
                opened.append((_lock_of(place).stat().st_mtime, place.name))
    forget(cache, [name for _, name in sorted(opened)[: max(0, len(opened) + 1 - MOST_TREES)]])


def forget(cache: Path, keys: Iterable[str], hours: float = 1.0) -> list[str]:
    """Remove trees that no run has opened for some hours; they are built again when they are asked for.

    Returns:
        The keys of those that are there still.
    """
    left: list[str] = []
    for key in keys:
        place = cache / "trees" / key
        with contextlib.suppress(OSError):
            # Opening an entry writes its lock file.
            if time.time() - _lock_of(place).stat().st_mtime > hours * 3600:
                with locked(place):
                    shutil.rmtree(place)
        if place.exists():
            left.append(key)
    return left


class _TreeWriter:
    """Writes a tree and lists it."""

    def __init__(self, root: Path, where: str, donor: Path | None) -> None:
        self.rows: dict[str, tuple[str, int]] = {}
        self._root = root
        self._guard = Guard(where)
        self._donor = os.path.join(donor, "files") if donor is not None else ""
        self._offered: Mapping[str, tuple[str, int]] = {}
        if donor is not None:
            # It may have left the cache.
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                self._offered = read_record(donor / "tree.json", _FORMAT)["files"]
        self._folders: set[str] = set()

    def __call__(self, path: str, content: bytes) -> None:
        """See `Writer`."""
        target = self._place(self._guard.admit(path, len(content)))
        with open(target, "xb") as handle:
            handle.write(content)
        self.rows[path] = (hashlib.sha256(content).hexdigest(), len(content))

    def again(self, path: str, sha256: str) -> bool:
        """See `Writer`. What is linked is not trusted: the whole tree is hashed when it is written."""
        offered = self._offered.get(path)
        # A path that the other tree has was admitted when that was written.
        if offered is None or offered[0] != sha256 or path in self.rows:
            return False
        try:
            os.link(os.path.join(self._donor, path), self._place(path))
        except OSError:
            return False
        self.rows[path] = (sha256, offered[1])
        return True

    def _place(self, path: str) -> str:
        target = os.path.join(self._root, path)
        folder = os.path.dirname(target)
        if folder not in self._folders:
            os.makedirs(folder, exist_ok=True)
            self._folders.add(folder)
        return target


def _write(folder: Path, build: Builder, where: str, donor: Path | None) -> None:
    root = folder / "files"
    root.mkdir(parents=True)
    put = _TreeWriter(root, where, donor)
    declared = build(put)
    body = json.dumps({"files": dict(sorted(put.rows.items())), "declared": asdict(declared)}, sort_keys=True)
    write_record(folder / "tree.json", _FORMAT, body)


def _sound(place: Path) -> Materialised | None:
    """The entry at `place` when its record and every file are whole and nothing else lies there."""
    root = place / "files"
    try:
        data = read_record(place / "tree.json", _FORMAT)
        files = tuple(SourceFile(path, sha256, size) for path, (sha256, size) in sorted(data["files"].items()))
        if set(_regular_files(root)) != {file.path for file in files}:
            return None
        for file in files:
            with open(os.path.join(root, file.path), "rb", buffering=0) as handle:
                content = handle.read()
            if len(content) != file.size or hashlib.sha256(content).hexdigest() != file.sha256:
                return None
        return Materialised(root, files, _declared(data["declared"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write_record(file: Path, form: object, body: str) -> None:
    """Write a JSON document so that `read_record` sees whether it is whole."""
    record = {"format": form, "sha256": hashlib.sha256(body.encode()).hexdigest(), "body": body}
    file.write_text(json.dumps(record), "utf-8")


def read_record(file: Path, form: object) -> Any:
    """A document of `write_record`. Raises OSError, ValueError, KeyError, TypeError or AttributeError when it is not whole."""
    record = json.loads(file.read_text("utf-8"))
    body = record["body"]
    if record["format"] != form or hashlib.sha256(body.encode()).hexdigest() != record["sha256"]:
        raise ValueError("not as it was written")
    return json.loads(body)


def _regular_files(root: Path) -> Iterator[str]:
    """Paths below `root`; a link or a device is given a name that no tree has."""
    pending = [(str(root), "")]
    while pending:
        folder, prefix = pending.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append((entry.path, f"{prefix}{entry.name}/"))
                else:
                    yield f"{prefix}{entry.name}" if entry.is_file(follow_symlinks=False) else f"//{entry.name}"


def _declared(data: Mapping[str, object]) -> DeclaredPackage:
    extras, scripts, dependencies = data["extras"], data["scripts"], data["dependencies"]
    assert isinstance(extras, dict) and isinstance(scripts, dict) and isinstance(dependencies, list)
    return DeclaredPackage(
        name=str(data["name"]),
        requires_python=str(data["requires_python"]),
        dependencies=tuple(dependencies),
        extras=MappingProxyType({extra: tuple(rows) for extra, rows in extras.items()}),
        scripts=MappingProxyType(dict(scripts)),
    )
