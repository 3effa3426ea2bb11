"""The tree as a whole: what is written, the swap, and what stays when something goes wrong."""

from __future__ import annotations

import ast
import errno
import hashlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shrinker.emit import workers
from shrinker.emit.tree import emit_tree, install, staging_folder
from shrinker.ruleset.models import Ruleset
from shrinker.values.edits import DropStatement, Edit, Literal, Span
from shrinker.values.errors import InputError, ShrinkerError
from shrinker.values.folded import FoldedModule
from shrinker.values.form import digest
from shrinker.values.graph import Graph, Removal
from shrinker.values.manifest import Manifest
from shrinker.values.upstream import DeclaredPackage, Identity, SourceFile, UpstreamTree
from tests.emit.reference import span
from tests.emit.small_tree import dead_process, write_tree

SOURCE = "import a\n\n\ndef f():\n    return a\n"


def _upstream(root: Path, modules: int = 3) -> tuple[UpstreamTree, dict[str, FoldedModule], Graph]:
    files = {
        "LICENSE": b"Apache\n",
        "python/sglang/__init__.py": b"",
        "python/sglang/data.bin": b"\0\1\r\n",
        "python/sglang/run.sh": b"#!/bin/sh\n",
        "python/sglang/gone.py": b"x = 1\n",
    }
    names = [f"python/sglang/m{n}.py" for n in range(modules)]
    files |= {name: SOURCE.encode() for name in names}
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    (root / "python/sglang/run.sh").chmod(0o755)
    listed = tuple(SourceFile(p, hashlib.sha256(d).hexdigest(), len(d)) for p, d in sorted(files.items()))
    tree = UpstreamTree(
        Identity("release", "release:0.5.7", "0.5.7", None, False),
        root,
        listed,
        DeclaredPackage("sglang", ">=3.10", ("numpy",), {}, {}),
        {f.path: f for f in listed},
    )
    parsed = ast.parse(SOURCE)
    edit = DropStatement(span(parsed.body[0]))
    decided = digest(ast.Module(parsed.body[1:], []))
    folded = {name: _folded(name, (edit,), decided) for name in names}
    folded["python/sglang/__init__.py"] = _folded("python/sglang/__init__.py", (), "")
    kept = {path: "root" for path in files if path != "python/sglang/gone.py"}
    return tree, folded, Graph((), kept, {"python/sglang/gone.py": Removal("unreachable", "")}, ())


def _folded(path: str, edits: tuple[Edit, ...], decided: str) -> FoldedModule:
    return FoldedModule(path, path, False, "", 5, edits, decided, (), (), (), (), (), ())


def _emit(tree: UpstreamTree, folded: dict[str, FoldedModule], graph: Graph, out: Path, **changes: Any) -> Manifest:
    settings: dict[str, Any] = {"jobs": 1, "rules": Ruleset(profile="deepseek", digest="h"), "tool_version": "1"}
    return emit_tree(tree, folded, graph, out=out, **(settings | changes)).manifest


