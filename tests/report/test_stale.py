"""Evidence says so where it is of another tree, and only there."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from equivalence.gpu.trees import Tree
from shrinker.report.place import mark_stale
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import EmittedFile
from shrinker.values.upstream import Identity
from tests.small import write

MANIFEST = Manifest("1", "deepseek", "abc", Identity("release", "release:1.0", "1.0", None, False), ())
PAGE = "# Evidence\n\nEvery level passed.\n\nMore.\n"


def _write(folder: Path, name: str, **data: str) -> None:
    (folder / f"{name}.json").write_text(json.dumps(data))
    (folder / f"{name}.md").write_text(PAGE)


def test_evidence_of_this_tree_is_left_alone(tmp_path: Path) -> None:
    _write(tmp_path, "verify", tree=MANIFEST.tree, upstream="release:1.0", rules_hash="other")
    _write(tmp_path, "mutation", upstream="release:1.0", rules_hash="abc")
    (tmp_path / "breakages.md").write_text(PAGE)
    (tmp_path / "summary.json").write_text("{}")
    assert mark_stale(tmp_path, MANIFEST) == []
    assert {file.read_text() for file in tmp_path.glob("*.md")} == {PAGE}


def test_evidence_of_gpus_names_the_tree_by_its_python(tmp_path: Path) -> None:
    texts = {
        "python/sglang/a.py": "a = 1\n",
        "python/sglang/a/b.py": "",
        "python/sglang/x.json": "{}",
        "sgl-kernel/c.py": "",
    }
    write(tmp_path / "tree", texts)
    listed = [EmittedFile(p, hashlib.sha256(t.encode()).hexdigest(), 1, 1, False, None) for p, t in texts.items()]
    manifest = replace(MANIFEST, files=tuple(listed))
    seen = Tree("generated", tmp_path / "tree/python").digest()
    (tmp_path / "gpu.md").write_text(PAGE)
    for digest, stale in ((seen, []), ("0" * 16, ["gpu.md: a tree whose Python is 0000000000000000"])):
        (tmp_path / "gpu.json").write_text(json.dumps({"hardware": {"trees": {"generated": digest}}}))
        assert mark_stale(tmp_path, manifest) == stale


def test_evidence_of_another_tree_is_marked_once_and_freed_again(tmp_path: Path) -> None:
    _write(tmp_path, "verify", tree="0" * 64, upstream="release:0.9")
    _write(tmp_path, "mutation", upstream="release:1.0", rules_hash="abd")
    for _ in range(2):
        assert mark_stale(tmp_path, MANIFEST) == [
            "verify.md: the tree 000000000000 of release:0.9",
            "mutation.md: release:1.0 by rules abd",
        ]
        text = (tmp_path / "verify.md").read_text()
        assert text.count("Stale") == 1 and "release:0.9" in text.split("\n")[2]
    (tmp_path / "verify.json").write_text(json.dumps({"tree": MANIFEST.tree}))
    mark_stale(tmp_path, MANIFEST)
    assert (tmp_path / "verify.md").read_text() == PAGE
