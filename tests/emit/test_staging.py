"""The swap of an output and its lock for the next ones, and what stays when something goes
wrong.
"""

import errno
import os
from pathlib import Path

import pytest

from shrinker.emit.staging import staging_folder
from shrinker.values.errors import InputError
from shrinker.values.manifest import foreign
from tests.emit.small_tree import dead_process, generate, neighbours, previous_tree, write_tree
from tests.small import content, write

NEW = {"new.py": "new"}


def test_install(tmp_path: Path) -> None:
    out = tmp_path / "deep/er/out"
    for _ in range(2):
        generate(out, NEW)
        assert set(content(out)) == {"SHRINK.json", "new.py"} and foreign(out) == []
    assert neighbours(out) == ["out"]
    assert out.stat().st_mode & 0o777 == 0o755


def test_an_empty_folder_may_be_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    generate(out, NEW)
    assert (out / "new.py").exists()


def test_foreign_folders_are_refused(tmp_path: Path) -> None:
    out = write(tmp_path / "out", {"mine": "precious"})
    with pytest.raises(InputError, match="not a generated tree"):
        generate(out, NEW)
    assert content(out) == {"mine": b"precious"}
    (tmp_path / "file").write_text("precious")
    with pytest.raises(InputError, match="not a folder"):
        generate(tmp_path / "file", NEW)
    (tmp_path / "link").symlink_to(out)
    with pytest.raises(InputError, match=r"is a link to .*out"):
        generate(tmp_path / "link", NEW)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), InputError("x"), MemoryError()])
def test_a_failure_leaves_the_previous_output(tmp_path: Path, error: BaseException) -> None:
    out = tmp_path / "out"
    before = previous_tree(out)

    def fail(staging: Path) -> None:
        raise error

    with pytest.raises(type(error)):
        generate(out, NEW, fail)
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
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    told: type[BaseException],
    words: str | None,
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
        generate(out, NEW)
    assert content(out) == before
    assert neighbours(out) == ["out"]


def test_what_dead_runs_left_is_removed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    previous_tree(out)
    dead = dead_process()
    for name in (
        f".out.shrinking.{dead}.abc",
        f".out.replaced.{dead}",
        f".out.shrinking.{os.getppid()}.abc",
    ):
        (tmp_path / name).mkdir()
        write_tree(tmp_path / name, {"x": ""})
    (tmp_path / ".out.mine").mkdir()
    generate(out, NEW)
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
        generate(tmp_path / "file" / "out", NEW)
