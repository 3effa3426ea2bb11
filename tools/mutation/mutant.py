"""A copy of a generated tree into which faults are put, one after the other, and whose manifest says that all is as it was decided."""

import ast
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from shrinker.values import form as syntax
from shrinker.values.manifest import MANIFEST, Manifest
from shrinker.values.outcome import EmittedFile


class Stand:
    """A copy of a tree. Its files are hard links where the file system has them: only damaged ones and the manifest are new."""

    def __init__(self, out: Path, manifest: Manifest, folder: Path) -> None:
        self.folder = folder
        self.manifest = manifest
        self._out = out
        for entry in manifest.files:
            self._restore(entry.path)
        (folder / MANIFEST).write_text(manifest.to_json(), "utf-8")

    @contextmanager
    def changed(self, changes: Mapping[str, str | None]) -> Iterator[Manifest]:
        """The copy with the text of each of these files, None for one that is gone, and the manifest that says so; it is as before
        when the block ends."""
        manifest = _manifest(self.manifest, changes)
        try:
            for path, text in changes.items():
                target = self.folder / path
                # Never written through the link.
                target.unlink(missing_ok=True)
                if text is not None:
                    target.write_text(text, "utf-8", newline="")
            (self.folder / MANIFEST).write_text(manifest.to_json(), "utf-8")
            yield manifest
        finally:
            for path in changes:
                (self.folder / path).unlink(missing_ok=True)
                self._restore(path)
            (self.folder / MANIFEST).write_text(self.manifest.to_json(), "utf-8")

    def _restore(self, path: str) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(self._out / path, target)
        except OSError:
            shutil.copy2(self._out / path, target)


def _manifest(manifest: Manifest, changes: Mapping[str, str | None]) -> Manifest:
    files: list[EmittedFile] = []
    for entry in manifest.files:
        if entry.path not in changes:
            files.append(entry)
        elif (text := changes[entry.path]) is not None:
            sha256, lines = hashlib.sha256(text.encode()).hexdigest(), text.count("\n")
            digest = syntax.digest(ast.parse(text)) if entry.path.endswith(".py") else None
            files.append(replace(entry, sha256=sha256, lines_after=lines, changed=True, digest=digest))
    return replace(manifest, files=tuple(files))
