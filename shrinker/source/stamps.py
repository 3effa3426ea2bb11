"""Hashes of a folder's files, remembered with each file's stamp: size, times and inode, as git's index does.

A file whose stamp is what it was is not read again. Subtle: a file changed within the same tick of the
clock as it was hashed keeps its stamp, so a stamp counts only when it was already old at that time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from pathlib import Path

from shrinker.source.cache import replacing, sha256_of

_FORMAT = 1
_SETTLED_NS = 2_000_000_000
"""The coarsest clock of a file system in use ticks every two seconds."""

_Row = tuple[int, int, int, int, str]
"""Size, time of change of the content and of the inode in ns, inode, SHA-256."""


class Stamps:
    """What is remembered of one folder."""

    def __init__(self, cache: Path, folder: Path) -> None:
        """
        Args:
            cache: the cache folder.
            folder: the folder whose files are hashed.
        """
        name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
        self._file = cache / "stamps" / f"{name}.json"
        self._now = time.time_ns()
        self._known: dict[str, _Row] = {}
        self._seen: dict[str, _Row] = {}
        self.trees: tuple[str, ...] = ()
        """Keys of the trees that the folder last was, the newest first."""
        # Whatever is wrong with it: then everything is read.
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            data = json.loads(self._file.read_text("utf-8"))
            if data["format"] == _FORMAT:
                self._known = {str(path): _row(row) for path, row in data["files"].items()}
                self.trees = tuple(str(key) for key in data["trees"])

    def sha256(self, path: str, source: Path) -> str:
        """SHA-256 of a file, read only when it may have changed.

        Raises:
            OSError: it cannot be read.
        """
        found = os.stat(source)
        stamp = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        known = self._known.get(path)
        digest = known[4] if known is not None and known[:4] == stamp else sha256_of(source)
        if max(stamp[1], stamp[2]) < self._now - _SETTLED_NS:
            self._seen[path] = (*stamp, digest)
        return digest

    def save(self, trees: tuple[str, ...]) -> None:
        """Remember what was seen.

        Args:
            trees: keys of the trees that the folder is and was, the newest first.
        """
        if trees == self.trees and self._seen == self._known:
            return
        self.trees = trees
        text = json.dumps({"format": _FORMAT, "trees": trees, "files": self._seen}, separators=(",", ":"))
        # Without it the next run only takes longer.
        with contextlib.suppress(OSError), replacing(self._file) as new:
            new.write_text(text, "utf-8")


def _row(row: list[object]) -> _Row:
    size, changed, moved, inode, digest = row
    if not (isinstance(digest, str) and all(isinstance(n, int) for n in (size, changed, moved, inode))):
        raise ValueError("not a row of stamps")
    return size, changed, moved, inode, digest  # type: ignore[return-value]
