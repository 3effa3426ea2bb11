"""Many files are judged in a few processes."""

import os

import pytest

from shrinker.cache.files import map_files


def _owner(number: int) -> tuple[int, int]:
    return number, os.getpid()


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_are_in_the_order_of_the_items(jobs: int) -> None:
    found = map_files(_owner, range(9), [1] * 9, jobs=jobs)
    assert [number for number, _ in found] == list(range(9))
    assert (os.getpid() in {owner for _, owner in found}) is (jobs == 1)
