"""The file of results: what is whole is found, what is not is as if it were not there."""

import contextlib
import hashlib
import itertools
import multiprocessing
import random
import sqlite3
import time
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

from shrinker.cache import store
from shrinker.cache.store import Store

LIMIT = 2**20


def _store(folder: Path, limit: int = LIMIT) -> Store:
    return Store(folder / "results" / "results.sqlite", limit)


def _file(folder: Path) -> Path:
    return folder / "results" / "results.sqlite"


def _change(folder: Path, *commands: tuple[str, tuple[bytes, ...]]) -> None:
    with contextlib.closing(sqlite3.connect(_file(folder))) as connection, connection:
        for command, values in commands:
            connection.execute(command, values)


def test_what_was_saved_is_found_by_another(tmp_path: Path) -> None:
    _store(tmp_path).save({b"a": b"1", b"b": b""})
    assert _store(tmp_path).load([b"a", b"b", b"c"]) == {b"a": b"1", b"b": b""}


def test_an_empty_folder_holds_nothing_and_is_not_made(tmp_path: Path) -> None:
    assert _store(tmp_path).load([b"a"]) == {}
    assert not (tmp_path / "results").exists()


def test_the_last_value_counts(tmp_path: Path) -> None:
    _store(tmp_path).save({b"a": b"1"})
    _store(tmp_path).save({b"a": b"2"})
    assert _store(tmp_path).load([b"a"]) == {b"a": b"2"}


def test_an_entry_with_a_changed_bit_is_not_found_and_can_be_saved_again(tmp_path: Path) -> None:
    found = _store(tmp_path)
    found.save({b"a": b"right", b"b": b"other"})
    _change(tmp_path, ("UPDATE entries SET value = ? WHERE key = ?", (b"wrong", b"a")))
    assert found.load([b"a", b"b"]) == {b"b": b"other"}
    found.save({b"a": b"right"})
    assert found.load([b"a"]) == {b"a": b"right"}


def test_an_entry_under_the_key_of_another_is_not_found(tmp_path: Path) -> None:
    _store(tmp_path).save({b"a": b"1"})
    _change(tmp_path, ("UPDATE entries SET key = ?", (b"b",)), ("UPDATE uses SET key = ?", (b"b",)))
    assert _store(tmp_path).load([b"b"]) == {}


@pytest.mark.parametrize(
    "content", [b"", b"no data base at all" * 100, b"SQLite format 3\0" + b"\1" * 5000]
)
def test_a_file_that_is_no_data_base_is_made_anew(tmp_path: Path, content: bytes) -> None:
    _file(tmp_path).parent.mkdir()
    _file(tmp_path).write_bytes(content)
    found = _store(tmp_path)
    assert found.load([b"a"]) == {}
    found.save({b"a": b"1"})
    found.save({b"a": b"1"})
    assert found.load([b"a"]) == {b"a": b"1"}


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_a_truncated_file_gives_no_wrong_value(tmp_path: Path, part: float) -> None:
    entries = {bytes([n]): bytes([n]) * 3000 for n in range(100)}
    found = _store(tmp_path)
    found.save(entries)
    whole = _file(tmp_path).read_bytes()
    _file(tmp_path).write_bytes(whole[: int(len(whole) * part)])
    for key, value in found.load(entries).items():
        assert value == entries[key]
    found.save(entries)
    found.save(entries)
    assert found.load(entries) == entries


def test_damage_anywhere_gives_no_wrong_value(tmp_path: Path) -> None:
    entries = {bytes([n]): bytes([n]) * 500 for n in range(50)}
    _store(tmp_path).save(entries)
    whole = _file(tmp_path).read_bytes()
    for at in range(0, len(whole), 97):
        _file(tmp_path).write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        for key, value in _store(tmp_path).load(entries).items():
            assert value == entries[key], at


def test_another_format_is_made_anew(tmp_path: Path) -> None:
    _store(tmp_path).save({b"a": b"1"})
    _change(tmp_path, ("PRAGMA user_version = 99", ()))
    assert _store(tmp_path).load([b"a"]) == {}
    _store(tmp_path).save({b"a": b"2"})
    assert _store(tmp_path).load([b"a"]) == {b"a": b"2"}


def test_what_was_not_used_for_longest_leaves_when_it_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _store(tmp_path, limit=1700)
    for hour, key in enumerate([b"a", b"b", b"c"]):
        monkeypatch.setattr(store, "_now", lambda hour=hour: 100 + hour)
        found.save({key: b"." * 300})
    assert set(found.load([b"a", b"b", b"c"])) == {b"a", b"b", b"c"}
    monkeypatch.setattr(store, "_now", lambda: 104)
    assert set(found.load([b"a"])) == {b"a"}, "used: now the youngest"
    found.save({b"d": b"." * 300})
    assert set(found.load([b"a", b"b", b"c", b"d"])) == {b"a", b"d"}


def test_what_was_not_used_for_a_month_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _store(tmp_path)
    monkeypatch.setattr(store, "_now", lambda: 100 * 24)
    found.save({b"a": b"1", b"b": b"1"})
    monkeypatch.setattr(store, "_now", lambda: 120 * 24)
    found.load([b"b"])
    monkeypatch.setattr(store, "_now", lambda: 140 * 24)
    found.save({b"c": b"1"})
    assert set(found.load([b"a", b"b", b"c"])) == {b"b", b"c"}


