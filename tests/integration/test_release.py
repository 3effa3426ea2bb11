"""The default release as a whole."""

import json
from fnmatch import fnmatch

import pytest

from equivalence.checkpoints.weights import configuration
from equivalence.levels import Expected, Setting, imports, model, scenarios
from equivalence.levels.scenarios import CONFIGURATIONS, RUNS
from equivalence.simulation.environment import simulation
from shrinker.source.cache import default_folder
from tests.integration.shrunk import REPOSITORY, Shrunk, check, command
from tests.simulations import simulation_python

pytestmark = pytest.mark.network


def test_nothing_of_another_platform_or_model_is_left(newest: Shrunk) -> None:
    check(newest)
    assert not [path for path in newest.paths if path.startswith("python/sglang/multimodal_gen/")]


def test_the_committed_lock_is_reproduced(newest: Shrunk) -> None:
    committed = REPOSITORY / "reports/deepseek/shrink.lock.json"
    assert committed.is_file(), "run `make shrink` and commit reports/deepseek"
    assert json.loads(committed.read_text()) == json.loads((newest.out / "SHRINK.json").read_text())


def test_the_committed_reports_are_reproduced(newest: Shrunk) -> None:
    committed = REPOSITORY / "reports/deepseek"
    rows = (REPOSITORY / ".gitignore").read_text().splitlines()
    ignored = [row.removeprefix("/reports/**/") for row in rows if row.startswith("/reports/")]
    reports = [p.name for p in newest.reports.iterdir()]
    names = [name for name in reports if not any(fnmatch(name, pattern) for pattern in ignored)]
    assert {
        "keep.txt",
        "remove.txt",
        "uncertain.txt",
        "REMOVED_FILES.md",
        "DEPENDENCIES.md",
        "summary.json",
    } <= {*names}
    assert [name for name in names if not (committed / name).is_file()] == [], (
        "run `make shrink` and commit reports/"
    )
    assert [
        n for n in names if (committed / n).read_bytes() != (newest.reports / n).read_bytes()
    ] == []
    assert sum((committed / name).stat().st_size for name in names) < 5_000_000


def test_the_committed_evidence_is_of_this_tree_or_says_whose_it_is(newest: Shrunk) -> None:
    folder = REPOSITORY / "reports/deepseek"
    evidence = json.loads((folder / "verify.json").read_text())
    assert evidence["passed"] and all(level["ran"] for level in evidence["levels"].values())
    # A page that is read for another tree's must say so before anything else.
    stale = evidence["tree"] != newest.manifest.tree
    first = (folder / "verify.md").read_text().partition("\nUpstream ")[0]
    said = f"Evidence of the tree {evidence['tree'][:12]} " in first
    assert stale == said, "run `make verify` and commit reports/deepseek/verify.*"


def test_what_is_left_of_other_platforms_has_its_reason(newest: Shrunk) -> None:
    done = command("leftovers", "--out", str(newest.out), "--jobs", str(newest.jobs), "--json")
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout)
    assert [site for site in found["sites"] if not site["rule"]] == [] and found[
        "unmatched_rules"
    ] == []
    # Both of them say something: of much the reason is known, and nothing is counted that every
    # machine has.
    assert found["leftovers"]["strings"]["explained"] > 0
    assert {site["position"] for site in found["sites"] if site["text"] == "cpu"} <= {"message"}


def test_other_tools_find_nothing_new_without_a_reason(newest: Shrunk) -> None:
    places = ("--out", str(newest.out), "--reports", str(newest.reports))
    done = command("cross-check", *places, "--jobs", str(newest.jobs), "--json", timeout=900)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    found = json.loads(done.stdout)
    assert found["unexplained"] == 0
    assert all(pair["generated"] < pair["upstream"] for pair in found["findings"].values())
    before, after = found["imports"]["upstream"], found["imports"]["generated"]
    assert after["modules"] > 0 and all(after[name] < before[name] for name in before)


@pytest.fixture(scope="module")
def setting(newest: Shrunk, tmp_path_factory: pytest.TempPathFactory) -> Setting:
    """With what the levels run that need the simulation; skipped only where PyTorch cannot
    be had.
    """
    work = tmp_path_factory.mktemp("simulated")
    simulation_python()
    made = simulation(newest.upstream.declared.dependencies, compiled=default_folder() / "compiled")
    expected = Expected.read(newest.reports / "interface.json")
    return Setting(made, work, expected, patience=6.0)


def test_everything_imports_and_offers_the_same(newest: Shrunk, setting: Setting) -> None:
    found = imports.run(*newest.trees, setting)
    assert found.evidence.findings == ()
    assert dict(found.evidence.checks)["modules"] > 800


def test_a_small_model_computes_the_same(
    newest: Shrunk, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two of R1's 58 layers with experts: all are of one class and are loaded by the same lines,
    # which `make verify` shows of each.
    monkeypatch.setattr(
        scenarios, "configuration", lambda name: {**configuration(name), "num_hidden_layers": 5}
    )
    (run,) = (run for run in RUNS if run.name == "one MoE layer")
    found = model.run(*newest.trees, setting, (CONFIGURATIONS[0], run))
    assert found.evidence.findings == ()
    if not found.limits:
        checks = dict(found.evidence.checks)
        assert checks["outputs"] > 50 and checks["checkpoint names"] > 2 * 256 * 3
