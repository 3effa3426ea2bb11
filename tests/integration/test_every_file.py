"""Every file of a published wheel is in one of the three lists, and in one only: kept, removed, or
read of no source.
"""

import re
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.shrunk import Shrunk

pytestmark = pytest.mark.network

LISTS = ("keep.txt", "remove.txt", "not_source.txt")
WRITTEN = [
    "NOTICE",
    "SHRINK.json",
    "python/pyproject.toml",
    "python/sglang/_version.py",
    "python/sglang/removed_features.py",
]
LICENSE = re.compile(r"[^/]+\.dist-info/(licenses/)?LICENSE")


def _listed(reports: Path) -> Counter[str]:
    """Paths of all three lists, each with the number of its rows."""
    rows = [line for name in LISTS for line in (reports / name).read_text("utf-8").splitlines()]
    return Counter(row.partition("\t")[0] for row in rows if not row.startswith("#"))


def _in_wheel(wheel: Path) -> set[str]:
    """Files of a wheel by their places in upstream's repository; what the repository does not have
    by its place in the wheel.
    """
    members = [name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")]
    found = {f"python/{name}" if name.startswith("sglang/") else name for name in members}
    return {"LICENSE" if LICENSE.fullmatch(name) else name for name in found}


def _check(shrunk: Shrunk) -> None:
    listed, there = _listed(shrunk.reports), _in_wheel(shrunk.wheel)
    assert len(there) > 1000
    assert [path for path, rows in listed.items() if rows > 1] == []
    assert sorted(there - listed.keys()) == []
    assert sorted(listed.keys() - there) == []


@pytest.mark.parametrize("profile", ["deepseek", "deepseek-r1-nvfp4", "deepseek-r1-minimal"])
def test_the_lists_of_a_profile_have_every_file_of_the_wheel(
    pinned: Callable[[str], Shrunk], profile: str
) -> None:
    _check(pinned(profile))


def test_the_lists_of_the_oldest_release_have_every_file_of_its_wheel(older: Shrunk) -> None:
    _check(older)


def test_what_is_kept_is_what_was_written(newest: Shrunk) -> None:
    rows = [
        line.split("\t")[0]
        for line in (newest.reports / "keep.txt").read_text("utf-8").splitlines()
    ]
    kept = {row for row in rows if not row.startswith("#")}
    assert sorted(kept - {*newest.paths}) == []
    # Of no file of upstream: what the tool writes itself.
    assert sorted({*newest.paths} - kept) == WRITTEN
