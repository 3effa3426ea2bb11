"""What lies in a generated tree and is its owner's: a run ends before it begins, or moves it aside,
and never removes it.
"""

import os
import shutil
from pathlib import Path

import pytest

from shrinker.emit.staging import install, remove_trees, staging_folder
from shrinker.values.errors import InputError
from shrinker.values.manifest import contents, foreign
from tests.emit.small_tree import dead_process, generate, write_tree
from tests.small import content, write

OLD = {"LICENSE": "text\n", "python/sglang/server.py": "PORT = 1\n"}
NEW = {"LICENSE": "text\n", "python/sglang/server.py": "PORT = 2\n"}

LEFT_BY_TOOLS = (
    "python/sglang/__pycache__/server.cpython-311.pyc",
    "python/build/lib/sglang/server.py",
    "python/build/bdist.linux-x86_64/x",
    "python/build/lib.linux-x86_64-cpython-311/x",
    "python/sglang.egg-info/PKG-INFO",
)
OWN = (
    "mynotes.txt",
    "Dockerfile",
    ".venv/bin/python",
    "python/notes.md",
    "python/build/notes.txt",
    "python/sglang/srt/new.py",
    "build/x",
    ".github/workflows/ci.yml",
    "submodule/.git",
    # It was written, and is another one.
    "python/sglang/server.py",
)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    write_tree(tmp_path / "gen", OLD)
    return tmp_path / "gen"


@pytest.mark.parametrize("path", LEFT_BY_TOOLS)
def test_what_building_and_running_leave_is_no_ones(out: Path, path: str) -> None:
    write(out, {path: "mine"})
    assert foreign(out) == [] and path not in contents(out)
    assert generate(out, NEW) == ()


@pytest.mark.parametrize("path", OWN)
def test_a_file_of_the_owners_ends_the_run(out: Path, path: str) -> None:
    write(out, {path: "mine"})
    before = content(out)
    with pytest.raises(InputError, match="did not write") as told:
        generate(out, NEW)
    assert path in told.value.message and "--force" in told.value.next_step
    assert content(out) == before and os.listdir(out.parent) == ["gen"]


def test_a_link_in_the_place_of_a_file_is_the_owners(out: Path) -> None:
    elsewhere = out.parent / "elsewhere"
    shutil.move(out / "LICENSE", elsewhere)
    (out / "LICENSE").symlink_to(elsewhere)
    (out / "checkpoints").symlink_to(out.parent)
    assert foreign(out) == ["LICENSE", "checkpoints"]


def test_a_file_that_its_owner_removed_comes_back(out: Path) -> None:
    (out / "LICENSE").unlink()
    assert generate(out, NEW) == ()
    assert (out / "LICENSE").is_file()


def test_the_first_ten_are_named(out: Path) -> None:
    write(out, {f"notes{number:02}.txt": "mine" for number in range(12)})
    with pytest.raises(InputError) as told:
        generate(out, NEW)
    assert "12 file(s)" in told.value.message and "… and 2 more" in told.value.message
    assert "notes09.txt" in told.value.message and "notes10.txt" not in told.value.message


def test_work_that_comes_during_the_run_ends_it_at_the_end(out: Path) -> None:
    with pytest.raises(InputError, match=r"notes\.txt"):
        generate(out, NEW, lambda _: write(out, {"notes.txt": "mine"}))
    assert content(out)["python/sglang/server.py"] == b"PORT = 1\n"


def test_force_moves_aside_what_is_the_owners_and_nothing_else(out: Path) -> None:
    write(
        out,
        dict.fromkeys((*OWN, *LEFT_BY_TOOLS), "mine") | {"python/sglang/server.py": "PORT = 3\n"},
    )
    [aside] = generate(out, NEW, force=True)
    assert aside.parent == out.parent and aside.name.startswith("gen.backup-")
    assert content(aside) == {
        **dict.fromkeys(OWN, b"mine"),
        "python/sglang/server.py": b"PORT = 3\n",
    }
    assert sorted(content(out)) == ["LICENSE", "SHRINK.json", "python/sglang/server.py"]


