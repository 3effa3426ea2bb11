"""Commits and folders as an upstream: what is read of them, and what is said of each."""

import os
import shutil
from pathlib import Path

import pytest

from shrinker.source.git import version_of_tags
from shrinker.values.errors import InputError
from tests.small import committed, git, write
from tests.source.upstreams import LICENCE, PACKAGE, Open

PATHS = sorted(
    [
        "LICENSE",
        "python/pyproject.toml",
        "sgl-kernel/LICENSE",
        "sgl-kernel/a.cu",
        *(f"python/{name}" for name in PACKAGE),
    ]
)


@pytest.mark.parametrize("name", ["v1.2.0", "HEAD~1", "full", "short"])
def test_local_commit(name: str, upstream_git: Path, opened: Open) -> None:
    full = git(upstream_git, "rev-parse", "v1.2.0^{commit}")
    if name == "HEAD~1":
        git(upstream_git, "branch", "old", "HEAD~1")
    written = {"v1.2.0": "v1.2.0", "HEAD~1": "old", "full": full, "short": full[:8]}[name]
    tree = opened(f"git:{upstream_git}@{written}")
    assert [file.path for file in tree.files] == PATHS
    assert tree.read("python/sglang/srt/server.py") == b"PORT = 30000\n"
    assert (tree.identity.spec, tree.identity.commit, tree.identity.version) == (
        f"git@{full}",
        full,
        "1.2.0",
    )
    assert tree.declared.dependencies[-1] == "numpy"


def test_links_inside_are_content_and_links_outside_are_left_out(
    upstream_git: Path, opened: Open
) -> None:
    tree = opened(f"git:{upstream_git}@main")
    assert tree.read("sgl-kernel/LICENSE") == LICENCE
    assert "sgl-kernel/passwd" not in tree.by_path and "sgl-kernel/loop" not in tree.by_path
    assert not any(path.is_symlink() for path in tree.root.rglob("*"))


def test_the_work_tree_plays_no_part(upstream_git: Path, opened: Open, cache: Path) -> None:
    write(upstream_git, {"python/sglang/srt/server.py": "PORT = 2\n"})
    tree = opened(f"git:{upstream_git}@main")
    assert (
        tree.read("python/sglang/srt/server.py") == b"PORT = 1\n" and tree.identity.version is None
    )
    bare = upstream_git.parent / "bare"
    git(upstream_git, "clone", "--quiet", "--bare", ".", str(bare))
    assert opened(f"git:{bare}@main", cache=cache / "2").files == tree.files


def test_export_attributes_do_not_change_the_bytes(upstream_git: Path, opened: Open) -> None:
    attributes = "*.py export-ignore\n*.cu export-subst\n"
    committed(upstream_git, {".gitattributes": attributes, "sgl-kernel/a.cu": "$Format:%H$\n"})
    tree = opened(f"git:{upstream_git}@main")
    assert [file.path for file in tree.files] == PATHS and tree.read(
        "sgl-kernel/a.cu"
    ) == b"$Format:%H$\n"


@pytest.mark.parametrize("how", ["full", "short", "tag", "branch"])
def test_url(how: str, upstream_git: Path, opened: Open, cache: Path) -> None:
    old, new = git(upstream_git, "rev-parse", "HEAD~1"), git(upstream_git, "rev-parse", "HEAD")
    name, full = {
        "full": (old, old),
        "short": (new[:9], new),
        "tag": ("v1.2.0", old),
        "branch": ("main", new),
    }[how]
    spec = f"git:file://{upstream_git}@{name}"
    lines: list[str] = []
    tree = opened(spec, progress=lines.append)
    assert tree.identity.commit == full and [file.path for file in tree.files] == PATHS
    assert tree.identity.version == ("1.2.0" if full == old else None)
    assert lines
    (clone,) = cache.glob("git/*.git")
    assert git(clone, "rev-list", "--count", full) == "1"


def test_url_offline_after_the_first_time(upstream_git: Path, opened: Open) -> None:
    spec = f"git:file://{upstream_git}@{git(upstream_git, 'rev-parse', 'HEAD')}"
    first = opened(spec)
    upstream_git.rename(upstream_git.parent / "gone")
    assert opened(spec) == first


@pytest.mark.parametrize("commit", ["f" * 40, "abcdef1", "v9", "main2"])
@pytest.mark.parametrize("prefix", ["", "file://"])
def test_missing_commit(prefix: str, commit: str, upstream_git: Path, opened: Open) -> None:
    with pytest.raises(InputError) as error:
        opened(f"git:{prefix}{upstream_git}@{commit}")
    assert commit[:7] in error.value.message and error.value.next_step


def test_not_a_repository_even_inside_one(
    upstream_git: Path, opened: Open, repository: Path
) -> None:
    write(upstream_git, {"plain/x": ""})
    with pytest.raises(InputError, match="is not a git repository"):
        opened(f"git:{upstream_git}/plain@main")
    with pytest.raises(InputError, match="no such folder"):
        opened(f"git:{upstream_git}/none@main")


def test_not_sglang(tmp_path: Path, opened: Open) -> None:
    git(write(tmp_path / "other", {"setup.py": ""}), "init", "--quiet", "--initial-branch=main")
    committed(tmp_path / "other", {})
    with pytest.raises(InputError, match="is not SGLang"):
        opened(f"git:{tmp_path}/other@main")


