"""The next commit of a repository takes what it shares with the last one from the cache, and nothing that is not sound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from shrinker.source import git as source
from shrinker.source import open_upstream
from shrinker.source.repository import Commit
from shrinker.values.upstream import UpstreamTree
from tests.repositories import git

SERVER = "python/sglang/srt/server.py"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths whose content was asked of git."""
    found: list[str] = []
    contents = source._contents

    def counted(commit: Commit, blobs: Mapping[str, str], where: str) -> Iterator[tuple[str, bytes]]:
        found.extend(blobs)
        return contents(commit, blobs, where)

    monkeypatch.setattr(source, "_contents", counted)
    return found


def _open(upstream: Path, commit: str, cache: Path, repository: Path) -> UpstreamTree:
    return open_upstream(f"git:{upstream}@{commit}", cache=cache, repository=repository)


def _contents(tree: UpstreamTree) -> dict[str, bytes]:
    return {file.path: tree.read(file.path) for file in tree.files}


def test_only_what_changed_is_read(upstream_git: Path, repository: Path, cache: Path, read: list[str]) -> None:
    old = git(upstream_git, "rev-parse", "HEAD~1")
    first = _open(upstream_git, old, cache, repository)
    read.clear()
    second = _open(upstream_git, "main", cache, repository)
    changed = {file.path for file in second.files if file not in first.files}
    assert changed == {SERVER} and set(read) == {SERVER, "python/pyproject.toml"}
    assert (second.root / "LICENSE").samefile(first.root / "LICENSE")
    assert _contents(second) == _contents(_open(upstream_git, "main", cache.parent / "other", repository))
    # The other way round, and what an open tree was before stays what it was.
    assert _open(upstream_git, old, cache, repository).files == first.files


def test_a_damaged_tree_gives_nothing(upstream_git: Path, repository: Path, cache: Path) -> None:
    first = _open(upstream_git, git(upstream_git, "rev-parse", "HEAD~1"), cache, repository)
    (first.root / "sgl-kernel/a.cu").write_bytes(b"poison")
    second = _open(upstream_git, "main", cache, repository)
    assert _contents(second) == _contents(_open(upstream_git, "main", cache.parent / "other", repository))


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "gone"])
def test_a_damaged_record_is_as_none(
    damage: str, upstream_git: Path, repository: Path, cache: Path, read: list[str]
) -> None:
    _open(upstream_git, git(upstream_git, "rev-parse", "HEAD~1"), cache, repository)
    (record,) = (cache / "stamps").glob("git-*.json")
    text = record.read_text()
    if damage == "gone":
        record.unlink()
    else:
        changed = text.replace('\\"sgl-kernel/a.cu\\"', '\\"LICENSE\\"')
        assert changed != text
        record.write_text({"cut": text[:-9], "changed": changed, "empty": ""}[damage])
    read.clear()
    tree = _open(upstream_git, "main", cache, repository)
    assert set(read) == {file.path for file in tree.files}
