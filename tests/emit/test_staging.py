"""The swap of an output and its lock for the next ones, and what stays when something goes wrong."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shrinker.emit.lock import compare, read_lock, write_lock
from shrinker.emit.tree import install, staging_folder
from shrinker.values.contents import foreign
from shrinker.values.errors import InputError
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import EmittedFile
from shrinker.values.upstream import Identity
from tests.emit.small_tree import dead_process, neighbours, previous_tree, write_tree
from tests.small import content


def _generate(out: Path, act: Callable[[Path], None] | None = None) -> None:
    with staging_folder(out) as staging:
        write_tree(staging, {"new.py": "new"})
        if act is not None:
            act(staging)
        install(staging, out)


def test_install(tmp_path: Path) -> None:
    out = tmp_path / "deep/er/out"
    for _ in range(2):
        _generate(out)
        assert set(content(out)) == {"SHRINK.json", "new.py"} and foreign(out) == []
    assert neighbours(out) == ["out"]
    assert out.stat().st_mode & 0o777 == 0o755


def test_an_empty_folder_may_be_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    _generate(out)
    assert (out / "new.py").exists()


def test_foreign_folders_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine").write_text("precious")
    with pytest.raises(InputError, match="not a generated tree"):
        _generate(out)
    assert content(out) == {"mine": b"precious"}
    (tmp_path / "file").write_text("precious")
    with pytest.raises(InputError, match="not a folder"):
        _generate(tmp_path / "file")
    (tmp_path / "link").symlink_to(out)
    with pytest.raises(InputError, match=r"is a link to .*out"):
        _generate(tmp_path / "link")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), InputError("x"), MemoryError()])
def test_a_failure_leaves_the_previous_output(tmp_path: Path, error: BaseException) -> None:
    out = tmp_path / "out"
    before = previous_tree(out)

    def fail(staging: Path) -> None:
        raise error

    with pytest.raises(type(error)):
        _generate(out, fail)
    assert content(out) == before
    assert neighbours(out) == ["out"]


@pytest.mark.parametrize(
    ("error", "told", "words"),
    [
        (PermissionError(errno.EACCES, "no"), InputError, "cannot replace"),
        (KeyboardInterrupt(), KeyboardInterrupt, None),
    ],
)
def test_what_happens_between_the_renames_leaves_the_previous_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, told: type[BaseException], words: str | None
) -> None:
    out = tmp_path / "out"
    before = previous_tree(out)
    rename = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if "shrinking" in self.name:
            assert Path(target) == out
            raise error
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(told, match=words):
        _generate(out)
    assert content(out) == before
    assert neighbours(out) == ["out"]


def test_what_dead_runs_left_is_removed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    previous_tree(out)
    dead = dead_process()
    for name in (f".out.shrinking.{dead}.abc", f".out.replaced.{dead}", f".out.shrinking.{os.getppid()}.abc"):
        (tmp_path / name).mkdir()
        write_tree(tmp_path / name, {"x": ""})
    (tmp_path / ".out.mine").mkdir()
    _generate(out)
    assert neighbours(out) == [".out.mine", f".out.shrinking.{os.getppid()}.abc", "out"]


def test_a_run_killed_between_the_renames_is_undone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    before = previous_tree(out)
    out.rename(tmp_path / f".out.replaced.{dead_process()}")
    with staging_folder(out):
        assert content(out) == before


def test_an_output_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write in"):
        _generate(tmp_path / "file" / "out")


def _manifest(**changes: Any) -> Manifest:
    values: dict[str, Any] = {
        "tool_version": "1",
        "profile": "p",
        "rules_hash": "r",
        "upstream": Identity("release", "release:1", "1", None, False),
        "files": (EmittedFile("a", "0", 3, 2, True, "d"), EmittedFile("b", "1", 1, 1, False, None)),
    }
    return Manifest(**(values | changes))


def test_the_lock_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "reports/p/shrink.lock.json"
    assert read_lock(path) is None
    write_lock(path, _manifest())
    assert read_lock(path) == _manifest()
    assert neighbours(path) == ["shrink.lock.json"]
    assert path.read_text() == _manifest().to_json()


def test_a_broken_lock(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("{")
    with pytest.raises(InputError, match="lock is not a SHRINK"):
        read_lock(tmp_path / "lock")


def test_a_lock_that_cannot_be_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lock"
    write_lock(path, _manifest())
    before = path.read_text()

    def full(text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def opened(self: Path, *arguments: Any, **named: Any) -> Any:
        file = open(self, *arguments, **named)  # noqa: SIM115
        file.write = full
        return file

    monkeypatch.setattr(Path, "open", opened)
    with pytest.raises(InputError, match="No space left"):
        write_lock(path, _manifest(profile="q"))
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
