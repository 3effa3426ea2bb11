"""The tree as a whole: what is written, and what is told when something goes wrong."""

import ast
import errno
import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from shrinker.cache import Cache
from shrinker.emit.rewrite import Unwritable
from shrinker.emit.staging import staging_folder
from shrinker.emit.tree import emit_tree
from shrinker.program.decided import Analysis
from shrinker.ruleset.models import Refusal, Ruleset
from shrinker.values.distributions import Distributions
from shrinker.values.edits import DropStatement, Literal, Refuse, Span
from shrinker.values.errors import InputError
from shrinker.values.folded import Decision, FoldedModule
from shrinker.values.form import digest
from shrinker.values.graph import Graph, Removal
from shrinker.values.manifest import Manifest
from shrinker.values.upstream import Identity, UpstreamTree
from tests.emit.reference import span
from tests.emit.small_tree import folded_module, neighbours, previous_tree
from tests.program.small_tree import write_tree
from tests.small import content

SOURCE = "import a\n\n\ndef f():\n    return a\n"


@dataclass(frozen=True)
class Decided:
    """An upstream, and what is decided of it."""

    tree: UpstreamTree
    folded: dict[str, FoldedModule]
    graph: Graph

    def emit(self, out: Path, **changes: Any) -> Manifest:
        out.mkdir(parents=True, exist_ok=True)
        settings: dict[str, Any] = {
            "rules": Ruleset(profile="deepseek", digest="h"),
            "cache": Cache(),
            "out": out,
        }
        decided = Analysis(self.graph, self.folded, {}, {}, Distributions(), {}, [], {}, {})
        return emit_tree(self.tree, analysis=decided, **(settings | changes)).manifest

    def spoil(self, number: int) -> str:
        """Decide for a module what cannot be written; its path."""
        path = f"python/sglang/m{number}.py"
        self.folded[path] = folded_module(path, (Literal(Span(1, 0, 1, 1), "True"),))
        return path


def _decided(root: Path, modules: int = 3) -> Decided:
    names = [f"m{n}.py" for n in range(modules)]
    files = {"/LICENSE": "Apache\n", "__init__.py": "", "gone.py": "x = 1\n"}
    files |= {"data.bin": "\0\1\r\n", "run.sh": "#!/bin/sh\n", **dict.fromkeys(names, SOURCE)}
    identity = Identity("release", "release:0.5.7", "0.5.7", None, False)
    tree = replace(write_tree(root, files), identity=identity)
    (root / "python/sglang/run.sh").chmod(0o755)
    parsed = ast.parse(SOURCE)
    drop, left = DropStatement(span(parsed.body[0])), digest(ast.Module(parsed.body[1:], []))
    paths = [f"python/sglang/{name}" for name in names]
    folded = {path: folded_module(path, (drop,), left) for path in paths}
    folded["python/sglang/__init__.py"] = folded_module("python/sglang/__init__.py")
    kept = {path: "root" for path in tree.by_path if path != "python/sglang/gone.py"}
    return Decided(
        tree, folded, Graph((), kept, {"python/sglang/gone.py": Removal("unreachable", "")}, ())
    )


def test_what_is_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    seen: list[tuple[int, int]] = []
    manifest = _decided(tmp_path / "up").emit(
        out, progress=lambda done, total: seen.append((done, total))
    )
    found = content(out)
    assert found["python/sglang/data.bin"] == b"\0\1\r\n"
    assert found["LICENSE"] == b"Apache\n"
    assert (
        found["python/sglang/m0.py"].decode().splitlines()[0].startswith("# Modified by shrinker:")
    )
    assert found["python/sglang/m0.py"].decode().endswith(":\n    return a\n")
    assert "python/sglang/gone.py" not in found
    assert "'0.5.7'" in found["python/sglang/_version.py"].decode()
    assert set(found) == {f.path for f in manifest.files} | {"SHRINK.json"}
    assert Manifest.from_json(found["SHRINK.json"].decode(), "here") == manifest
    for file in manifest.files:
        assert hashlib.sha256(found[file.path]).hexdigest() == file.sha256
    record = {f.path: f for f in manifest.files}
    changed = record["python/sglang/m0.py"]
    assert (changed.lines_before, changed.lines_after, changed.changed) == (5, 3, True)
    assert changed.digest == digest(ast.parse(found["python/sglang/m0.py"]))
    assert record["NOTICE"].lines_before == 0 and not record["NOTICE"].changed
    assert record["python/sglang/data.bin"].lines_before == 0
    assert seen[-1] == (6, 6)
    assert os.access(out / "python/sglang/run.sh", os.X_OK)
    assert not os.access(out / "python/sglang/m0.py", os.X_OK)


