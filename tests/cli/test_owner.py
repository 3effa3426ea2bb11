"""What is its owner's among trees, reports and evidence: commands end, or write elsewhere, and say
so.
"""

import json
from pathlib import Path

import pytest

from shrinker.report.place import (
    WRITTEN,
    evidence_folder,
    foreign_reports,
    new_reports,
    reports_beside,
    reports_of,
)
from shrinker.values.manifest import Manifest
from shrinker.values.upstream import Identity
from tests.cli.small import World
from tests.small import write

PINNED = Identity("release", "release:1.0", "1.0", None, False)
OTHER = Identity("release", "release:0.9", "0.9", None, False)
PINS = 'default_release = "1.0"\n[submodule]\npath = "upstream"\nurl = "u"\ncommit = "c"\n'


def test_nothing_of_the_owners_is_touched_before_the_run_begins(generated: World) -> None:
    (generated.out / "mynotes.txt").write_text("mine")
    generated.add("dist/tree/python/sglang/srt/server.py", "# edited\n")
    before = generated.left()
    done = generated.shrink("--json")
    assert done.code == 2 and "] facts" not in done.err
    document = done.document
    assert "mynotes.txt" in document["error"] and "python/sglang/srt/server.py" in document["error"]
    assert "--force" in document["next"]
    assert generated.left() == before


def test_force_says_where_the_owners_files_are(generated: World) -> None:
    (generated.out / "mynotes.txt").write_text("mine")
    [aside] = generated.shrink("--force", "--json").document["moved_aside"]
    assert {p.name: p.read_text() for p in Path(aside).iterdir()} == {"mynotes.txt": "mine"}
    (generated.out / "mynotes.txt").write_text("again")
    assert "moved aside" in generated.shrink("--force").out


def test_a_report_of_the_owners_ends_the_run(world: World) -> None:
    reports = write(world.folder / "notes", {"keep.txt": "mine"})
    done = world.shrink("--reports", str(reports))
    assert done.code == 2 and "keep.txt" in done.err and "--force" in done.err
    assert not world.out.exists() and (reports / "keep.txt").read_text() == "mine"
    assert world.shrink("--reports", str(reports), "--force").code == 0
    [aside] = world.folder.glob("notes.backup-*")
    assert {p.name: p.read_text() for p in aside.iterdir()} == {"keep.txt": "mine"}
    # From now on they are the run's own.
    assert world.shrink("--reports", str(reports)).code == 0


def test_other_files_beside_reports_are_no_matter(world: World) -> None:
    reports = write(world.folder / "notes", {"mine.txt": "mine"})
    assert world.shrink("--reports", str(reports)).code == 0
    assert (reports / "mine.txt").read_text() == "mine"


def test_every_report_that_a_run_writes_is_known(generated: World) -> None:
    written = {file.name for file in generated.reports.iterdir()} - {"shrink.lock.json"}
    assert written == {*WRITTEN}
    assert foreign_reports(generated.reports) == []


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "upstream.toml").write_text(PINS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_only_the_usual_tree_has_its_reports_in_the_project(project: Path) -> None:
    usual = project / "dist/sglang_deepseek"
    beside = project / "dist/sglang_deepseek.reports"
    assert new_reports(usual, PINNED, "deepseek") == project / "reports/deepseek"
    assert new_reports(usual, OTHER, "deepseek") == beside
    assert new_reports(usual, PINNED, "deepseek", usual=False) == beside
    assert new_reports(usual, PINNED, "deepseek-r1-nvfp4") == beside
    other = project / "dist/other"
    assert new_reports(other, PINNED, "deepseek") == project / "dist/other.reports"


def test_reports_are_those_whose_lock_is_the_trees(project: Path) -> None:
    manifest = Manifest("1", "deepseek", "h", PINNED, ())
    out = write(project / "dist/sglang_deepseek", {"SHRINK.json": manifest.to_json()})
    assert reports_of(out, manifest) == project / "reports/deepseek"
    beside = reports_beside(out)
    write(beside, {"shrink.lock.json": "{}"})
    assert reports_of(out, manifest) == project / "reports/deepseek"
    (beside / "shrink.lock.json").write_text(manifest.to_json())
    assert reports_of(out, manifest) == beside
    assert reports_of(out, manifest, project / "asked") == project / "asked"


def test_evidence_gives_way_to_evidence_of_the_same_question_only(tmp_path: Path) -> None:
    reports, out = tmp_path / "reports", tmp_path / "out"
    reports.mkdir()
    assert evidence_folder(out, reports, "x.json", lambda kept: False) == reports
    (reports / "x.json").write_text(json.dumps({"count": 200}))
    assert evidence_folder(out, reports, "x.json", lambda kept: kept["count"] == 200) == reports
    assert evidence_folder(
        out, reports, "x.json", lambda kept: kept["count"] == 5
    ) == reports_beside(out)
    assert evidence_folder(
        out, reports, "x.json", lambda kept: kept["other"] == 5
    ) == reports_beside(out)
    (reports / "x.json").write_text("damaged")
    assert evidence_folder(out, reports, "x.json", lambda kept: True) == reports


def test_a_quick_try_of_faults_leaves_the_evidence_that_is_kept(generated: World) -> None:
    kept = generated.folder / "kept"
    assert generated.shrink("--reports", str(kept)).code == 0
    common = [
        "--out",
        str(generated.out),
        "--upstream",
        f"path:{generated.upstream}",
        "--reports",
        str(kept),
    ]
    mutate = ["mutate", *common, "--jobs", "1", "--count"]
    assert generated.run([*mutate, "2"]).code == 0
    before = (kept / "mutation.json").read_bytes(), (kept / "mutation.md").read_bytes()
    done = generated.run([*mutate, "1"])
    assert done.code == 0 and "stays" in done.err
    assert before == ((kept / "mutation.json").read_bytes(), (kept / "mutation.md").read_bytes())
    assert len(json.loads((generated.reports / "mutation.json").read_text())["faults"]) == 1
    (kept / "mutation.md").unlink()
    assert generated.run([*mutate, "2"]).code == 0
    assert (kept / "mutation.md").read_bytes() == before[1]