def test_a_url_cannot_run_a_program(tmp_path: Path, opened: Open) -> None:
    with pytest.raises(InputError):
        opened(f"git:ext::sh -c touch% {tmp_path}/made%://@main")
    assert not (tmp_path / "made").exists()


def test_no_git(
    upstream_git: Path, opened: Open, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(repository))
    with pytest.raises(InputError, match="git is not installed"):
        opened(f"git:{upstream_git}@main")


def test_inside_a_git_hook(
    upstream_git: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", os.devnull)
    monkeypatch.setenv("GIT_INDEX_FILE", os.devnull)
    assert opened(f"git:{upstream_git}@main").files


def test_version_of_tags() -> None:
    assert version_of_tags(("gateway-v9", "v0.5.9", "v0.5.10.post1", "vx")) == "0.5.10.post1"
    assert version_of_tags(()) is None


def test_checkout_equals_its_commit(upstream_git: Path, opened: Open) -> None:
    folder = opened(f"path:{upstream_git}")
    commit = opened(f"git:{upstream_git}@main")
    assert folder.files == commit.files and folder.declared == commit.declared
    assert (folder.identity.spec, folder.identity.commit, folder.identity.dirty) == (
        "path",
        commit.identity.commit,
        False,
    )


def test_changed_and_deleted_files_make_it_dirty(upstream_git: Path, opened: Open) -> None:
    git(upstream_git, "checkout", "--quiet", "v1.2.0")
    assert opened(f"path:{upstream_git}").identity.version == "1.2.0"
    write(upstream_git, {"python/sglang/srt/server.py": "PORT = 3\n"})
    tree = opened(f"path:{upstream_git}")
    assert tree.read("python/sglang/srt/server.py") == b"PORT = 3\n"
    assert tree.identity.dirty and tree.identity.version is None
    (upstream_git / "python/sglang/srt/server.py").unlink()
    tree = opened(f"path:{upstream_git}")
    assert tree.identity.dirty and "python/sglang/srt/server.py" not in tree.by_path


def test_untracked_files_are_named_and_not_read(upstream_git: Path, opened: Open) -> None:
    write(upstream_git, {"python/sglang/new.py": ""})
    lines: list[str] = []
    tree = opened(f"path:{upstream_git}", progress=lines.append)
    assert "python/sglang/new.py" not in tree.by_path and not tree.identity.dirty
    assert any("1 untracked" in line for line in lines)


def test_plain_copy(upstream_git: Path, opened: Open) -> None:
    commit = opened(f"git:{upstream_git}@main")
    shutil.rmtree(upstream_git / ".git")
    write(
        upstream_git / "python",
        {"sglang/__pycache__/a.cpython-311.pyc": "", "sglang.egg-info/PKG-INFO": ""},
    )
    tree = opened(f"path:{upstream_git}")
    assert tree.files == commit.files
    assert (tree.identity.commit, tree.identity.dirty) == (None, True)


def test_plain_copy_inside_another_repository(
    upstream_git: Path, opened: Open, repository: Path
) -> None:
    git(repository, "init", "--quiet")
    shutil.rmtree(upstream_git / ".git")
    shutil.move(upstream_git, repository / "copy")
    assert opened(f"path:{repository}/copy").files


def test_folder_without_metadata_says_so(tmp_path: Path, opened: Open) -> None:
    write(tmp_path / "bare/python", PACKAGE)
    lines: list[str] = []
    tree = opened(f"path:{tmp_path}/bare", progress=lines.append)
    assert tree.declared.dependencies == () and any(
        "no dependency is known" in line for line in lines
    )
    assert [file.path for file in tree.files] == sorted(f"python/{name}" for name in PACKAGE)


def test_links_that_leave_the_folder_are_left_out(tmp_path: Path, opened: Open) -> None:
    write(tmp_path, {"x/python/sglang/__init__.py": "", "secret": "secret"})
    (tmp_path / "x/python/sglang/a.py").symlink_to(tmp_path / "secret")
    (tmp_path / "x/python/sglang/b.py").symlink_to("__init__.py")
    tree = opened(f"path:{tmp_path}/x")
    assert [file.path for file in tree.files] == ["python/sglang/__init__.py", "python/sglang/b.py"]


def test_not_sglang_and_not_there(tmp_path: Path, opened: Open, repository: Path) -> None:
    with pytest.raises(InputError, match="is not SGLang"):
        opened(f"path:{repository}")
    with pytest.raises(InputError, match="no such folder"):
        opened(f"path:{tmp_path}/none")


def test_submodule(upstream_git: Path, opened: Open, repository: Path) -> None:
    (repository / "upstream").mkdir()
    with pytest.raises(InputError, match="not checked out") as error:
        opened("submodule")
    assert "make upstream" in error.value.next_step
    (repository / "upstream").rmdir()
    git(upstream_git, "clone", "--quiet", ".", str(repository / "upstream"))
    lines: list[str] = []
    tree = opened(None, progress=lines.append)
    head = git(upstream_git, "rev-parse", "HEAD")
    assert (tree.identity.kind, tree.identity.spec, tree.identity.dirty) == (
        "submodule",
        f"submodule@{head}",
        False,
    )
    assert "submodule" in lines[0] and any("not at the pinned" in line for line in lines)
    assert any("is not known to be release:" in line for line in lines)
    assert tree.read("LICENSE") == LICENCE
    assert str(repository) not in repr(tree.identity)
