"""The file of results: what is whole is found, what is not is as if it were not there."""

from __future__ import annotations

import multiprocessing
import sqlite3
from pathlib import Path

import pytest

from shrinker.cache import store
from shrinker.cache.store import Store

LIMIT = 2**20


def _store(folder: Path, limit: int = LIMIT) -> Store:
    return Store(folder / "results" / "results.sqlite", limit)


def _file(folder: Path) -> Path:
    return folder / "results" / "results.sqlite"


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
    with sqlite3.connect(_file(tmp_path)) as connection:
        connection.execute("UPDATE entries SET value = ? WHERE key = ?", (b"wrong", b"a"))
    connection.close()
    assert found.load([b"a", b"b"]) == {b"b": b"other"}
    found.save({b"a": b"right"})
    assert found.load([b"a"]) == {b"a": b"right"}


def test_an_entry_under_the_key_of_another_is_not_found(tmp_path: Path) -> None:
    _store(tmp_path).save({b"a": b"1"})
    with sqlite3.connect(_file(tmp_path)) as connection:
        connection.execute("UPDATE entries SET key = ?", (b"b",))
        connection.execute("UPDATE uses SET key = ?", (b"b",))
    connection.close()
    assert _store(tmp_path).load([b"b"]) == {}


@pytest.mark.parametrize("content", [b"", b"no data base at all" * 100, b"SQLite format 3\0" + b"\1" * 5000])
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
    with sqlite3.connect(_file(tmp_path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    assert _store(tmp_path).load([b"a"]) == {}
    _store(tmp_path).save({b"a": b"2"})
    assert _store(tmp_path).load([b"a"]) == {b"a": b"2"}


def test_what_was_not_used_for_longest_leaves_when_it_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _store(tmp_path, limit=1000)
    for hour, key in enumerate([b"a", b"b", b"c"]):
        monkeypatch.setattr(store, "_this_hour", lambda hour=hour: 100 + hour)
        found.save({key: b"." * 300})
    assert set(found.load([b"a", b"b", b"c"])) == {b"a", b"b", b"c"}
    monkeypatch.setattr(store, "_this_hour", lambda: 104)
    assert set(found.load([b"a"])) == {b"a"}, "used: now the youngest"
    found.save({b"d": b"." * 300})
    assert set(found.load([b"a", b"b", b"c", b"d"])) == {b"a", b"d"}


def test_what_was_not_used_for_a_month_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _store(tmp_path)
    monkeypatch.setattr(store, "_this_hour", lambda: 100 * 24)
    found.save({b"a": b"1", b"b": b"1"})
    monkeypatch.setattr(store, "_this_hour", lambda: 120 * 24)
    found.load([b"b"])
    monkeypatch.setattr(store, "_this_hour", lambda: 140 * 24)
    found.save({b"c": b"1"})
    assert set(found.load([b"a", b"b", b"c"])) == {b"b", b"c"}


def _fill(folder: Path, first: int) -> None:
    for n in range(first, first + 20):
        _store(folder).save({b"%d" % k: b"%d" % k * 50 for k in range(n, n + 10)})


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_fill, args=(tmp_path, first)) for first in (0, 10, 20)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    keys = [b"%d" % k for k in range(49)]
    assert _store(tmp_path).load(keys) == {key: key * 50 for key in keys}


def test_a_file_that_another_run_holds_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
