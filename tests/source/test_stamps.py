"""What is known of the last state of a folder or repository is taken again, an edit is seen, and nothing damaged is used."""

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from shrinker.source import cache as store
from shrinker.source import git as source
from shrinker.source import open_upstream, stamps
from shrinker.source.repository import Commit
from shrinker.source.stamps import FolderHashes
from shrinker.values.upstream import UpstreamTree
from tests.small import git
from tests.source.upstreams import put

SERVER = "python/sglang/srt/server.py"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that were read to be hashed."""
    names: list[str] = []

    def sha256_of(path: Path) -> str:
        names.append(path.name)
        return store.sha256_of(path)

    monkeypatch.setattr(stamps, "sha256_of", sha256_of)
    return names


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is there is old enough to be trusted."""
    monkeypatch.setattr(stamps, "_SETTLED_NS", -3_600_000_000_000)


def _hash(cache: Path, folder: Path, *names: str) -> list[str]:
    found = FolderHashes(cache, folder)
    digests = [found.sha256(name, folder / name) for name in names]
    found.save("tree")
    return digests


def test_what_did_not_change_is_not_read_again(tmp_path: Path, read: list[str], settled: None) -> None:
    put(tmp_path / "x/a", b"1")
    put(tmp_path / "x/b", b"2")
    first = _hash(tmp_path / "cache", tmp_path / "x", "a", "b")
    assert _hash(tmp_path / "cache", tmp_path / "x", "a", "b") == first
    assert read == ["a", "b"]
    put(tmp_path / "x/b", b"3")
    assert _hash(tmp_path / "cache", tmp_path / "x", "a", "b") != first
    assert read == ["a", "b", "b"]


