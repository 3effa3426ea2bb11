"""Trees held against their evidence and their lock; what programs outside use of them, by wheels
that are here or that the package index gives.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from zipfile import BadZipFile

from shrinker.cache import hash_of
from shrinker.check.embedders import LEVEL as EMBEDDERS
from shrinker.check.embedders import Read, verify_embedders
from shrinker.check.embedders.uses import sources_of
from shrinker.check.levels import judge
from shrinker.check.trees import Trees
from shrinker.pipeline.run import Progress
from shrinker.project import project_folder
from shrinker.report.place import LOCK, read_manifest, reports_of
from shrinker.source.cache import default_folder
from shrinker.source.pins import load_pins
from shrinker.source.wheels import cached_wheel, load_wheels, open_wheel
from shrinker.values.errors import EvidenceError, InputError
from shrinker.values.manifest import MANIFEST, Manifest
from shrinker.values.outcome import EmittedFile, Evidence, Finding, LevelResult
from shrinker.values.upstream import PACKAGE

_SHOWN = 20
_GET_WHEELS = "(not in the cache; `shrinker verify --level embedders` downloads them)"


def is_pinned(manifest: Manifest) -> bool:
    """Tell whether somebody answers for this upstream: then nothing about it is open."""
    return load_pins(project_folder()).is_pinned(manifest.upstream)


def verify_level(name: str, trees: Trees, progress: Progress) -> Evidence:
    """Run an evidence level by name.

    Losses that no word explains are faults of a tree of the pinned upstream, and open questions of
    another.
    """
    # What the level has read is let go with it.
    evidence = judge(name, replace(trees), progress.note)
    return evidence.held() if is_pinned(trees.manifest) else evidence


def judge_programs(trees: Trees, programs: Sequence[Path]) -> LevelResult:
    """Judge a tree by what wheels and folders use of it.

    Raises InputError when one is not there, or holds nothing that names the package.
    """
    return verify_embedders(trees, [_program(place) for place in programs], ())


def embedders_evidence(trees: Trees, progress: Progress, *, download: bool = False) -> LevelResult:
    """Judge a tree by what the pinned wheels of programs outside use of it.

    Of those that are not in the cache folder it is told how to get them, unless they are to be
    asked of the package index (`download`).
    """
    here: list[Read] = []
    missing: list[str] = []
    get = partial(open_wheel, progress=progress.note) if download else cached_wheel
    for wheel in load_wheels(project_folder()):
        file = None
        try:
            file = get(wheel, default_folder())
        except InputError as error:
            progress.note(f"{wheel.file} cannot be had: {error}")
        if file is not None:
            here.append(Read(wheel.name, wheel.sha256, file))
        else:
            missing.append(wheel.file)
    if missing and not download:
        which = f"for {len(missing)} of {len(missing) + len(here)} wheels" if here else ""
        progress.note(" ".join(filter(None, (f"{EMBEDDERS}: not run", which, _GET_WHEELS))))
    found = verify_embedders(trees, here, missing)
    # What an embedder takes from a release that nobody answers for is a question, as in
    # `verify_level`, but for who asks for this level.
    if download or is_pinned(trees.manifest):
        return found
    asked = found.evidence.asked()
    if asked.open:
        progress.note(
            f"{EMBEDDERS}: {len(asked.open)} open, `shrinker verify --level {EMBEDDERS}` lists them"
        )
    return replace(found, evidence=asked)


def _program(place: Path) -> Read:
    try:
        sources = [*sources_of(place)]
    except (OSError, BadZipFile) as error:
        raise InputError(
            f"{place} is no program: {error}", "give a wheel, or a folder that holds Python"
        ) from error
    if not any(PACKAGE.encode() in source for _, source in sources):
        raise InputError(
            f"nothing in {place} names {PACKAGE}",
            "give the folder that holds the program's own files",
        )
    content = hash_of(
        *(part for path, source in sources for part in (path, source.decode("latin-1")))
    ).hex()
    return Read(place.absolute().name, content, place)


def lock_evidence(out: Path, manifest: Manifest, asked: Path | None = None) -> Evidence:
    """Judge a tree by its lock, among its reports: both were written by one run, or a run died
    between them.
    """
    lock = reports_of(out, manifest, asked) / LOCK
    findings = tuple(lock_findings(lock, manifest))
    return Evidence("lock", not findings, (("files", len(manifest.files)),), findings, ())


def lock_findings(lock: Path, manifest: Manifest) -> Sequence[Finding]:
    """Return how a lock differs from what a run made."""
    if not lock.is_file():
        return [Finding("lock", str(lock), 0, "there is no lock to compare with")]
    return compare(read_manifest(lock), manifest)


def compare(lock: Manifest, manifest: Manifest) -> list[Finding]:
    """Return what differs between the recorded manifest and a new one, the cause before its
    effects.
    """
    causes = (
        ("tool version", lock.tool_version, manifest.tool_version),
        ("profile", lock.profile, manifest.profile),
        ("rules", lock.rules_hash, manifest.rules_hash),
        ("upstream", lock.upstream, manifest.upstream),
    )
    found = [(MANIFEST, f"{what} was {old}, is {new}") for what, old, new in causes if old != new]
    before, after = ({file.path: file for file in each.files} for each in (lock, manifest))
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            found.append((path, _difference(before.get(path), after.get(path))))
    return [Finding("lock", path, 0, message) for path, message in found]


def _difference(old: EmittedFile | None, new: EmittedFile | None) -> str:
    if old is None or new is None:
        return (
            "is in the lock and is no longer generated"
            if old
            else "is new: the lock does not have it"
        )
    if old.sha256 != new.sha256:
        return f"has other content: {old.lines_after} lines in the lock, {new.lines_after} now"
    return "has the content of the lock, but its record differs (lines, changed or digest)"


def refuse(found_by: Mapping[str, Sequence[Finding]]) -> None:
    """End the run where anything has findings.

    Raises EvidenceError: names the first ones of each that has any.
    """
    told: list[str] = []
    for what, findings in found_by.items():
        if findings:
            told.append(f"{what} found {len(findings)} thing(s) wrong:")
            told += [f"  {f.path}:{f.line}: [{f.check}] {f.message}" for f in findings[:_SHOWN]]
            told += [f"  … and {len(findings) - _SHOWN} more"] if len(findings) > _SHOWN else []
    if told:
        mend = "add or mend a rule, or report the finding as a fault of shrinker"
        raise EvidenceError("\n".join(told), mend)
