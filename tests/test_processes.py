"""Something is called in another process while this one goes on."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from shrinker.cache.workers import beside, forked, letter_box
from shrinker.values.errors import InputError


def test_the_result_comes_from_another_process_and_nothing_else_does() -> None:
    seen: list[int] = []

    def call() -> tuple[int, list[int]]:
        seen.append(len(seen))
        return os.getpid(), seen

    with forked(call) as result:
        owner, theirs = result()
        assert owner != os.getpid() and theirs == [0]
        # It was called once, however often it is asked for.
        assert result() == (owner, theirs)
    assert seen == []
    assert multiprocessing.active_children() == []


def test_an_error_arrives_as_it_was_raised() -> None:
    def call() -> None:
        raise InputError("no space", "free some")

    with forked(call) as result, pytest.raises(InputError, match="no space") as caught:
        result()
    assert caught.value.next_step == "free some"


def test_a_killed_process_is_an_error() -> None:
    with forked(lambda: os.kill(os.getpid(), signal.SIGKILL)) as result, pytest.raises(BrokenProcessPool):
        result()


def test_an_error_beside_it_ends_the_process() -> None:
    with pytest.raises(ValueError, match="of this process"), forked(os.getpid):
        raise ValueError("of this process")
    assert multiprocessing.active_children() == []


def test_interrupting_the_group_is_answered_here_alone() -> None:
    def call() -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return "went on"

    with forked(call) as result:
        assert result() == "went on"


def test_without_fork_it_is_called_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shrinker.cache.workers.worker_context", lambda: multiprocessing.get_context("spawn"))
    with forked(os.getpid) as result:
        assert result() == os.getpid()


def test_what_goes_on_beside_gives_its_result() -> None:
    with beside(lambda: (os.getpid(), "x" * 1_000_000)) as result:
        owner, text = result()
    assert owner != os.getpid() and len(text) == 1_000_000
    assert multiprocessing.active_children() == []


def test_an_error_beside_arrives_as_it_was_raised() -> None:
    def call() -> None:
        raise InputError("no space", "free some")

    with beside(call) as result, pytest.raises(InputError, match="no space"):
        result()


def test_what_is_killed_beside_is_an_error() -> None:
    with beside(lambda: os.kill(os.getpid(), signal.SIGKILL)) as result, pytest.raises(EOFError):
        result()


def test_what_goes_on_beside_is_told_to_end_and_ends_its_own(tmp_path: Path) -> None:
    """Left early, it does not run to its end, and leaves nothing behind that it started."""
    started, ended = tmp_path / "started", tmp_path / "ended"

    def call() -> None:
        started.touch()
        try:
            time.sleep(600)
        finally:
            ended.touch()

    before = time.monotonic()
    with pytest.raises(KeyboardInterrupt), beside(call):
        while not started.exists():
            time.sleep(0.01)
        raise KeyboardInterrupt
    assert ended.exists() and time.monotonic() - before < 60
    assert multiprocessing.active_children() == []


def test_beside_without_fork_it_is_called_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shrinker.cache.workers.worker_context", lambda: multiprocessing.get_context("spawn"))
    with beside(os.getpid) as result:
        assert result() == os.getpid()


def test_a_letter_reaches_a_process_that_was_there_before_it() -> None:
    """It is larger than what a pipe holds, and whoever writes it waits for nobody."""
    with letter_box() as letters, beside(lambda: len(letters.read())) as result:
        letters.write("x" * 10_000_000)
        assert result() == 10_000_000


def test_a_letter_that_nobody_writes_any_more_is_not_waited_for() -> None:
    with letter_box() as letters, beside(letters.read) as result:
        letters.close()
        with pytest.raises(EOFError):
            result()


def test_without_fork_a_letter_is_read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shrinker.cache.workers.worker_context", lambda: multiprocessing.get_context("spawn"))
    with letter_box() as letters, beside(letters.read) as result:
        letters.write({"a": 1})
        assert result() == {"a": 1}
