"""Many files are judged in a few processes, and this one does something else meanwhile."""

from __future__ import annotations

import os

import pytest

from shrinker.check.workers import map_files


def _owner(number: int) -> tuple[int, int]:
    return number, os.getpid()


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_are_in_the_order_of_the_items(jobs: int) -> None:
    called: list[int] = []
    found = map_files(_owner, range(9), [1] * 9, jobs=jobs, meanwhile=lambda: called.append(os.getpid()))
    assert [number for number, _ in found] == list(range(9))
    if jobs == 1:
        # There is no time to spare: who wants something done does it afterwards.
        assert called == [] and {owner for _, owner in found} == {os.getpid()}
    else:
        assert called == [os.getpid()] and os.getpid() not in {owner for _, owner in found}


def test_what_fails_meanwhile_is_raised() -> None:
    def fail() -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        map_files(_owner, range(4), [1] * 4, jobs=2, meanwhile=fail)