def test_uses_within_one_hour_count_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _store(tmp_path, limit=40 * 450)
    keys = [b"%d" % (n * 7919 % 40) for n in range(40)]
    for n, key in enumerate(keys):
        monkeypatch.setattr(store, "_now", lambda n=n: 100 + n / 100)
        found.save({key: b"." * 300})
    monkeypatch.setattr(store, "_now", lambda: 100.5)
    assert set(found.load(keys[:2])) == set(keys[:2]), "the oldest two are used again"
    found.save({b"new": b"." * 300})
    left = set(found.load([*keys, b"new"]))
    assert left == {*keys[:2], b"new", *keys[-27:]}, "of the others the youngest"


def test_what_was_used_a_moment_ago_is_not_written_down_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _store(tmp_path)
    monkeypatch.setattr(store, "_now", lambda: 100.0)
    found.save({b"a": b"1"})
    monkeypatch.setattr(found, "_write", lambda action: pytest.fail("written"))
    monkeypatch.setattr(store, "_now", lambda: 100.05)
    assert found.load([b"a"]) == {b"a": b"1"}


def _run_all(target: Callable[..., None], calls: list[tuple[Any, ...]]) -> None:
    """Each call in a process of its own, all at once."""
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=target, args=arguments) for arguments in calls]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0


def _fill(folder: Path, first: int) -> None:
    for n in range(first, first + 20):
        _store(folder).save({b"%d" % k: b"%d" % k * 50 for k in range(n, n + 10)})


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    _run_all(_fill, [(tmp_path, first) for first in (0, 10, 20)])
    keys = [b"%d" % k for k in range(49)]
    assert _store(tmp_path).load(keys) == {key: key * 50 for key in keys}


_SHARED_LIMIT = 200_000


def _use_and_fill(folder: Path, name: str, turns: Barrier) -> None:
    """One user: its own results again and again, and more and more of others."""
    store._NOTED_HOURS = 0
    found = _store(folder, _SHARED_LIMIT)
    own = {f"{name} own {n}".encode(): f"{name} {n}".encode() * 20 for n in range(10)}
    found.save(own)
    for turn in range(15):
        # In step: a user that the machine lets sleep while the others fill the cache twice loses
        # what it used, rightly.
        turns.wait(60)
        found.save({f"{name} {turn} {n}".encode(): b"." * 1000 for n in range(10)})
        assert found.load(own) == own, f"turn {turn}: what is in use stays"


def test_several_users_of_a_small_cache_keep_what_they_use(tmp_path: Path) -> None:
    turns = multiprocessing.get_context("spawn").Barrier(3)
    _run_all(_use_and_fill, [(tmp_path, name, turns) for name in ("a", "b", "c")])
    with contextlib.closing(sqlite3.connect(_file(tmp_path))) as connection:
        held, rows = connection.execute(
            "SELECT total(length(value)), count(*) FROM entries"
        ).fetchone()
        noted = connection.execute("SELECT count(*) FROM uses").fetchone()[0]
    assert 0 < held <= _SHARED_LIMIT and rows == noted
    assert _file(tmp_path).stat().st_size < 4 * _SHARED_LIMIT


def _value(key: bytes) -> bytes:
    return hashlib.sha256(key).digest() * 2000


def _save_for_ever(folder: Path, first: int) -> None:
    found = _store(folder, 30 * LIMIT)
    for n in itertools.count(first):
        found.save({b"%d" % k: _value(b"%d" % k) for k in range(n % 100, n % 100 + 20)})


def test_a_process_killed_while_it_writes_leaves_only_whole_entries(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    keys = [b"%d" % k for k in range(120)]
    moments = random.Random(7)
    for turn in range(8):
        writers = [
            context.Process(target=_save_for_ever, args=(tmp_path, first))
            for first in (turn, turn + 50)
        ]
        for writer in writers:
            writer.start()
        until = time.monotonic() + 60
        before = _entries(tmp_path)
        while _entries(tmp_path) <= before < len(keys) and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(moments.random() / 10)
        for writer in writers:
            writer.kill()
            writer.join(60)
        found = _store(tmp_path).load(keys)
        assert found and found == {key: _value(key) for key in found}
        _store(tmp_path, 30 * LIMIT).save({b"after": b"%d" % turn})
        assert _store(tmp_path).load([b"after"]) == {b"after": b"%d" % turn}, (
            "the next run can write"
        )


def _entries(folder: Path) -> int:
    try:
        with contextlib.closing(
            sqlite3.connect(f"file:{_file(folder)}?mode=ro", uri=True)
        ) as connection:
            return int(connection.execute("SELECT count(*) FROM entries").fetchone()[0])
    except sqlite3.Error:
        return 0


def test_a_file_that_another_run_holds_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_WAIT_SECONDS", 0.05)
    _store(tmp_path).save({b"a": b"1"})
    other = sqlite3.connect(_file(tmp_path), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert _store(tmp_path).load([b"a"]) == {}
    _store(tmp_path).save({b"b": b"1"})
    other.execute("COMMIT")
    other.close()
    assert _store(tmp_path).load([b"a", b"b"]) == {b"a": b"1"}


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file where the folder is to be")
    _store(tmp_path).save({b"a": b"1"})
    assert _store(tmp_path).load([b"a"]) == {}
