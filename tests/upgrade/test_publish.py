"""A generated tree on a branch: linear, by its bytes alone, never by force."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.small import FILES, Done, World, small_world
from tests.small import committed, content, git, write

CUDA = "python/sglang/srt/cuda.py"


@pytest.fixture
def world(tmp_path: Path) -> World:
    found = small_world(tmp_path)
    assert found.shrink().code == 0
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    return found


def _publish(world: World, branch: str = "tree", remote: str | None = None) -> Done:
    places = ["--out", str(world.out), "--remote", remote or str(world.folder / "remote.git")]
    return world.run(["publish", *places, "--branch", branch, "--json"])


def _again(world: World, text: str) -> None:
    write(world.upstream, {CUDA: FILES[CUDA].replace("'cuda'", text)})
    assert world.shrink().code == 0


def test_the_branch_grows_one_commit_a_tree(world: World) -> None:
    remote = world.folder / "remote.git"
    first = json.loads(_publish(world).out)
    assert first["new"] is True
    assert json.loads(_publish(world).out) == {**first, "new": False}, (
        "the same bytes are no second commit"
    )
    _again(world, "'cuda 2'")
    second = json.loads(_publish(world).out)
    assert git(remote, "rev-list", "--parents", "tree").split("\n") == [
        f"{second['commit']} {first['commit']}",
        first["commit"],
    ]
    shown = git(remote, "ls-tree", "-r", "--name-only", "tree").split("\n")
    there = content(world.out)
    assert shown == sorted(there)
    for path in shown:
        data = subprocess.run(
            ["git", "show", f"tree:{path}"], cwd=remote, capture_output=True, check=True
        ).stdout
        assert data == there[path]


def test_trailers(world: World) -> None:
    assert _publish(world).code == 0
    manifest = json.loads((world.out / "SHRINK.json").read_text())
    told = (
        git(world.folder / "remote.git", "log", "-1", "--format=%(trailers)", "tree")
        .strip()
        .split("\n")
    )
    assert told == [
        "Upstream-Commit: path",
        f"Rules-Hash: {manifest['rules_hash']}",
        f"Shrinker-Version: {manifest['tool_version']}",
    ]


def test_the_same_bytes_have_the_same_tree_hash_whatever_git_is_set_to(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    cuda = "from sglang.srt.lines import A\n\n\ndef start():\n    return A\n"
    write(world.upstream, {"python/sglang/srt/lines.py": "A = 1\r\n", CUDA: cuda})
    assert world.shrink().code == 0
    one = json.loads(_publish(world).out)["tree"]
    settings = world.folder / "settings"
    core = f"[core]\n  autocrlf = true\n  attributesFile = {world.folder / 'attributes'}\n"
    settings.write_text(f"{core}[user]\n  name = Somebody\n  email = s@b\n")
    (world.folder / "attributes").write_text("*.py text eol=lf\n*.md export-ignore\n")
    (world.out / "python").chmod(0o700)
    for file in world.out.rglob("*.py"):
        file.chmod(0o755)
    monkeypatch.setattr(
        World, "environment", _with(World.environment, GIT_CONFIG_GLOBAL=str(settings))
    )
    other = json.loads(_publish(world, "other").out)["tree"]
    assert one == other
    assert git(world.folder / "remote.git", "log", "-1", "--format=%an", "other") == "Somebody"


def _with(plain: Callable[..., dict[str, str]], **more: str) -> Callable[..., dict[str, str]]:
    return lambda self, **extra: plain(self, **extra, **more)


def test_a_branch_with_something_else_is_left_alone(world: World) -> None:
    clone = world.folder / "clone"
    git(world.folder, "clone", "-q", "remote.git", "clone")
    committed(clone, {"mine.txt": "my work\n"})
    git(clone, "push", "-q", "origin", "HEAD:refs/heads/tree")
    before = git(world.folder / "remote.git", "rev-parse", "tree")
    done = _publish(world)
    assert done.code == 2 and "holds something else" in done.err
    assert git(world.folder / "remote.git", "rev-parse", "tree") == before


def test_a_branch_that_moved_meanwhile_is_not_overwritten(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shrinker.upgrade import publish

    first = json.loads(_publish(world).out)["commit"]
    _again(world, "'cuda 2'")
    second = json.loads(_publish(world).out)["commit"]
    _again(world, "'cuda 3'")
    plain = publish._tip

    def old_tip(bare: Path, remote: str, branch: str) -> object:
        plain(bare, remote, branch)
        subprocess.run(["git", "fetch", "-q", remote, first], cwd=bare, check=True)
        return first

    git(world.folder / "remote.git", "config", "uploadpack.allowAnySHA1InWant", "true")
    monkeypatch.setattr(publish, "_tip", old_tip)
    done = _publish(world)
    assert done.code == 2 and "nothing is ever pushed by force" in done.err
    assert git(world.folder / "remote.git", "rev-parse", "tree") == second


def test_a_tree_that_is_not_as_its_manifest_says_is_not_published(world: World) -> None:
    extra = world.out / "python/extra.py"
    extra.write_text("A = 1\n")
    assert "extra.py" in _publish(world).err
    extra.unlink()
    file = world.out / CUDA
    whole = file.read_text()
    file.write_text(whole + "\n")
    assert f"{CUDA} is not as" in _publish(world).err
    file.write_text(whole)
    other = world.folder / "link.py"
    file.rename(other)
    file.symlink_to(other)
    assert _publish(world).code == 2
    assert git(world.folder / "remote.git", "branch", "--list") == ""


def test_bad_remotes_and_branches(world: World) -> None:
    nowhere = str(world.folder / "nowhere")
    for branch, remote in (
        ("a..b", None),
        ("-x", None),
        ("tree", nowhere),
        ("tree", "--upload-pack=x"),
    ):
        done = _publish(world, branch, remote)
        assert done.code == 2 and "next: " in done.err, (branch, remote, done.err)
