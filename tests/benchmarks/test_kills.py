"""The trial of kills, a full disk and two runs at once: on a small world, and with a tool that loses something."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import kills
from tests.cli.small import FILES, RULES
from tests.small import write

CUDA = "python/sglang/srt/cuda.py"


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two upstreams of two versions, and rules for both."""
    monkeypatch.setenv("SHRINKER_CACHE", str(tmp_path / "cache"))
    write(tmp_path / "rules", RULES)
    write(tmp_path / "old", FILES)
    # Large enough that a second one does not fit beside it.
    more = "".join(f"# {n} {'.' * 1000}\n" for n in range(1_000))
    write(tmp_path / "new", FILES | {CUDA: more + FILES[CUDA]})
    specs = [f"path:{tmp_path / name}" for name in ("old", "new")]
    return [*specs, "--profile", "small", "--rules", str(tmp_path / "rules"), "--jobs", "1"]


def test_nothing_is_lost(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert kills.main([*asked, "--moments", "4"]) == 0
    told = capsys.readouterr().out
    assert "WRONG" not in told and told.count("right: killed") == 4
    assert "two runs at once: the tree is one run's" in told
    assert "the tree of before is there, byte for byte" in told or "skipped: a full disk" in told


def test_a_tree_that_is_no_run_s_is_a_fault(
    asked: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = kills.Trial.digest
    seen: list[str] = []

    def damaged(trial: kills.Trial) -> str:
        seen.append(real(trial))
        return "another" if len(seen) == 3 else seen[-1]

    monkeypatch.setattr(kills.Trial, "digest", damaged)
    assert kills.main([*asked, "--moments", "1"]) == 1
    assert "WRONG: killed 1 of 1" in capsys.readouterr().out


def test_an_upstream_that_cannot_be_generated(asked: list[str], tmp_path: Path) -> None:
    write(tmp_path / "old", {CUDA: "def start(:\n"})
    assert kills.main([*asked, "--moments", "1"]) == 2
