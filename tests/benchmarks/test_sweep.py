"""Runs over several upstreams: the sweep, pairs of consecutive commits, and the trial of kills."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import kills
from benchmarks.pairs import __main__ as pairs
from benchmarks.sweep import __main__ as sweep
from benchmarks.sweep import one
from benchmarks.sweep.choose import Chosen, chosen, listed, spread
from benchmarks.sweep.rows import Row, load
from shrinker.values.errors import InputError
from tests.cli.small import FILES, RULES
from tests.small import committed, git, rule, write

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
    fixed = [
        "--profile",
        "small",
        "--rules",
        str(folder / "rules"),
        "--folder",
        str(folder / "out"),
    ]
    return sweep.main([*specs, *fixed, *more])


def test_every_upstream_has_its_row(
    tmp_path: Path, commits: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _sweep(tmp_path, *commits) == 1
    rows = load(tmp_path / "out")
    assert [rows[f"git@{commit}", "small"].outcome for commit in commits] == [
        "clean",
        "failed",
        "clean",
    ]
    first = rows[f"git@{commits[0]}", "small"]
    assert 0 < first.lines < first.lines_before and first.cpu_seconds > 0 and first.memory_bytes > 0
    assert CUDA in rows[f"git@{commits[1]}", "small"].cause
    assert capsys.readouterr().out.count("\n") == 3
    page = (tmp_path / "out/SWEEP.md").read_text()
    assert page.index(commits[0][:12]) < page.index(commits[1][:12]) < page.index(commits[2][:12])
    assert page.count(f"| `{first.rules_hash[:8]}` |\n") == 3, (
        "each row says by which rules it was made"
    )
    assert str(tmp_path) not in page + (tmp_path / "out/sweep.json").read_text(), (
        "no place of this machine"
    )


def test_a_list_names_profiles(tmp_path: Path, commits: list[str]) -> None:
    write(tmp_path / "rules", {"profiles/narrow.toml": RULES["profiles/small.toml"]})
    path = tmp_path / "list"
    path.write_text(f"git:{tmp_path / 'upstream'}@{commits[0]} small narrow\n")
    fixed = ["--list", str(path), "--rules", str(tmp_path / "rules")]
    assert sweep.main([*fixed, "--folder", str(tmp_path / "out")]) == 0
    name = f"git@{commits[0]}"
    assert [*load(tmp_path / "out")] == [(name, "small"), (name, "narrow")]
    only = ["--profile", "narrow", "--folder", str(tmp_path / "one")]
    assert sweep.main([*fixed, *only]) == 0
    assert [*load(tmp_path / "one")] == [(name, "narrow")]


def test_what_nobody_answered_is_no_clean_tree(tmp_path: Path, commits: list[str]) -> None:
    more = rule("fact", "slow", attributes=[".turbo"], value=False) + rule(
        "dropped", "npu-words", words=["npu"]
    )
    write(tmp_path / "rules", {"world.toml": f"{RULES['world.toml']}\n{more}"})
    asked = (
        "def start(engine=None):\n    if engine.turbo:\n        engine.boost()\n    return 'cuda'\n"
    )
    commit = committed(tmp_path / "upstream", {CUDA: asked})
    assert _sweep(tmp_path, commit) == 0, "its evidence passed"
    row = load(tmp_path / "out")[f"git@{commit}", "small"]
    assert row.outcome == "generated" and row.findings == {"losses": 1} and CUDA in row.cause


def test_what_is_known_is_not_run_again(
    tmp_path: Path, commits: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
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
    for text in (
        "",
        "{",
        json.dumps({"format": 0}),
        json.dumps({"format": 1, "rows": [{"name": "x"}]}),
    ):
        write(tmp_path / "out", {"sweep.json": text})
        assert load(tmp_path / "out") == {}


def test_commits_are_spread_evenly(tmp_path: Path, commits: list[str]) -> None:
    place = tmp_path / "upstream"
    since, until = "2000-01-01", "now"
    assert spread(place, 2, since, until) == [
        f"git:{place}@{commits[0]}",
        f"git:{place}@{commits[2]}",
    ]
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
    path.write_text("# all\nrelease:1.0  # the first\n\nrelease:2.0 small narrow\n")
    assert listed(path) == [("release:1.0", ()), ("release:2.0", ("small", "narrow"))]
    assert sweep.main(["--list", str(tmp_path / "nowhere")]) == 2


def test_a_day_is_its_noon_whenever_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q")
    for hour in (1, 11, 13, 23):
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"2026-02-03T{hour:02}:00:00Z")
        git(tmp_path, "commit", "-q", "--allow-empty", "-m", f"{hour}")
    chosen = [spec.rpartition("@")[2] for spec in spread(tmp_path, 9, "2026-02-03", "2026-02-04")]
    assert [git(tmp_path, "log", "-1", "--format=%s", commit) for commit in chosen] == ["13", "23"]
    # A time is what it says.
    assert len(spread(tmp_path, 9, "2026-02-03T11:30:00Z", "2026-02-03T22:00:00Z")) == 1


def _measure(tmp_path: Path, *more: str) -> int:
    fixed = [
        "--profile",
        "small",
        "--rules",
        str(tmp_path / "rules"),
        "--folder",
        str(tmp_path / "out"),
        "--jobs",
        "1",
    ]
    asked = [
        "--repository",
        str(tmp_path / "upstream"),
        "--since",
        "2000-01-01",
        "--until",
        "2100-01-01",
    ]
    return pairs.main([*asked, *fixed, *more])


def _the_last(monkeypatch: pytest.MonkeyPatch, commits: list[str]) -> None:
    monkeypatch.setattr(pairs, "spread", lambda repository, *_: [f"git:{repository}@{commits[-1]}"])


def test_a_pair_is_measured_with_a_cache_of_its_own(
    tmp_path: Path,
    commits: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    upstream = tmp_path / "upstream"
    commits += [committed(upstream, {CUDA: FILES[CUDA] + more}) for more in ("", "# more\n")]
    _the_last(monkeypatch, commits)
    monkeypatch.setenv("SHRINKER_CACHE", str(tmp_path / "not asked"))
    monkeypatch.setattr(pairs, "TARGET_SECONDS", 600.0)
    assert _measure(tmp_path, "--pairs", "1") == 0
    monkeypatch.setattr(pairs, "TARGET_SECONDS", 0.0)
    assert not (tmp_path / "not asked").exists()
    data = json.loads((tmp_path / "out/pairs.json").read_text())
    (row,) = data["pairs"]
    assert [row["first"], row["second"]] == commits[-2:]
    assert (row["changed_files"], row["changed_python"]) == (1, 1)
    assert row["cold"]["wall_seconds"] > 0 and "source" in row["second_run"]["phases_seconds"]
    text = (tmp_path / "out/PAIRS.md").read_text()
    assert row["second"][:12] in text and str(tmp_path) not in text + json.dumps(data), (
        "no place of this machine"
    )
    assert "median of the second runs" in capsys.readouterr().out
    assert _measure(tmp_path, "--pairs", "1") == 1, "a target that is missed"


def test_a_run_that_fails_is_told_and_no_figure(
    tmp_path: Path, commits: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path / "upstream", "reset", "-q", "--hard", commits[1])
    _the_last(monkeypatch, commits[:2])
    assert _measure(tmp_path, "--pairs", "1") == 1
    text = (tmp_path / "out/PAIRS.md").read_text()
    assert (
        "was not measured" in text and "No pair ended well" in text and pairs.STATE == "pairs.json"
    )


def test_no_repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert pairs.main(["--repository", str(tmp_path / "nowhere")]) == 2
    assert "next: " in capsys.readouterr().err


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
    # Each upstream with and without a cache, twice: `tests/cli/test_interruptions.py` stops runs at
    # every step that counts.
    assert kills.main([*asked, "--jobs", "2", "--moments", "8"]) == 0
    told = capsys.readouterr().out
    assert "WRONG" not in told and told.count("right: killed") == 8
    # Fewer than half are alive then where the machine gets faster in between.
    assert int(told.partition(" of 8 runs were alive")[0].rpartition("\n")[2]) >= 2, (
        "otherwise this shows nothing"
    )
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
    for what_follows in ("_at_once", "_full"):
        monkeypatch.setattr(kills, what_follows, lambda *_: None)
    assert kills.main([*asked, "--moments", "1"]) == 1
    assert "WRONG: killed 1 of 1" in capsys.readouterr().out


def test_an_upstream_that_cannot_be_generated(asked: list[str], tmp_path: Path) -> None:
    write(tmp_path / "old", {CUDA: "def start(:\n"})
    assert kills.main([*asked, "--moments", "1"]) == 2
