"""The sweep: a row for each upstream, whatever becomes of it, and nothing twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.sweep import __main__ as sweep
from benchmarks.sweep import one
from benchmarks.sweep.choose import Chosen, chosen, listed, spread
from benchmarks.sweep.rows import Row, load
from shrinker.values.errors import InputError
from tests.cli.small import FILES, RULES
from tests.repositories import committed, git
from tests.small import write

CUDA = "python/sglang/srt/cuda.py"


@pytest.fixture
def commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A sound commit, one that is no Python, and a sound one again."""
    monkeypatch.setenv("SHRINKER_CACHE", str(tmp_path / "cache"))
    write(tmp_path / "rules", RULES)
    upstream = write(tmp_path / "upstream", FILES)
    git(upstream, "init", "-q")
    texts = (FILES[CUDA], "def start(:\n", FILES[CUDA] + "# more\n")
    return [committed(upstream, {CUDA: text}) for text in texts]


def _sweep(folder: Path, *commits: str, more: tuple[str, ...] = ()) -> int:
    specs = [f"git:{folder / 'upstream'}@{commit}" for commit in commits]
    fixed = ["--profile", "small", "--rules", str(folder / "rules"), "--folder", str(folder / "out")]
    return sweep.main([*specs, *fixed, *more])


def test_every_upstream_has_its_row(tmp_path: Path, commits: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert _sweep(tmp_path, *commits) == 1
    rows = load(tmp_path / "out")
    assert [rows[f"git@{commit}"].outcome for commit in commits] == ["clean", "failed", "clean"]
    first = rows[f"git@{commits[0]}"]
    assert 0 < first.lines < first.lines_before and first.cpu_seconds > 0 and first.memory_bytes > 0
    assert CUDA in rows[f"git@{commits[1]}"].cause
    assert capsys.readouterr().out.count("\n") == 3
    page = (tmp_path / "out/SWEEP.md").read_text()
    assert page.index(commits[0][:12]) < page.index(commits[1][:12]) < page.index(commits[2][:12])
    assert page.count(f"| `{first.rules_hash[:8]}` |\n") == 3, "each row says by which rules it was made"
    assert str(tmp_path) not in page + (tmp_path / "out/sweep.json").read_text(), "no place of this machine"


def test_what_is_known_is_not_run_again(tmp_path: Path, commits: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert _sweep(tmp_path, commits[0]) == 0
    ran: list[str] = []

    def run_one(side: Chosen, *rest: Any) -> Row:
        ran.append(side.name)
        return plain(side, *rest)

    plain = one.run_one
    monkeypatch.setattr(sweep, "run_one", run_one)
    # Killed after the first: the second is all that is left to do.
    assert _sweep(tmp_path, commits[0], commits[2]) == 0
    assert ran == [f"git@{commits[2]}"]
    ran.clear()
    write(tmp_path / "rules", {"world.toml": RULES["world.toml"] + "\n# another\n"})
    assert _sweep(tmp_path, commits[0], commits[2]) == 0
    assert len(ran) == 2, "other rules are other results"
    ran.clear()
    assert _sweep(tmp_path, commits[0], more=("--fresh",)) == 0
    assert len(ran) == 1


def test_a_run_that_takes_too_long_is_killed_and_told(tmp_path: Path, commits: list[str]) -> None:
    assert _sweep(tmp_path, commits[0], more=("--limit", "0.05")) == 1
    (row,) = load(tmp_path / "out").values()
    assert row.outcome == "killed" and row.cause.startswith("not done after")


def test_a_damaged_state_is_no_state(tmp_path: Path, commits: list[str]) -> None:
    for text in ("", "{", json.dumps({"format": 0}), json.dumps({"format": 1, "rows": [{"name": "x"}]})):
        write(tmp_path / "out", {"sweep.json": text})
        assert load(tmp_path / "out") == {}


def test_commits_are_spread_evenly(tmp_path: Path, commits: list[str]) -> None:
    place = tmp_path / "upstream"
    since, until = "2000-01-01", "now"
    assert spread(place, 2, since, until) == [f"git:{place}@{commits[0]}", f"git:{place}@{commits[2]}"]
    assert [spec.rpartition("@")[2] for spec in spread(place, 50, since, until)] == commits
    with pytest.raises(InputError):
        spread(place, 2, "2000-01-01", "2000-01-02")


def test_names_hold_no_place(tmp_path: Path, commits: list[str]) -> None:
    assert chosen(f"git:{tmp_path / 'upstream'}@{commits[0][:10]}").name == f"git@{commits[0]}"
    assert chosen("release:v0.5.7").name == "release:0.5.7"
    for spec in ("submodule", f"path:{tmp_path}", "release:x y"):
        with pytest.raises(InputError):
            chosen(spec)


def test_a_list_may_have_comments(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text("# all\nrelease:1.0  # the first\n\nrelease:2.0\n")
    assert listed(path) == ["release:1.0", "release:2.0"]
    assert sweep.main(["--list", str(tmp_path / "nowhere")]) == 2


def test_a_day_is_its_noon_whenever_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q")
    for hour in (1, 11, 13, 23):
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"2026-02-03T{hour:02}:00:00Z")
        git(tmp_path, "commit", "-q", "--allow-empty", "-m", f"{hour}")
    chosen = [spec.rpartition("@")[2] for spec in spread(tmp_path, 9, "2026-02-03", "2026-02-04")]
    assert [git(tmp_path, "log", "-1", "--format=%s", commit) for commit in chosen] == ["13", "23"]
    # A time is what it says.
    assert len(spread(tmp_path, 9, "2026-02-03T11:30:00Z", "2026-02-03T22:00:00Z")) == 1
