"""Release 0.5.7: the size that is asked for, the same bytes whatever the number of processes, and
what the judge says of it.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from shrinker.ruleset import load_profile
from shrinker.values.upstream import PACKAGE_PREFIX
from tests.integration.shrunk import EARLIER, Shrunk, check, check_api, command

pytestmark = pytest.mark.network

MOST_KEPT = 0.57
"""Of the package's Python lines, from the issue that asked for this tool."""


def test_nothing_of_another_platform_or_model_is_left(older: Shrunk) -> None:
    check(older)


def test_what_code_outside_takes_from_earlier_places_is_there(older: Shrunk) -> None:
    [rule] = [rule for rule in load_profile(older.profile).apis if rule.id == EARLIER]
    check_api(rule, *older.trees)


def test_kept_lines(older: Shrunk, record_property: Callable[[str, object], None]) -> None:
    """Counted from the files, not from the summary."""
    upstream = older.upstream
    before = sum(_lines(upstream.read(p)) for p in upstream.by_path if _python(p))
    after = sum(_lines((older.out / p).read_bytes()) for p in older.paths if _python(p))
    record_property(
        "figure", f"release 0.5.7: {after:,} of {before:,} Python lines kept, {after / before:.1%}"
    )
    assert after / before <= MOST_KEPT


def _python(path: str) -> bool:
    return path.startswith(PACKAGE_PREFIX) and path.endswith(".py")


def _lines(data: bytes) -> int:
    return len(data.splitlines())


def test_one_process_gives_the_same_bytes(older: Shrunk, tmp_path: Path) -> None:
    alone = Shrunk("0.5.7", tmp_path, jobs=1).make()
    assert alone.paths == older.paths
    assert [
        p for p in alone.paths if (alone.out / p).read_bytes() != (older.out / p).read_bytes()
    ] == []
    reports = {p.name for p in older.reports.iterdir()} - {"run.json"}
    assert [
        n
        for n in sorted(reports)
        if (alone.reports / n).read_bytes() != (older.reports / n).read_bytes()
    ] == []


def test_verify_passes(older: Shrunk) -> None:
    done = command(
        "verify", "--out", str(older.out), "--reports", str(older.reports), "--jobs", "2", "--json"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert [item["level"] for item in json.loads(done.stdout)] == [
        "lock",
        "form",
        "references",
        "capabilities",
    ]