def _content(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _neighbours(out: Path) -> list[str]:
    return sorted(p.name for p in out.parent.iterdir())


def test_what_is_written(tmp_path: Path) -> None:
    tree, folded, graph = _upstream(tmp_path / "up")
    out = tmp_path / "out"
    out.mkdir()
    seen: list[tuple[int, int]] = []
    manifest = _emit(tree, folded, graph, out, progress=lambda done, total: seen.append((done, total)))
    found = _content(out)
    assert found["python/sglang/data.bin"] == b"\0\1\r\n"
    assert found["LICENSE"] == b"Apache\n"
    assert found["python/sglang/m0.py"].decode().splitlines()[0].startswith("# Modified by shrinker:")
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


def test_the_number_of_jobs_does_not_matter(tmp_path: Path) -> None:
    tree, folded, graph = _upstream(tmp_path / "up", modules=12)
    tasks = [workers.Task(path, Path(), 0, folded[path].edits, "") for path in graph.kept if path in folded]
    assert sum(map(workers._weight, tasks)) > workers._SMALL
    for jobs in (1, 2):
        (tmp_path / str(jobs)).mkdir()
        _emit(tree, folded, graph, tmp_path / str(jobs), jobs=jobs)
    assert _content(tmp_path / "1") == _content(tmp_path / "2")


def test_all_files_that_cannot_be_written_are_told_at_once(tmp_path: Path) -> None:
    tree, folded, graph = _upstream(tmp_path / "up", modules=40)
    wrong = [f"python/sglang/m{n}.py" for n in (0, 20, 39)]
    for path in wrong:
        folded[path] = _folded(path, (Literal(Span(1, 0, 1, 1), "True"),), "")
    (tmp_path / "out").mkdir()
    with pytest.raises(workers.Unwritable) as caught:
        _emit(tree, folded, graph, tmp_path / "out")
    assert sorted(caught.value.reasons) == sorted(wrong)
    assert not list((tmp_path / "out").iterdir())


def test_one_large_file_is_rewritten_beside_what_else_there_is(tmp_path: Path) -> None:
    path = tmp_path / "large.py"
    path.write_text(SOURCE + "# more\n" * workers._SMALL)
    edit = DropStatement(span(ast.parse(SOURCE).body[0]))
    called: list[int] = []
    task = workers.Task(path.name, path, path.stat().st_size, (edit,), "")
    [there] = workers.rewrite_all([task], 2, lambda: called.append(os.getpid()))
    [here] = workers.rewrite_all([task], 1, lambda: called.append(os.getpid()))
    assert there == here and b"import a" not in there.content
    assert called == [os.getpid()] * 2


def _emitted(folder: Path) -> tuple[Path, Manifest, Callable[[Path], Manifest]]:
    """A tree, its manifest, and what writes it once more with the first one in place."""
    tree, folded, graph = _upstream(folder / "up")
    old = folder / "old"
    old.mkdir()

    def again(new: Path) -> Manifest:
        new.mkdir()
        return _emit(tree, folded, graph, new, previous=old)

    return old, _emit(tree, folded, graph, old), again


def test_files_that_stay_as_they_are_are_linked(tmp_path: Path) -> None:
    old, manifest, again = _emitted(tmp_path)
    written = _content(old)
    # None of these is what is to be written.
    (old / "python/sglang/m0.py").write_bytes(written["python/sglang/m0.py"].upper())
    (old / "python/sglang/run.sh").chmod(0o644)
    (old / "python/sglang/__init__.py").unlink()
    (old / "elsewhere").write_bytes(written["python/sglang/m1.py"])
    (old / "python/sglang/m1.py").unlink()
    (old / "python/sglang/m1.py").symlink_to(old / "elsewhere")
    new = tmp_path / "new"
    assert again(new) == manifest
    assert _content(new) == written
    linked = {path for path in written if (new / path).stat().st_nlink == 2}
    fresh = {f"python/sglang/{name}" for name in ("m0.py", "m1.py", "run.sh", "__init__.py")}
    assert linked == written.keys() - fresh
    assert os.access(new / "python/sglang/run.sh", os.X_OK)
    assert not (new / "python/sglang/m1.py").is_symlink()


def test_a_tree_that_is_replaced_while_its_files_are_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs at once: what was read is no longer what the path names."""
    old, manifest, again = _emitted(tmp_path)
    written = _content(old)
    link = os.link

    def replaced(source: str, *arguments: Any, **named: Any) -> None:
        Path(source).rename(f"{source}.away")
        Path(source).write_bytes(b"of another run")
        link(source, *arguments, **named)

    monkeypatch.setattr(os, "link", replaced)
    new = tmp_path / "new"
    assert again(new) == manifest
    assert _content(new) == written


def test_an_unknown_version_has_no_version_file(tmp_path: Path) -> None:
    tree, folded, graph = _upstream(tmp_path / "up")
    identity = Identity("path", "path:up", None, None, True)
    unknown = UpstreamTree(identity, tree.root, tree.files, tree.declared, tree.by_path)
    (tmp_path / "out").mkdir()
    manifest = _emit(unknown, folded, graph, tmp_path / "out")
    assert "python/sglang/_version.py" not in {f.path for f in manifest.files}


def test_a_fault_names_the_file(tmp_path: Path) -> None:
    tree, folded, graph = _upstream(tmp_path / "up")
    path = "python/sglang/m1.py"
    folded[path] = _folded(path, (Literal(Span(1, 0, 1, 1), "True"),), "")
    (tmp_path / "out").mkdir()
    with pytest.raises(ShrinkerError, match=r"python/sglang/m1\.py: line 1, column 0"):
        _emit(tree, folded, graph, tmp_path / "out")


def test_a_file_that_changed_meanwhile(tmp_path: Path) -> None:
    tree, folded, graph = _upstream(tmp_path / "up")
    (tmp_path / "up/python/sglang/run.sh").write_bytes(b"other")
    (tmp_path / "out").mkdir()
    with pytest.raises(InputError, match=r"run\.sh changed while"):
        _emit(tree, folded, graph, tmp_path / "out")


# The swap


def _previous(out: Path) -> dict[str, bytes]:
    out.mkdir(parents=True)
    write_tree(out, {"old.py": "old"})
    return _content(out)


def _generate(out: Path, act: Callable[[Path], None] | None = None) -> None:
    with staging_folder(out) as staging:
        write_tree(staging, {"new.py": "new"})
        if act is not None:
            act(staging)
        install(staging, out)


def test_install(tmp_path: Path) -> None:
    out = tmp_path / "deep/er/out"
    _generate(out)
    assert set(_content(out)) == {"SHRINK.json", "new.py"}
    _generate(out)
    assert set(_content(out)) == {"SHRINK.json", "new.py"}
    assert _neighbours(out) == ["out"]
    assert out.stat().st_mode & 0o777 == 0o755


def test_an_empty_folder_may_be_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    _generate(out)
    assert (out / "new.py").exists()


def test_foreign_folders_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine").write_text("precious")
    with pytest.raises(InputError, match="not a generated tree"):
        _generate(out)
    assert _content(out) == {"mine": b"precious"}
    (tmp_path / "file").write_text("precious")
    with pytest.raises(InputError, match="not a folder"):
        _generate(tmp_path / "file")
    (tmp_path / "link").symlink_to(out)
    with pytest.raises(InputError, match=r"is a link to .*out"):
        _generate(tmp_path / "link")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), InputError("x"), MemoryError()])
def test_a_failure_leaves_the_previous_output(tmp_path: Path, error: BaseException) -> None:
    out = tmp_path / "out"
    before = _previous(out)

    def fail(staging: Path) -> None:
        raise error

    with pytest.raises(type(error)):
        _generate(out, fail)
    assert _content(out) == before
    assert _neighbours(out) == ["out"]


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, folded, graph = _upstream(tmp_path / "up/stream")
    out = tmp_path / "dist/out"
    before = _previous(out)
    chmod, count = os.fchmod, 0

    def full(number: int, mode: int) -> None:
        nonlocal count
        count += 1
        if count > 4:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        chmod(number, mode)

    monkeypatch.setattr(os, "fchmod", full)
    with pytest.raises(InputError, match="No space left") as caught, staging_folder(out) as staging:
        _emit(tree, folded, graph, staging)
    assert "free some space" in caught.value.next_step
    assert _content(out) == before
    assert _neighbours(out) == ["out"]


def test_a_rename_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    before = _previous(out)
    rename = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if Path(target) == out and "shrinking" in self.name:
            raise PermissionError(errno.EACCES, "no")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(InputError, match="cannot replace"):
        _generate(out)
    assert _content(out) == before
    assert _neighbours(out) == ["out"]


def test_an_interrupt_between_the_renames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    before = _previous(out)
    rename = Path.rename

    def interrupted(self: Path, target: Path) -> Path:
        if "shrinking" in self.name:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _generate(out)
    assert _content(out) == before


def test_what_dead_runs_left_is_removed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _previous(out)
    dead = dead_process()
    for name in (f".out.shrinking.{dead}.abc", f".out.replaced.{dead}", f".out.shrinking.{os.getppid()}.abc"):
        (tmp_path / name).mkdir()
        write_tree(tmp_path / name, {"x": ""})
    (tmp_path / ".out.mine").mkdir()
    _generate(out)
    assert _neighbours(out) == [".out.mine", f".out.shrinking.{os.getppid()}.abc", "out"]


def test_a_run_killed_between_the_renames_is_undone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    before = _previous(out)
    out.rename(tmp_path / f".out.replaced.{dead_process()}")
    with staging_folder(out):
        assert _content(out) == before


def test_an_output_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write in"):
        _generate(tmp_path / "file" / "out")


def _kill_a_worker(existing: set[int | None]) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for process in multiprocessing.active_children():
            if process.pid is not None and process.pid not in existing:
                os.kill(process.pid, signal.SIGKILL)
                return
        time.sleep(0.01)


def test_a_killed_worker(tmp_path: Path) -> None:
    out = tmp_path / "dist/out"
    before = _previous(out)
    # Nobody writes into the pipe: a worker that reads it waits until it is killed.
    os.mkfifo(tmp_path / "pipe")
    tasks = [workers.Task(f"m{n}.py", tmp_path / "pipe", workers._SMALL, (), "") for n in range(8)]
    existing = {p.pid for p in multiprocessing.active_children()}
    killer = threading.Thread(target=_kill_a_worker, args=(existing,))
    killer.start()
    with pytest.raises(ShrinkerError, match="worker process was killed") as caught, staging_folder(out):
        list(workers.rewrite_all(tasks, jobs=2))
    killer.join()
    assert "JOBS" in caught.value.next_step
    assert _content(out) == before
    assert _neighbours(out) == ["out"]
