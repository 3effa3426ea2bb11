"""Level *native*: what a compiler's front end reads of upstream's native code, it reads of the
generated tree's.

Checks:
    sources: each compiled source of a kept library, preprocessed in both trees: the same text has
        the same verdict; else the front end reads the generated one, and where it finds an error,
        upstream's.
    crates: cargo reads each Cargo.toml that it reads in upstream.

Limits: what no header is there for is not judged, and said. No code is made: what only the back end
or the linker rejects is not seen; that registered and called functions are defined is asked by
*references*.
"""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from equivalence.levels.result import Ledger
from equivalence.native.frontend import (
    VARIABLE,
    Build,
    Compiler,
    Preprocessed,
    first_error,
    preprocess,
    read,
    read_build,
)
from shrinker.cache import Layer
from shrinker.cache.workers import cached
from shrinker.values.outcome import LevelResult

NATIVE = "native"
_SAME, _READ, _SKIPPED = "same text", "read", "not judged"


@dataclass(frozen=True, slots=True)
class NativeSetting:
    """With what the level runs."""

    compiler: Compiler
    folders: tuple[str, ...]
    """Of the libraries, in upstream's layout."""
    layer: Layer
    """Verdicts of earlier runs, by content."""
    note: Callable[[str], None]
    jobs: int = 1


def run(upstream: Path, generated: Path, setting: NativeSetting) -> LevelResult:
    """Compare what the front end says of both trees."""
    ledger = Ledger(NATIVE)
    for folder in setting.folders:
        if not (generated / folder).is_dir():
            ledger.limit(f"{folder} is not in the tree.")
            continue
        theirs, ours = read_build(upstream / folder), read_build(generated / folder)
        for missing in theirs.missing:
            ledger.limit(
                f"Headers are not there: {missing}; put them there, or name another folder in "
                f"{VARIABLE}."
            )
        ask = partial(_judge, theirs, ours, setting)
        with ThreadPoolExecutor(setting.jobs) as pool:
            for source, (how, detail) in zip(
                ours.sources, pool.map(ask, ours.sources), strict=True
            ):
                path = f"{folder}/{source}"
                setting.note(f"native: {path}: {how or 'fails'}")
                if how == _SKIPPED:
                    ledger.limit(f"{path}: upstream's has an error here, too: {detail}")
                else:
                    ledger.checks["sources"] += 1
                ledger.figures.append((path, detail if how == _READ else how or "fails"))
                if not how:
                    ledger.find("sources", path, detail)
    _crates(upstream, generated, ledger)
    return ledger.result(())


def _judge(theirs: Build, ours: Build, setting: NativeSetting, source: str) -> tuple[str, str]:
    """Return how a source was judged, and what there is to say; the first is empty for one that
    fails here alone.
    """
    before = preprocess(setting.compiler, theirs, source)
    if before.error:
        return _SKIPPED, before.error
    after = preprocess(setting.compiler, ours, source)
    if after.error:
        return "", after.error
    if before.digest == after.digest:
        return _SAME, ""
    error = _verdict(setting, after)
    if not error:
        return _READ, "read without an error"
    if upstream := _verdict(setting, before):
        return _SKIPPED, upstream
    return "", error


def _verdict(setting: NativeSetting, preprocessed: Preprocessed) -> str:
    """Return the front end's first error, or what it was in an earlier run."""
    options = [part for part in preprocessed.command if "/" not in part]
    key = setting.layer.key(preprocessed.digest, setting.compiler.version, *options)
    return str(cached(setting.layer, key, partial(read, preprocessed)))


def _crates(upstream: Path, generated: Path, ledger: Ledger) -> None:
    cargo = shutil.which("cargo")
    crates = sorted(path.relative_to(generated) for path in generated.glob("*/**/Cargo.toml"))
    if cargo is None and crates:
        ledger.limit("cargo is not there: no Cargo.toml was read by it.")
        return
    command = [
        str(cargo),
        "metadata",
        "--offline",
        "--no-deps",
        "--format-version",
        "1",
        "--manifest-path",
    ]
    for crate in crates:
        error, theirs = (
            first_error([*command, str(tree / crate)]) for tree in (generated, upstream)
        )
        if error and theirs:
            ledger.limit(f"{crate}: cargo does not read upstream's here either: {error}")
            continue
        ledger.checks["crates"] += 1
        if error:
            ledger.find("crates", crate.as_posix(), error)
