"""Make a damaged copy of a generated tree, whose manifest says that all is as it was decided."""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from shrinker.values import form as syntax
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import EmittedFile
from shrinker.verify.form import LOCK
from shrinker.verify.mutation.faults import Fault


@contextmanager
def mutant(out: Path, manifest: Manifest, fault: Fault) -> Iterator[tuple[Path, Manifest]]:
    """A copy with one fault, beside the tree that it is of; it goes when the block ends.

    Its files are hard links where the file system has them: only the damaged one and the manifest are new.
    """
    folder = Path(tempfile.mkdtemp(prefix=f".{out.name}.mutant.", dir=out.parent))
    try:
        for entry in manifest.files:
            if entry.path == fault.path:
                continue
            target = folder / entry.path
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(out / entry.path, target)
            except OSError:
                shutil.copy2(out / entry.path, target)
        damaged = _manifest(manifest, fault)
        if fault.text is not None:
            (folder / fault.path).parent.mkdir(parents=True, exist_ok=True)
            (folder / fault.path).write_text(fault.text, "utf-8", newline="")
        (folder / LOCK).write_text(damaged.to_json(), "utf-8")
        yield folder, damaged
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _manifest(manifest: Manifest, fault: Fault) -> Manifest:
    files: list[EmittedFile] = []
    for entry in manifest.files:
        if entry.path != fault.path:
            files.append(entry)
        elif fault.text is not None:
            data = fault.text.encode()
            files.append(
                replace(
                    entry,
                    sha256=hashlib.sha256(data).hexdigest(),
                    lines_after=fault.text.count("\n"),
                    changed=True,
                    digest=syntax.digest(ast.parse(data)),
                )
            )
    return replace(manifest, files=tuple(files))
