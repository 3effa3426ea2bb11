from __future__ import annotations

import errno
import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from shrinker.source import cache as store
from shrinker.source import open_upstream
from shrinker.source.declared import UNDECLARED
from shrinker.values.errors import InputError
from shrinker.values.upstream import DeclaredPackage
from tests.source.upstreams import Index, make_wheel


def _build(write: store.Writer) -> DeclaredPackage:
    write("python/sglang/b.py", b"b")
    write("python/sglang/a.py", b"a")
    return UNDECLARED


def _refuse(write: store.Writer) -> DeclaredPackage:
    raise AssertionError("built again")


def test_a_sound_entry_is_used_again(cache: Path) -> None:
    first = store.tree(cache, "k", _build, "test")
    again = store.tree(cache, "k", _refuse, "test")
    assert again.files == first.files and again.declared == first.declared == UNDECLARED
    assert [file.path for file in first.files] == ["python/sglang/a.py", "python/sglang/b.py"]


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
    "a changed record": lambda a, record: record.write_text(record.read_text().replace("a.py", "c.py")),
}


@pytest.mark.parametrize("harm", HARM.values(), ids=HARM)
def test_a_poisoned_entry_is_rebuilt(harm: Callable[[Path, Path], object], cache: Path) -> None:
    first = store.tree(cache, "k", _build, "test")
    harm(cache / "trees/k/files/python/sglang/a.py", cache / "trees/k/tree.json")
    again = store.tree(cache, "k", _build, "test")
    assert again.files == first.files
    assert sorted(path.name for path in again.root.rglob("*.py")) == ["a.py", "b.py"]
    assert store.tree(cache, "k", _refuse, "test").files == first.files


def test_a_failed_build_leaves_nothing(cache: Path) -> None:
    def fail(write: store.Writer) -> DeclaredPackage:
        write("a", b"a")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        store.tree(cache, "k", fail, "test")
    assert [path.name for path in (cache / "trees").iterdir()] == [".k.lock"]


def test_what_a_killed_run_left_is_removed_by_the_next(cache: Path) -> None:
    (cache / "trees/.tmp-k-1/new").mkdir(parents=True)
    (cache / "trees/.tmp-other-1").mkdir()
    store.tree(cache, "k", _build, "test")
    assert sorted(path.name for path in (cache / "trees").iterdir()) == [".k.lock", ".tmp-other-1", "k"]


def test_full_disk_and_unwritable_cache_are_input_errors(
    index: Index, repository: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add("sglang-1.2.0-py3-none-any.whl", make_wheel())
    cache.write_text("a file, not a folder")
    with pytest.raises(InputError) as error:
        open_upstream("release:1.2.0", cache=cache, repository=repository)
    assert "SHRINKER_CACHE" in error.value.next_step


@pytest.mark.parametrize("path", ["../x", "/x", "a//b"])
def test_no_builder_can_write_outside(path: str, cache: Path) -> None:
    def hostile(write: store.Writer) -> DeclaredPackage:
        write(path, b"")
        return UNDECLARED

    with pytest.raises(InputError, match="refused the path"):
        store.tree(cache, "k", hostile, "test")


def _slow_run(cache: Path, results: multiprocessing.Queue[object]) -> None:
    def build(write: store.Writer) -> DeclaredPackage:
        time.sleep(0.1)
        results.put("built")
        return _build(write)

    results.put(store.tree(cache, "k", build, "test").files)


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
    assert store.default_folder({"XDG_CACHE_HOME": "relative"}) == Path("~/.cache/shrinker").expanduser()


def test_clear_removes_only_what_shrinker_put_there(cache: Path) -> None:
    store.tree(cache, "k", _build, "test")
    (cache / "letters").mkdir()
    store.clear(cache)
    assert [path.name for path in cache.iterdir()] == ["letters"]
    store.clear(cache / "none")


def test_trees_that_were_not_opened_for_longest_leave(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST_TREES", 3)
    for hour, key in enumerate(("a", "b", "c")):
        store.tree(cache, key, _build, "test")
        at = time.time() - (10 - hour) * 3600
        os.utime(cache / "trees" / f".{key}.lock", (at, at))
    store.tree(cache, "a", _refuse, "test")

    def left() -> set[str]:
        return {place.name for place in (cache / "trees").iterdir() if not place.name.startswith(".")}

    store.tree(cache, "d", _build, "test")
    assert left() == {"a", "c", "d"}, "a was opened again"
    store.tree(cache, "b", _build, "test")
    assert left() == {"a", "d", "b"}, "what was opened within the hour may be in use"
    store.tree(cache, "e", _build, "test")
    assert len(left()) == 4
