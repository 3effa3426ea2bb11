"""Which blob of git each file of an unpacked tree was: the next commit of the repository links what it shares with that tree."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from shrinker.source.cache import replacing
from shrinker.values.upstream import SourceFile

_FORMAT = 1


class Blobs:
    """What is remembered of the tree of a repository that was unpacked last."""

    def __init__(self, cache: Path, repository: Path) -> None:
        """
        Args:
            cache: the cache folder.
            repository: its git folder.
        """
        name = hashlib.sha256(os.fsencode(repository.resolve())).hexdigest()[:32]
        self._file = cache / "stamps" / f"git-{name}.json"
        self._known: dict[str, list[str]] = {}
        self.tree: str | None = None
        """Key of that tree."""
        # Whatever is wrong with it: then everything is read.
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            record = json.loads(self._file.read_text("utf-8"))
            body = record["body"]
            if record["format"] == _FORMAT and record["sha256"] == _hash(body):
                data = json.loads(body)
                self._known, self.tree = data["files"], data["tree"]

    def sha256(self, path: str, blob: str) -> str | None:
        """SHA-256 (hex) of a file of that tree, None where it was another blob or was not there.

        Args:
            path: of the file.
            blob: git's name of the content.
        """
        known = self._known.get(path)
        return known[1] if known is not None and known[0] == blob else None

    def save(self, tree: str, blobs: Mapping[str, str], files: Iterable[SourceFile]) -> None:
        """Remember a tree.

        Args:
            tree: its key.
            blobs: git's names of the contents, by path.
            files: of the tree.
        """
        rows = {file.path: (blobs[file.path], file.sha256) for file in files if file.path in blobs}
        body = json.dumps({"tree": tree, "files": rows}, separators=(",", ":"))
        record = {"format": _FORMAT, "sha256": _hash(body), "body": body}
        # Without it the next run only takes longer.
        with contextlib.suppress(OSError), replacing(self._file) as new:
            new.write_text(json.dumps(record), "utf-8")


def _hash(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()
