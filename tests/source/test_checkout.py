from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from shrinker.source import open_upstream
from shrinker.values.errors import InputError
from tests.repositories import git
from tests.source.upstreams import LICENCE, PACKAGE, Index, make_wheel, put


def test_checkout_equals_its_commit(upstream_git: Path, repository: Path, cache: Path) -> None:
    folder = open_upstream(f"path:{upstream_git}", cache=cache, repository=repository)
    commit = open_upstream(f"git:{upstream_git}@main", cache=cache, repository=repository)
    assert folder.files == commit.files and folder.declared == commit.declared
    assert (folder.identity.spec, folder.identity.commit, folder.identity.dirty) == (
        "path",
        commit.identity.commit,
        False,
    )


def test_changed_and_deleted_files_make_it_dirty(upstream_git: Path, repository: Path, cache: Path) -> None:
    git(upstream_git, "checkout", "--quiet", "v1.2.0")
    assert open_upstream(f"path:{upstream_git}", cache=cache, repository=repository).identity.version == "1.2.0"
    put(upstream_git / "python/sglang/srt/server.py", b"PORT = 3\n")
    tree = open_upstream(f"path:{upstream_git}", cache=cache, repository=repository)
    assert tree.read("python/sglang/srt/server.py") == b"PORT = 3\n"
    assert tree.identity.dirty and tree.identity.version is None
    (upstream_git / "python/sglang/srt/server.py").unlink()
    tree = open_upstream(f"path:{upstream_git}", cache=cache, repository=repository)
    assert tree.identity.dirty and "python/sglang/srt/server.py" not in tree.by_path


def test_untracked_files_are_named_and_not_read(upstream_git: Path, repository: Path, cache: Path) -> None:
    put(upstream_git / "python/sglang/new.py", b"")
    lines: list[str] = []
    tree = open_upstream(f"path:{upstream_git}", cache=cache, repository=repository, progress=lines.append)
    assert "python/sglang/new.py" not in tree.by_path and not tree.identity.dirty
    assert any("1 untracked" in line for line in lines)


def test_plain_copy(upstream_git: Path, repository: Path, cache: Path) -> None:
    commit = open_upstream(f"git:{upstream_git}@main", cache=cache, repository=repository)
    shutil.rmtree(upstream_git / ".git")
    put(upstream_git / "python/sglang/__pycache__/a.cpython-311.pyc", b"")
    put(upstream_git / "python/sglang.egg-info/PKG-INFO", b"")
    tree = open_upstream(f"path:{upstream_git}", cache=cache, repository=repository)
    assert tree.files == commit.files
    assert (tree.identity.commit, tree.identity.dirty) == (None, True)


def test_plain_copy_inside_another_repository(upstream_git: Path, repository: Path, cache: Path) -> None:
    git(repository, "init", "--quiet")
    shutil.rmtree(upstream_git / ".git")
    shutil.move(upstream_git, repository / "copy")
    assert open_upstream(f"path:{repository}/copy", cache=cache, repository=repository).files


def test_unpacked_wheel_equals_the_release(index: Index, tmp_path: Path, repository: Path, cache: Path) -> None:
    index.add("sglang-1.2.0-py3-none-any.whl", make_wheel())
    release = open_upstream("release:1.2.0", cache=cache, repository=repository)
    zipfile.ZipFile(next(cache.glob("downloads/*/*.whl"))).extractall(tmp_path / "unpacked")
    tree = open_upstream(f"path:{tmp_path}/unpacked", cache=cache, repository=repository)
    assert tree.files == release.files and tree.declared == release.declared
    assert (tree.identity.version, tree.identity.dirty) == ("1.2.0", True)


def test_folder_without_metadata_says_so(tmp_path: Path, repository: Path, cache: Path) -> None:
    for name, content in PACKAGE.items():
        put(tmp_path / "bare" / name, content)
    lines: list[str] = []
    tree = open_upstream(f"path:{tmp_path}/bare", cache=cache, repository=repository, progress=lines.append)
    assert tree.declared.dependencies == () and any("no dependency is known" in line for line in lines)
    assert [file.path for file in tree.files] == sorted(f"python/{name}" for name in PACKAGE)


def test_links_that_leave_the_folder_are_left_out(tmp_path: Path, repository: Path, cache: Path) -> None:
    put(tmp_path / "x/python/sglang/__init__.py", b"")
    put(tmp_path / "secret", b"secret")
    (tmp_path / "x/python/sglang/a.py").symlink_to(tmp_path / "secret")
    (tmp_path / "x/python/sglang/b.py").symlink_to("__init__.py")
    tree = open_upstream(f"path:{tmp_path}/x", cache=cache, repository=repository)
    assert [file.path for file in tree.files] == ["python/sglang/__init__.py", "python/sglang/b.py"]


def test_not_sglang_and_not_there(tmp_path: Path, repository: Path, cache: Path) -> None:
    with pytest.raises(InputError, match="is not SGLang"):
        open_upstream(f"path:{repository}", cache=cache, repository=repository)
    with pytest.raises(InputError, match="no such folder"):
        open_upstream(f"path:{tmp_path}/none", cache=cache, repository=repository)


def test_submodule(upstream_git: Path, repository: Path, cache: Path) -> None:
    (repository / "upstream").mkdir()
    with pytest.raises(InputError, match="not checked out") as error:
        open_upstream("submodule", cache=cache, repository=repository)
    assert "make upstream" in error.value.next_step
    (repository / "upstream").rmdir()
    git(upstream_git, "clone", "--quiet", ".", str(repository / "upstream"))
    lines: list[str] = []
    tree = open_upstream(None, cache=cache, repository=repository, progress=lines.append)
    head = git(upstream_git, "rev-parse", "HEAD")
    assert (tree.identity.kind, tree.identity.spec, tree.identity.dirty) == ("submodule", f"submodule@{head}", False)
    assert "submodule" in lines[0] and any("not at the pinned" in line for line in lines)
    assert tree.read("LICENSE") == LICENCE
    assert str(repository) not in repr(tree.identity)