def test_force_twice_makes_two_folders(out: Path) -> None:
    write(out, {"a": "mine"})
    [first] = generate(out, NEW, force=True)
    write(out, {"a": "other"})
    [second] = generate(out, NEW, force=True)
    assert (
        first != second and content(first) == {"a": b"mine"} and content(second) == {"a": b"other"}
    )


@pytest.mark.parametrize("force", [False, True])
def test_the_history_of_the_tree_stays(out: Path, force: bool) -> None:
    write(out, {".git/HEAD": "ref: refs/heads/main\n"})
    assert generate(out, NEW, force=force) == ()
    assert (
        content(out)[".git/HEAD"] == b"ref: refs/heads/main\n"
        and content(out)["python/sglang/server.py"] == b"PORT = 2\n"
    )


def test_a_fresh_repository_may_take_a_tree(tmp_path: Path) -> None:
    out = tmp_path / "gen"
    write(out, {".git/HEAD": "mine"})
    assert generate(out, NEW) == ()
    assert sorted(content(out)) == [
        ".git/HEAD",
        "LICENSE",
        "SHRINK.json",
        "python/sglang/server.py",
    ]


def test_without_a_manifest_that_can_be_read_everything_is_the_owners(out: Path) -> None:
    (out / "SHRINK.json").write_text("{}")
    with pytest.raises(InputError, match="3 file"):
        generate(out, NEW)


def test_a_run_that_died_between_the_renames_takes_nothing_with_it(out: Path) -> None:
    """The old tree lies beside the new one, with what its owner had in it."""
    write(out, {".git/HEAD": "mine", "notes.txt": "mine"})
    out.rename(out.with_name(f".gen.replaced.{dead_process()}"))
    write_tree(out, NEW)
    assert generate(out, NEW) == ()
    [aside] = [place for place in out.parent.iterdir() if place != out]
    assert content(out)[".git/HEAD"] == b"mine" and content(aside) == {"notes.txt": b"mine"}


def test_two_histories_are_both_kept(out: Path) -> None:
    write(out, {".git/HEAD": "old"})
    out.rename(out.with_name(f".gen.replaced.{dead_process()}"))
    write_tree(out, NEW)
    write(out, {".git/HEAD": "new"})
    generate(out, NEW)
    [aside] = [place for place in out.parent.iterdir() if place != out]
    assert content(out)[".git/HEAD"] == b"new" and content(aside) == {".git/HEAD": b"old"}


def test_what_cannot_be_put_in_place_leaves_the_history_where_it_was(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(out, {".git/HEAD": "mine"})
    before = content(out)
    staged = out.parent / "staged"
    staged.mkdir()
    replace = Path.replace

    def fail(self: Path, target: Path) -> Path:
        if self.name == "lock":
            raise PermissionError("no")
        return replace(self, target)

    (staged / "lock").write_text("")
    monkeypatch.setattr(Path, "replace", fail)
    with staging_folder(out) as staging:
        write_tree(staging, NEW)
        with pytest.raises(InputError, match="cannot replace"):
            install(staging, out, [(staged / "lock", out.parent / "lock")])
    assert content(out) == before


def test_cleaning_up_leaves_what_is_the_owners(tmp_path: Path) -> None:
    for name in ("plain", "edited", "repository"):
        write_tree(tmp_path / name, OLD)
        write(tmp_path, {f"{name}.reports/keep.txt": "mine"})
    own = (
        "plain/python/build/lib/x",
        "edited/LICENSE",
        "repository/.git/HEAD",
        "edited.backup-1/notes.txt",
    )
    write(tmp_path, dict.fromkeys((*own, "other/notes.txt"), "mine"))
    assert [tree.name for tree in remove_trees(tmp_path)] == ["edited", "repository"]
    assert sorted(os.listdir(tmp_path)) == [
        "edited",
        "edited.backup-1",
        "edited.reports",
        "other",
        "repository",
        "repository.reports",
    ]
