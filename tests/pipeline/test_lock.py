"""The lock: written whole or not at all, and what differs from it."""

import errno
from pathlib import Path
from typing import Any

import pytest

from shrinker.pipeline.verification import compare, lock_findings
from shrinker.report.place import write_files
from shrinker.values.errors import InputError
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import EmittedFile
from shrinker.values.upstream import Identity
from tests.emit.small_tree import neighbours


def _manifest(**changes: Any) -> Manifest:
    values: dict[str, Any] = {
        "tool_version": "1",
        "profile": "p",
        "rules_hash": "r",
        "upstream": Identity("release", "release:1", "1", None, False),
        "files": (EmittedFile("a", "0", 3, 2, True, "d"), EmittedFile("b", "1", 1, 1, False, None)),
    }
    return Manifest(**(values | changes))


def _write(path: Path, manifest: Manifest) -> None:
    write_files(path.parent, {path.name: manifest.to_json()})


def test_the_lock_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "reports/p/shrink.lock.json"
    assert [finding.message for finding in lock_findings(path, _manifest())] == [
        "there is no lock to compare with"
    ]
    _write(path, _manifest())
    assert not lock_findings(path, _manifest())
    assert neighbours(path) == ["shrink.lock.json"]
    assert path.read_text() == _manifest().to_json()


def test_a_broken_lock(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("{")
    with pytest.raises(InputError, match="lock is not a SHRINK"):
        lock_findings(tmp_path / "lock", _manifest())


def test_a_lock_that_cannot_be_written_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lock"
    _write(path, _manifest())
    before = path.read_text()

    def full(data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def opened(self: Path, *arguments: Any, **named: Any) -> Any:
        file = open(self, *arguments, **named)  # noqa: SIM115
        file.write = full
        return file

    monkeypatch.setattr(Path, "open", opened)
    with pytest.raises(InputError, match="No space left"):
        _write(path, _manifest(profile="q"))
    assert path.read_text() == before
    assert neighbours(path) == ["lock"]


def test_differences_from_the_lock() -> None:
    lock = _manifest()
    assert compare(lock, _manifest()) == []
    files = (EmittedFile("a", "9", 3, 1, True, "d"), EmittedFile("c", "1", 1, 1, False, None))
    found = compare(lock, _manifest(rules_hash="s", files=files))
    assert [(f.path, f.message.split(":")[0]) for f in found] == [
        ("SHRINK.json", "rules was r, is s"),
        ("a", "has other content"),
        ("b", "is in the lock and is no longer generated"),
        ("c", "is new"),
    ]
