"""Folding decides an edit that emission cannot write: the file stays as upstream wrote it, and so
does all that it names.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from shrinker.emit.rewrite import RewriteError, rewrite_file
from shrinker.values.edits import Edit
from tests.cli.small import FILES, World, small_world
from tests.small import read_archive

SERVER = "python/sglang/srt/server.py"
FILES_HERE = FILES | read_archive(Path(__file__).with_name("unwritable.txtar"))
REASON = "line 3, column 0: an edit of the test"


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> World:
    """The small world, in which no edit of one file can be written."""
    text = FILES_HERE[SERVER].encode()

    def rewrite(source: bytes, edits: Sequence[Edit], *, header: str | None = None) -> bytes:
        if source == text:
            raise RewriteError(REASON)
        return rewrite_file(source, edits, header=header)

    monkeypatch.setattr("shrinker.emit.rewrite.rewrite_file", rewrite)
    return small_world(tmp_path, FILES_HERE)


def test_the_file_stays_as_upstream_wrote_it_with_what_it_names_and_is_listed(
    failing: World,
) -> None:
    done = failing.shrink().expect(0)
    assert f"{SERVER} stays as upstream wrote it: {REASON}" in done.err
    for name in ("server", "lonely", "npu", "npu_tools"):
        path = f"python/sglang/srt/{name}.py"
        assert (failing.out / path).read_text() == FILES_HERE[path], name
    # Other files are folded, but for what the file relies on: it still gives the parameter.
    cuda = (failing.out / "python/sglang/srt/cuda.py").read_text()
    assert "def configure(*, npu, port=0):" in cuda
    assert "is_npu" not in cuda
    listed = (failing.reports / "uncertain.txt").read_text().splitlines()
    assert f"{SERVER}\twhat folding decides cannot be written: {REASON}" in listed


def test_strict_mode_refuses_it(failing: World) -> None:
    done = failing.shrink("--strict")
    assert done.code == 1
    assert REASON in done.err and SERVER in done.err


def test_a_second_run_from_the_cache_gives_the_same(failing: World) -> None:
    assert failing.shrink().code == 0
    first = (failing.out / "SHRINK.json").read_bytes()
    assert failing.shrink().code == 0
    assert (failing.out / "SHRINK.json").read_bytes() == first
