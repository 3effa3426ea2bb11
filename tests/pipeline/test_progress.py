"""The phases of a run together are the time that it took."""

from __future__ import annotations

import time

import pytest

from shrinker.pipeline.progress import timed
from tests.pipeline.silent import Silent


def test_a_phase_within_another_counts_once() -> None:
    timings: dict[str, float] = {"before": 5.0}
    start = time.perf_counter()
    with timed("outer", timings, Silent()):
        time.sleep(0.02)
        with timed("inner", timings, Silent()):
            time.sleep(0.1)
    taken = time.perf_counter() - start
    assert sum(timings.values()) - 5.0 == pytest.approx(taken, abs=0.01)
    assert timings["inner"] >= 0.1 and timings["outer"] < timings["inner"]


def test_a_phase_that_fails_has_its_time() -> None:
    timings: dict[str, float] = {}
    with pytest.raises(ZeroDivisionError), timed("fails", timings, Silent()):
        time.sleep(0.01)
        raise ZeroDivisionError
    assert timings["fails"] >= 0.01
