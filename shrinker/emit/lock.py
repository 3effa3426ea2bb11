"""The lock: the manifest of a generated tree, kept in the repository, and what differs from it."""

from __future__ import annotations

from pathlib import Path

from shrinker.source.cache import replacing
from shrinker.values.errors import InputError
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import EmittedFile, Finding

CHECK = "lock"


def write_lock(path: Path, manifest: Manifest) -> None:
    """Write the lock; the old one stays as it is until the new one is complete.

    Raises:
        InputError: the file cannot be written; the old one is unchanged.
    """
    try:
        with replacing(path) as new, new.open("w", encoding="utf-8", newline="\n") as file:
            file.write(manifest.to_json())
    except OSError as error:
        raise InputError(
            f"the lock {path} cannot be written: {error.strerror or error}", "check the folder and the free space"
        ) from error


def read_lock(path: Path) -> Manifest | None:
    """The recorded manifest; None when there is no lock.

    Raises:
        InputError: the file is no manifest, or cannot be read.
    """
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the lock {path} cannot be read: {error}", "restore it, or remove it to write a new one"
        ) from error
    return Manifest.from_json(text, str(path))


def compare(lock: Manifest, manifest: Manifest) -> list[Finding]:
    """What differs between the recorded manifest and a new one, the cause before its effects.

    Returns:
        Nothing when the generated tree is the recorded one.
    """
    found: list[Finding] = []
    for what, old, new in (
        ("tool version", lock.tool_version, manifest.tool_version),
        ("profile", lock.profile, manifest.profile),
        ("rules", lock.rules_hash, manifest.rules_hash),
        ("upstream", lock.upstream, manifest.upstream),
    ):
        if old != new:
            found.append(Finding(CHECK, "SHRINK.json", 0, f"{what} was {old}, is {new}"))
    before = {file.path: file for file in lock.files}
    after = {file.path: file for file in manifest.files}
    for path in sorted(before.keys() | after.keys()):
        message = _difference(before.get(path), after.get(path))
        if message:
            found.append(Finding(CHECK, path, 0, message))
    return found


def _difference(old: EmittedFile | None, new: EmittedFile | None) -> str:
    if old == new:
        return ""
    if old is None:
        return "is new: the lock does not have it"
    if new is None:
        return "is in the lock and is no longer generated"
    if old.sha256 != new.sha256:
        return f"has other content: {old.lines_after} lines in the lock, {new.lines_after} now"
    return "has the content of the lock, but its record differs (lines, changed or digest)"
