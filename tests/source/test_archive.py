"""Nothing unsound enters the cache of upstreams: what an archive may hold, and what an entry is
worth.
"""

import errno
import multiprocessing
import os
import stat
import time
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shrinker.source import cache as store
from shrinker.source import layout
from shrinker.source.declared import UNDECLARED
from shrinker.source.wheels import members
from shrinker.values.errors import InputError
from tests.source.upstreams import Index, Open, make_wheel

BAD_PATHS = [
    "/etc/passwd",
    "../x",
    "sglang/../../x",
    "sglang/./x",
    "sglang//x",
    "C:/x",
    "sglang\\..\\x",
    "sglang/a\nb",
    "sglang/.git/config",
    "..",
]


def _zip_link(opened: zipfile.ZipFile) -> None:
    info = zipfile.ZipInfo("sglang/link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    opened.writestr(info, "/etc/passwd")


def _read(tmp_path: Path, content: bytes) -> dict[str, bytes]:
    (tmp_path / "x.whl").write_bytes(content)
    return dict(members(tmp_path / "x.whl"))


def _refused(tmp_path: Path, said: str, content: bytes) -> None:
    with pytest.raises(InputError, match=said):
        _read(tmp_path, content)


def _wheel(name: str, content: bytes = b"x") -> bytes:
    return make_wheel(extra=lambda opened: opened.writestr(zipfile.ZipInfo(name), content))


@pytest.mark.parametrize("path", BAD_PATHS)
def test_a_path_that_leaves_the_folder(path: str, tmp_path: Path) -> None:
    _refused(tmp_path, "refused the path", _wheel(path))


@pytest.mark.parametrize("path", ["../x/", "/x/"])
def test_folder_entries_are_checked_too(path: str, tmp_path: Path) -> None:
    _refused(tmp_path, "refused the path", _wheel(path, b""))


def test_wheel_link(tmp_path: Path) -> None:
    _refused(tmp_path, "link", make_wheel(extra=_zip_link))


@pytest.mark.parametrize("name", ["sglang/__init__.py", "sglang/__INIT__.py"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name(name: str, tmp_path: Path) -> None:
    _refused(tmp_path, "two members", _wheel(name))


def test_oversized_member(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MAX_MEMBER_BYTES", 1000)
    _refused(tmp_path, "more than 1,000", _wheel("sglang/big", b"x" * 1001))


def test_oversized_whole_and_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MAX_TOTAL_BYTES", 50)
    _refused(tmp_path, "more than 50 bytes", make_wheel())
    monkeypatch.setattr(layout, "MAX_TOTAL_BYTES", 10**9)
    monkeypatch.setattr(layout, "MAX_MEMBERS", 3)
    _refused(tmp_path, "3 files", make_wheel())


def test_member_that_lies_about_its_size(tmp_path: Path) -> None:
    content = make_wheel(
        extra=lambda opened: opened.writestr("sglang/z", b"z" * 5000, zipfile.ZIP_DEFLATED)
    )
    # The central directory's last record of 5,000 bytes says 50.
    place = content.rindex((5000).to_bytes(4, "little"))
    _refused(
        tmp_path,
        "cannot be read",
        content[:place] + (50).to_bytes(4, "little") + content[place + 4 :],
    )


@pytest.mark.parametrize("cut", [0, 10, 300])
def test_truncated(cut: int, tmp_path: Path) -> None:
    _refused(tmp_path, "cannot be read", make_wheel()[:cut])


def test_a_sound_archive_is_read_whole(tmp_path: Path) -> None:
    assert _read(tmp_path, make_wheel())["sglang/srt/server.py"] == b"PORT = 30000\n"


@given(st.text(alphabet="ab./\\:\0\n ", max_size=12))
def test_whatever_is_admitted_lies_below_the_folder(path: str) -> None:
    try:
        layout.Guard("test").admit(path, 0)
    except InputError:
        return
    assert not PurePosixPath(path).is_absolute()
    assert ".." not in PurePosixPath(path).parts
    assert str(PurePosixPath(path)) == path


def _build(write: store.Writer) -> store.Opened:
    write("python/sglang/b.py", b"b")
    write("python/sglang/a.py", b"a")
    return UNDECLARED, {}


def _refuse(write: store.Writer) -> store.Opened:
    raise AssertionError("built again")


def test_a_sound_entry_is_used_again(cache: Path) -> None:
    first = _, files, declared, _ = store.tree(cache, "k", _build, "test")
    assert store.tree(cache, "k", _refuse, "test") == first and declared == UNDECLARED
    assert [file.path for file in files] == ["python/sglang/a.py", "python/sglang/b.py"]


def _link(file: Path) -> None:
    file.unlink()
    file.symlink_to("/dev/null")


HARM: dict[str, Callable[[Path, Path], object]] = {
    "cut short": lambda a, record: a.write_bytes(b""),
    "poisoned": lambda a, record: a.write_bytes(b"x"),
    "deleted": lambda a, record: a.unlink(),
    "a file more": lambda a, record: a.with_name("evil.py").write_bytes(b"x"),
    "a link": lambda a, record: _link(a),
    "a broken record": lambda a, record: record.write_text('{"format"'),
    "a changed record": lambda a, record: record.write_text(
        record.read_text().replace("a.py", "c.py")
    ),
}


@pytest.mark.parametrize("harm", HARM.values(), ids=HARM)
def test_a_poisoned_entry_is_rebuilt(harm: Callable[[Path, Path], object], cache: Path) -> None:
    first = store.tree(cache, "k", _build, "test")
    harm(cache / "trees/k/files/python/sglang/a.py", cache / "trees/k/tree.json")
    root, *_ = again = store.tree(cache, "k", _build, "test")
    assert again == first
    assert sorted(path.name for path in root.rglob("*.py")) == ["a.py", "b.py"]
    assert store.tree(cache, "k", _refuse, "test") == first


def test_a_failed_build_leaves_nothing(cache: Path) -> None:
    def fail(write: store.Writer) -> store.Opened:
        write("a", b"a")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        store.tree(cache, "k", fail, "test")
    assert [path.name for path in (cache / "trees").iterdir()] == [".k.lock"]


def test_what_a_killed_run_left_is_removed_by_the_next(cache: Path) -> None:
    (cache / "trees/.tmp-k-1/new").mkdir(parents=True)
    (cache / "trees/.tmp-other-1").mkdir()
    store.tree(cache, "k", _build, "test")
    assert sorted(path.name for path in (cache / "trees").iterdir()) == [
        ".k.lock",
        ".tmp-other-1",
        "k",
    ]


def test_full_disk_and_unwritable_cache_are_input_errors(
    index: Index, opened: Open, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add("sglang-1.2.0-py3-none-any.whl", make_wheel())
    cache.write_text("a file, not a folder")
    with pytest.raises(InputError) as error:
        opened("release:1.2.0")
    assert "SHRINKER_CACHE" in error.value.next_step


@pytest.mark.parametrize("path", ["../x", "/x", "a//b"])
def test_no_builder_can_write_outside(path: str, cache: Path) -> None:
    def hostile(write: store.Writer) -> store.Opened:
        write(path, b"")
        return UNDECLARED, {}

    with pytest.raises(InputError, match="refused the path"):
        store.tree(cache, "k", hostile, "test")


def _slow_run(cache: Path, results: "multiprocessing.Queue[object]") -> None:
    def build(write: store.Writer) -> store.Opened:
        time.sleep(0.1)
        results.put("built")
        return _build(write)

    results.put(store.tree(cache, "k", build, "test")[1])


def test_two_runs_at_once_build_once(cache: Path) -> None:
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    runs = [context.Process(target=_slow_run, args=(cache, results)) for _ in range(3)]
    for run in runs:
        run.start()
    got = [results.get(timeout=20) for _ in range(4)]
    for run in runs:
        run.join()
    assert got.count("built") == 1
    assert len({str(files) for files in got if files != "built"}) == 1


def test_default_folder() -> None:
    assert store.default_folder({"SHRINKER_CACHE": "/c", "XDG_CACHE_HOME": "/x"}) == Path("/c")
    assert store.default_folder({"XDG_CACHE_HOME": "/x"}) == Path("/x/shrinker")
    assert (
        store.default_folder({"XDG_CACHE_HOME": "relative"})
        == Path("~/.cache/shrinker").expanduser()
    )


def test_clear_removes_only_what_shrinker_put_there(cache: Path) -> None:
    store.tree(cache, "k", _build, "test")
    (cache / "letters").mkdir()
    store.clear(cache)
    assert [path.name for path in cache.iterdir()] == ["letters"]
    store.clear(cache / "none")


def test_trees_that_were_not_opened_for_longest_leave(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MOST_TREES", 3)
    for hour, key in enumerate(("a", "b", "c")):
        store.tree(cache, key, _build, "test")
        at = time.time() - (10 - hour) * 3600
        os.utime(cache / "trees" / f".{key}.lock", (at, at))
    store.tree(cache, "a", _refuse, "test")

    def left() -> set[str]:
        return {
            place.name for place in (cache / "trees").iterdir() if not place.name.startswith(".")
        }

    store.tree(cache, "d", _build, "test")
    assert left() == {"a", "c", "d"}, "a was opened again"
    store.tree(cache, "b", _build, "test")
    assert left() == {"a", "d", "b"}, "what was opened within the hour may be in use"
    store.tree(cache, "e", _build, "test")
    assert len(left()) == 4