@pytest.mark.parametrize(
    ("kind", "modules", "there"),
    [("refusal", ("sglang.m*",), True), ("if", ("sglang.later",), False), ("if", (), True)],
)
def test_the_table_has_what_upstream_knows(
    tmp_path: Path, kind: str, modules: tuple[str, ...], there: bool
) -> None:
    decided, path = _decided(tmp_path / "up"), "python/sglang/m0.py"
    look = "    from sglang.removed_features import refuse; refuse('sglang.m0.f', a)\n    return"
    asked = digest(ast.parse(SOURCE.replace("    return", look)))
    module = folded_module(path, (Refuse(Span(5, 4, 5, 4), "sglang.m0.f", "a"),), asked)
    decided.folded[path] = replace(
        module, decisions=(Decision(5, "refuse-new", kind, "a", "true", 0),)
    )
    own: dict[str, Any] = {"id": "refuse-new", "why": "A rule of the test.", "feature": "others"}
    own |= {"function": "sglang.m0.f", "instead": "Take another one.", "modules": modules}
    rule = Refusal(**own, attribute="", values=("new",))
    decided.emit(tmp_path / "out", rules=Ruleset(profile="deepseek", digest="h", refusals=(rule,)))
    table = (tmp_path / "out/python/sglang/removed_features.py").read_text()
    assert ("refuse-new" in table) is there


def test_all_files_that_cannot_be_written_are_told_at_once(tmp_path: Path) -> None:
    decided = _decided(tmp_path / "up", modules=40)
    wrong = [decided.spoil(number) for number in (0, 20, 39)]
    with pytest.raises(Unwritable, match=r"python/sglang/m0\.py: line 1, column 0") as caught:
        decided.emit(tmp_path / "out")
    assert sorted(caught.value.reasons) == sorted(wrong)
    assert not list((tmp_path / "out").iterdir())


def test_an_unknown_version_has_no_version_file(tmp_path: Path) -> None:
    decided = _decided(tmp_path / "up")
    unknown = replace(decided.tree, identity=Identity("path", "path:up", None, None, True))
    manifest = replace(decided, tree=unknown).emit(tmp_path / "out")
    assert "python/sglang/_version.py" not in {f.path for f in manifest.files}


def test_a_file_that_changed_meanwhile(tmp_path: Path) -> None:
    decided = _decided(tmp_path / "up")
    (tmp_path / "up/python/sglang/run.sh").write_bytes(b"other")
    with pytest.raises(InputError, match=r"run\.sh changed while"):
        decided.emit(tmp_path / "out")


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decided, out = _decided(tmp_path / "up/stream"), tmp_path / "dist/out"
    before = previous_tree(out)
    chmod, count = os.fchmod, 0

    def full(number: int, mode: int) -> None:
        nonlocal count
        count += 1
        if count > 4:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        chmod(number, mode)

    monkeypatch.setattr(os, "fchmod", full)
    with pytest.raises(InputError, match="No space left") as caught, staging_folder(out) as staging:
        decided.emit(staging)
    assert "free some space" in caught.value.next_step
    assert content(out) == before
    assert neighbours(out) == ["out"]
