"""Pairs of consecutive commits: a cold run, a second one with its cache, and a table of both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.pairs import __main__ as pairs
from tests.cli.small import FILES, RULES
from tests.repositories import committed, git
from tests.small import write

CUDA = "python/sglang/srt/cuda.py"


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    """Three commits; the last is no Python."""
    write(tmp_path / "rules", RULES)
    folder = write(tmp_path / "upstream", FILES)
    git(folder, "init", "-q")
    for text in (FILES[CUDA], FILES[CUDA] + "# more\n", "def start(:\n"):
        committed(folder, {CUDA: text})
    return folder


def _measure(tmp_path: Path, *more: str) -> int:
    fixed = ["--profile", "small", "--rules", str(tmp_path / "rules"), "--folder", str(tmp_path / "out"), "--jobs", "1"]
    return pairs.main(
        ["--repository", str(tmp_path / "upstream"), "--since", "2000-01-01", "--until", "2100-01-01", *fixed, *more]
    )


def test_a_pair_is_measured_with_a_cache_of_its_own(
    tmp_path: Path, upstream: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    git(upstream, "reset", "-q", "--hard", "HEAD^")
    monkeypatch.setattr(
        pairs, "spread", lambda repository, *_: [f"git:{repository}@{git(upstream, 'rev-parse', 'HEAD')}"]
    )
    monkeypatch.setenv("SHRINKER_CACHE", str(tmp_path / "not asked"))
    monkeypatch.setattr(pairs, "TARGET_SECONDS", 600.0)
    assert _measure(tmp_path, "--pairs", "1") == 0
    monkeypatch.setattr(pairs, "TARGET_SECONDS", 0.0)
    assert not (tmp_path / "not asked").exists()
    data = json.loads((tmp_path / "out/pairs.json").read_text())
    (row,) = data["pairs"]
    assert row["first"] == git(upstream, "rev-parse", "HEAD^") and row["second"] == git(upstream, "rev-parse", "HEAD")
    assert (row["changed_files"], row["changed_python"]) == (1, 1)
    assert row["cold"]["wall_seconds"] > 0 and "source" in row["second_run"]["phases_seconds"]
    text = (tmp_path / "out/PAIRS.md").read_text()
    assert row["second"][:12] in text and str(tmp_path) not in text + json.dumps(data), "no place of this machine"
    assert "median of the second runs" in capsys.readouterr().out
    assert _measure(tmp_path, "--pairs", "1") == 1, "a target that is missed"


def test_a_run_that_fails_is_told_and_no_figure(
    tmp_path: Path, upstream: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        pairs, "spread", lambda repository, *_: [f"git:{repository}@{git(upstream, 'rev-parse', 'HEAD')}"]
    )
    assert _measure(tmp_path, "--pairs", "1") == 1
    text = (tmp_path / "out/PAIRS.md").read_text()
    assert "was not measured" in text and "No pair ended well" in text and pairs.STATE == "pairs.json"


def test_no_repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert pairs.main(["--repository", str(tmp_path / "nowhere")]) == 2
    assert "next: " in capsys.readouterr().err
