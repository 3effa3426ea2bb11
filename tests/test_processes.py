"""Something is called in another process while this one goes on."""

import multiprocessing
import os
import signal
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from shrinker.cache.workers import Tell, run_in_child
from shrinker.values.errors import InputError


def test_the_result_comes_from_another_process_and_nothing_else_does() -> None:
    seen: list[int] = []

    def call(_: Tell) -> tuple[int, list[int], str]:
        seen.append(len(seen))
        return os.getpid(), seen, "x" * 1_000_000

    with run_in_child(call) as result:
        owner, theirs, text = result()
    assert owner != os.getpid() and theirs == [0] and len(text) == 1_000_000
    assert seen == []
    assert multiprocessing.active_children() == []


def test_an_error_arrives_as_it_was_raised() -> None:
    def call(_: Tell) -> None:
        raise InputError("no space", "free some")

    with run_in_child(call) as result, pytest.raises(InputError, match="no space") as caught:
        result()
    assert caught.value.next_step == "free some"


def test_a_killed_process_is_an_error() -> None:
    with (
        run_in_child(lambda _: os.kill(os.getpid(), signal.SIGKILL)) as result,
        pytest.raises(BrokenProcessPool),
    ):
        result()


def test_interrupting_the_group_is_answered_here_alone() -> None:
    def call(_: Tell) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return "went on"

    with run_in_child(call) as result:
        assert result() == "went on"


def test_what_runs_in_a_child_is_told_to_end_and_ends_its_own(tmp_path: Path) -> None:
    """Left early, it does not run to its end, and leaves nothing behind that it started."""
    started, ended = tmp_path / "started", tmp_path / "ended"

    def call(_: Tell) -> None:
        try:
            started.touch()
            time.sleep(600)
        finally:
            ended.touch()

    before = time.monotonic()
    with pytest.raises(KeyboardInterrupt), run_in_child(call):
        while not started.exists():
            time.sleep(0.01)
        raise KeyboardInterrupt
    assert ended.exists() and time.monotonic() - before < 60
    assert multiprocessing.active_children() == []


def test_what_a_call_tells_is_heard_before_its_result() -> None:
    def call(tell: Tell) -> int:
        for number in range(3):
            tell(number)
        return 3

    with run_in_child(call) as child:
        assert next(iter(child.hear())) == 0
        assert [*child.hear()] == [1, 2]
        assert child() == 3


def test_one_that_is_killed_is_noticed_though_what_it_started_lives_on() -> None:
    """It holds the pipe, too."""

    def call(_: Tell) -> None:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        os.kill(os.getpid(), signal.SIGKILL)

    before = time.monotonic()
    with run_in_child(call) as child, pytest.raises(BrokenProcessPool):
        child()
    assert time.monotonic() - before < 15