def test_an_edit_that_restores_size_and_time_is_seen(tmp_path: Path, read: list[str], settled: None) -> None:
    put(tmp_path / "x/a", b"1")
    before = (tmp_path / "x/a").stat()
    first = _hash(tmp_path / "cache", tmp_path / "x", "a")
    time.sleep(0.02)
    put(tmp_path / "x/a", b"2")
    os.utime(tmp_path / "x/a", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert _hash(tmp_path / "cache", tmp_path / "x", "a") != first


def test_a_file_that_is_too_young_is_read_again(tmp_path: Path, read: list[str]) -> None:
    put(tmp_path / "x/a", b"1")
    _hash(tmp_path / "cache", tmp_path / "x", "a")
    _hash(tmp_path / "cache", tmp_path / "x", "a")
    assert read == ["a", "a"]


@pytest.mark.parametrize("text", ["", "[]", '{"format": 2}', '{"format": 2, "sha256": "", "body": "{}"}'])
def test_a_broken_record_is_as_none(tmp_path: Path, read: list[str], settled: None, text: str) -> None:
    put(tmp_path / "x/a", b"1")
    first = _hash(tmp_path / "cache", tmp_path / "x", "a")
    for file in (tmp_path / "cache/stamps").glob("*.json"):
        file.write_text(text)
    assert _hash(tmp_path / "cache", tmp_path / "x", "a") == first
    assert read == ["a", "a"]


def _open(folder: Path, repository: Path, cache: Path) -> dict[str, bytes]:
    tree = open_upstream(f"path:{folder}", cache=cache, repository=repository)
    assert all(store.sha256_of(tree.root / file.path) == file.sha256 for file in tree.files)
    return {file.path: tree.read(file.path) for file in tree.files}


def test_an_edited_folder_shares_files_with_its_last_state(
    upstream_git: Path, repository: Path, cache: Path, settled: None
) -> None:
    before = _open(upstream_git, repository, cache)
    put(upstream_git / SERVER, b"PORT = 3\n")
    assert _open(upstream_git, repository, cache) == before | {SERVER: b"PORT = 3\n"}
    linked = [f for f in (cache / "trees").rglob("*") if f.is_file() and f.stat().st_nlink > 1]
    assert len(linked) == 2 * (len(before) - 1)


def test_damage_to_the_last_state_does_not_reach_the_next(
    upstream_git: Path, repository: Path, cache: Path, settled: None
) -> None:
    before = _open(upstream_git, repository, cache)
    damaged = next((cache / "trees").glob("*/files/python/sglang/__init__.py"))
    damaged.write_bytes(damaged.read_bytes() + b"# damage\n")
    put(upstream_git / SERVER, b"PORT = 3\n")
    assert _open(upstream_git, repository, cache) == before | {SERVER: b"PORT = 3\n"}


def test_a_last_state_that_left_the_cache_is_not_missed(
    upstream_git: Path, repository: Path, cache: Path, settled: None
) -> None:
    before = _open(upstream_git, repository, cache)
    store.clear(cache / "nothing")
    for tree in (cache / "trees").iterdir():
        if tree.is_dir():
            (tree / "tree.json").unlink()
    put(upstream_git / SERVER, b"PORT = 3\n")
    assert _open(upstream_git, repository, cache) == before | {SERVER: b"PORT = 3\n"}


def test_old_states_of_a_folder_leave_the_cache(upstream_git: Path, repository: Path, cache: Path) -> None:
    def trees() -> int:
        return sum(tree.is_dir() for tree in (cache / "trees").iterdir())

    for number in range(5):
        put(upstream_git / SERVER, b"PORT = %d\n" % number)
        _open(upstream_git, repository, cache)
    assert trees() == 5, "each may be in the hands of a run"
    hours_ago = time.time() - 7200
    for lock in (cache / "trees").glob(".*.lock"):
        os.utime(lock, (hours_ago, hours_ago))
    put(upstream_git / SERVER, b"PORT = 9\n")
    _open(upstream_git, repository, cache)
    assert trees() == 3


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths whose content was asked of git."""
    found: list[str] = []
    contents = source._contents

    def counted(commit: Commit, blobs: Mapping[str, str], where: str) -> Iterator[tuple[str, bytes]]:
        found.extend(blobs)
        return contents(commit, blobs, where)

    monkeypatch.setattr(source, "_contents", counted)
    return found


def _commit(upstream: Path, commit: str, cache: Path, repository: Path) -> UpstreamTree:
    return open_upstream(f"git:{upstream}@{commit}", cache=cache, repository=repository)


def _contents(tree: UpstreamTree) -> dict[str, bytes]:
    return {file.path: tree.read(file.path) for file in tree.files}


def test_only_what_changed_is_read(upstream_git: Path, repository: Path, cache: Path, asked: list[str]) -> None:
    old = git(upstream_git, "rev-parse", "HEAD~1")
    first = _commit(upstream_git, old, cache, repository)
    asked.clear()
    second = _commit(upstream_git, "main", cache, repository)
    changed = {file.path for file in second.files if file not in first.files}
    assert changed == {SERVER} and set(asked) == {SERVER, "python/pyproject.toml"}
    assert (second.root / "LICENSE").samefile(first.root / "LICENSE")
    assert _contents(second) == _contents(_commit(upstream_git, "main", cache.parent / "other", repository))
    # The other way round, and what an open tree was before stays what it was.
    assert _commit(upstream_git, old, cache, repository).files == first.files


def test_a_damaged_tree_gives_nothing(upstream_git: Path, repository: Path, cache: Path) -> None:
    first = _commit(upstream_git, git(upstream_git, "rev-parse", "HEAD~1"), cache, repository)
    (first.root / "sgl-kernel/a.cu").write_bytes(b"poison")
    second = _commit(upstream_git, "main", cache, repository)
    assert _contents(second) == _contents(_commit(upstream_git, "main", cache.parent / "other", repository))


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "gone"])
def test_a_damaged_record_is_as_none(
    damage: str, upstream_git: Path, repository: Path, cache: Path, asked: list[str]
) -> None:
    _commit(upstream_git, git(upstream_git, "rev-parse", "HEAD~1"), cache, repository)
    (record,) = (cache / "stamps").glob("git-*.json")
    text = record.read_text()
    if damage == "gone":
        record.unlink()
    else:
        changed = text.replace('\\"sgl-kernel/a.cu\\"', '\\"LICENSE\\"')
        assert changed != text
        record.write_text({"cut": text[:-9], "changed": changed, "empty": ""}[damage])
    asked.clear()
    tree = _commit(upstream_git, "main", cache, repository)
    assert set(asked) == {file.path for file in tree.files}
