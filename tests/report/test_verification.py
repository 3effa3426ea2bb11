"""The page and the JSON of what `verify` found, which say so where they are of another tree."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from equivalence.gpu.cells import Tree
from shrinker.report.place import mark_stale
from shrinker.report.verification import NOT_SHOWN, write_verification
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import EmittedFile, Evidence, Finding, LevelResult
from shrinker.values.upstream import Identity
from tests.small import write

MANIFEST = Manifest(
    "0.1.0", "deepseek", "0" * 64, Identity("release", "release:1.0", "1.0", None, False), ()
)


def result(level: str, *findings: Finding) -> LevelResult:
    evidence = Evidence(
        level,
        not findings,
        (("modules", 1200),),
        findings,
        (Finding("modules", "a.py", 0, "as here"),),
    )
    return LevelResult(evidence, (("import", "3 s, upstream 5 s"),), ("Nothing of speed.",), 12.34)


def test_a_run_that_passed(tmp_path: Path) -> None:
    page = write_verification(tmp_path / "reports", MANIFEST, [result("imports")])
    text = page.read_text()
    assert "Every level passed." in text and f"tree `{MANIFEST.tree[:12]}`" in text
    assert "| imports | passed | 12 | modules 1,200 |" in text
    assert "- import: 3 s, upstream 5 s" in text and "- Not shown: Nothing of speed." in text
    assert all(sentence in text for sentence in NOT_SHOWN)
    data = json.loads((tmp_path / "reports" / "verify.json").read_text())
    assert data["tree"] == MANIFEST.tree
    assert data["passed"] and data["levels"]["imports"]["checks"] == {"modules": 1200}
    assert data["levels"]["imports"]["inherited"] == [
        {"check": "modules", "path": "a.py", "line": 0, "message": "as here"}
    ]
    assert sorted(file.name for file in page.parent.iterdir()) == ["verify.json", "verify.md"]


def test_a_run_that_failed_lists_what_was_found(tmp_path: Path) -> None:
    finding = Finding("modules", "python/sglang/x.py", 7, "gone |\n twice")
    text = write_verification(
        tmp_path, MANIFEST, [result("imports", finding), result("model")]
    ).read_text()
    assert "**A level failed.**" in text
    assert "| imports | **failed: 1** |" in text and "| model | passed |" in text
    assert "- `python/sglang/x.py:7` modules: gone \\| twice" in text
    assert not json.loads((tmp_path / "verify.json").read_text())["passed"]


def test_a_level_that_cannot_run_here_is_not_said_to_pass(tmp_path: Path) -> None:
    idle = LevelResult(Evidence("server", True, (), (), ()), limits=("No server here.",))
    text = write_verification(tmp_path, MANIFEST, [result("imports"), idle]).read_text()
    assert "Every level that could run passed; not run here: server." in text
    assert "| server | not run | 0 |" in text and "- Not shown: No server here." in text
    levels = json.loads((tmp_path / "verify.json").read_text())["levels"]
    assert (levels["imports"]["ran"], levels["server"]["ran"]) == (True, False)


def test_evidence_as_far_as_upstream_runs_says_so(tmp_path: Path) -> None:
    text = write_verification(
        tmp_path, MANIFEST, [result("imports")], where_upstream_runs=True
    ).read_text()
    assert "Every level passed. Only what upstream's own tree can run here was judged" in text
    assert json.loads((tmp_path / "verify.json").read_text())["where_upstream_runs"]


RELEASED = Manifest(
    "1", "deepseek", "abc", Identity("release", "release:1.0", "1.0", None, False), ()
)
WRITTEN = "# Evidence\n\nEvery level passed.\n\nMore.\n"


def _write(folder: Path, name: str, **data: str) -> None:
    (folder / f"{name}.json").write_text(json.dumps(data))
    (folder / f"{name}.md").write_text(WRITTEN)


def test_evidence_of_this_tree_is_left_alone(tmp_path: Path) -> None:
    _write(tmp_path, "verify", tree=RELEASED.tree, upstream="release:1.0", rules_hash="other")
    _write(tmp_path, "mutation", upstream="release:1.0", rules_hash="abc")
    (tmp_path / "breakages.md").write_text(WRITTEN)
    (tmp_path / "summary.json").write_text("{}")
    assert mark_stale(tmp_path, RELEASED) == []
    assert {file.read_text() for file in tmp_path.glob("*.md")} == {WRITTEN}


def test_evidence_of_gpus_names_the_tree_by_its_python(tmp_path: Path) -> None:
    texts = {
        "python/sglang/a.py": "a = 1\n",
        "python/sglang/a/b.py": "",
        "python/sglang/x.json": "{}",
        "sgl-kernel/c.py": "",
    }
    write(tmp_path / "tree", texts)
    listed = [
        EmittedFile(p, hashlib.sha256(t.encode()).hexdigest(), 1, 1, False, None)
        for p, t in texts.items()
    ]
    manifest = replace(RELEASED, files=tuple(listed))
    seen = Tree("generated", tmp_path / "tree/python").digest()
    (tmp_path / "gpu.md").write_text(WRITTEN)
    for digest, stale in (
        (seen, []),
        ("0" * 16, ["gpu.md: a tree whose Python is 0000000000000000"]),
    ):
        (tmp_path / "gpu.json").write_text(
            json.dumps({"hardware": {"trees": {"generated": digest}}})
        )
        assert mark_stale(tmp_path, manifest) == stale


def test_evidence_of_another_tree_is_marked_once_and_freed_again(tmp_path: Path) -> None:
    _write(tmp_path, "verify", tree="0" * 64, upstream="release:0.9")
    _write(tmp_path, "mutation", upstream="release:1.0", rules_hash="abd")
    for _ in range(2):
        assert mark_stale(tmp_path, RELEASED) == [
            "verify.md: the tree 000000000000 of release:0.9",
            "mutation.md: release:1.0 by rules abd",
        ]
        text = (tmp_path / "verify.md").read_text()
        assert text.count("Stale") == 1 and "release:0.9" in text.split("\n")[2]
    (tmp_path / "verify.json").write_text(json.dumps({"tree": RELEASED.tree}))
    mark_stale(tmp_path, RELEASED)
    assert (tmp_path / "verify.md").read_text() == WRITTEN
