"""Hashes of files that an earlier run read, each with a stamp that tells whether the file is still the same.

Of a folder's file the stamp is its size, times and inode, as in git's index; of a commit's file it is the blob. Subtle: a file
that changed within the same tick of the clock as it was hashed keeps its stamp, so a file's stamp counts only when it was
already old at that time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from pathlib import Path

from shrinker.source.cache import read_record, replacing, sha256_of, write_record

_FORMAT = 2
_SETTLED_NS = 2_000_000_000
"""The coarsest clock of a file system in use ticks every two seconds."""


class HashRecord:
    """What is remembered of one folder or repository, in the cache folder. Whatever is wrong with it: then nothing is."""

    def __init__(self, cache: Path, kind: str, place: Path) -> None:
        name = hashlib.sha256(os.fsencode(place.resolve())).hexdigest()[:32]
        self._file = cache / "stamps" / f"{kind}-{name}.json"
        self._known: dict[str, list[object]] = {}
        self._seen: dict[str, list[object]] = {}
        self.trees: tuple[str, ...] = ()
        """Keys of the trees that it was, the newest first."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            body = read_record(self._file, _FORMAT)
            self._known, self.trees = body["files"], tuple(body["trees"])

    def known(self, path: str, *stamp: object) -> str | None:
        """SHA-256 (hex) of a file that has this stamp still."""
        row = self._known.get(path)
        return str(row[-1]) if row is not None and row[:-1] == [*stamp] else None

    def note(self, path: str, sha256: str, *stamp: object) -> None:
        """A file's hash, for the record that is saved."""
        self._seen[path] = [*stamp, sha256]

    def save(self, *trees: str) -> None:
        """Keep what was noted, and the keys of the trees; without it the next run only takes longer."""
        if trees != self.trees or self._seen != self._known:
            self.trees = trees
            body = json.dumps({"trees": trees, "files": self._seen}, separators=(",", ":"))
            with contextlib.suppress(OSError), replacing(self._file) as new:
                write_record(new, _FORMAT, body)


class FolderHashes(HashRecord):
    """What is remembered of a folder's files."""

    def __init__(self, cache: Path, folder: Path) -> None:
        super().__init__(cache, "folder", folder)
        self._now = time.time_ns()

    def sha256(self, path: str, source: Path) -> str:
        """SHA-256 of a file, read only when it may have changed. Raises OSError when it cannot be read."""
        found = os.stat(source)
        stamp = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        digest = self.known(path, *stamp) or sha256_of(source)
        if max(found.st_mtime_ns, found.st_ctime_ns) < self._now - _SETTLED_NS:
            self.note(path, digest, *stamp)
        return digest
