"""A generated tree of a few files, with the manifest that says so."""

import hashlib
import os
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from shrinker.emit.refusals import refusals_module
from shrinker.emit.staging import install, staging_folder
from shrinker.values.edits import Edit
from shrinker.values.folded import FoldedModule
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import EmittedFile
from shrinker.values.upstream import Identity
from tests.small import content, write


def write_tree(out: Path, files: Mapping[str, str]) -> None:
    write(out, files)
    listed = tuple(
        EmittedFile(n, hashlib.sha256(t.encode()).hexdigest(), 1, 1, False, None)
        for n, t in files.items()
    )
    manifest = Manifest(
        "1", "deepseek", "h", Identity("release", "release:1", "1", None, False), listed
    )
    (out / "SHRINK.json").write_text(manifest.to_json())


def generate(
    out: Path,
    files: Mapping[str, str],
    act: Callable[[Path], object] = lambda staging: None,
    *,
    force: bool = False,
) -> tuple[Path, ...]:
    """Put a tree of these files in the place of what is there; `act` is called before.

    What is its owner's is moved to these folders.
    """
    with staging_folder(out, force=force) as staging:
        write_tree(staging, files)
        act(staging)
        return install(staging, out, force=force)


def folded_module(path: str, edits: tuple[Edit, ...] = (), digest: str = "") -> FoldedModule:
    """What is decided of a module of five lines: nothing but these edits."""
    name = (
        path.removeprefix("python/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    )
    return FoldedModule(
        path, name, path.endswith("__init__.py"), edits, digest, (), (), (), (), (), ()
    )


def removed_features(
    path: str, edits: tuple[Edit, ...], *given: Any, **named: Any
) -> types.ModuleType:
    """The module that refuses, run: `given` and `named` are of `refusals_module`, for a tree of one
    module.
    """
    folded = {path: folded_module(path, edits)}
    rules, switches = given or ([], [])
    text = refusals_module(rules, switches, folded, folded, **named)
    assert text is not None
    module = types.ModuleType("removed_features")
    exec(compile(text, "removed_features.py", "exec"), module.__dict__)
    return module


def neighbours(out: Path) -> list[str]:
    """What stands beside the output, itself included."""
    return sorted(p.name for p in out.parent.iterdir())


def previous_tree(out: Path) -> dict[str, bytes]:
    """A generated tree that stands there already, and what it holds."""
    out.mkdir(parents=True)
    write_tree(out, {"old.py": "old"})
    return content(out)


def dead_process() -> int:
    """The number of a process that has ended."""
    process = os.fork()
    if not process:
        os._exit(0)
    os.waitpid(process, 0)
    return process
