"""The tree of a commit, read from a repository's objects: no work tree is needed or touched; and
that of a folder: the submodule, a checkout, or a plain copy of one, whose files are copied to the
cache, keyed by content.

Blobs come from `git cat-file`, not from `git archive`: export attributes would change the bytes.
"""

import contextlib
import hashlib
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from packaging.version import InvalidVersion, Version

from shrinker.source import cache, declared, layout
from shrinker.source.cache import Opened, Progress, Writer
from shrinker.source.pins import Pins
from shrinker.source.repository import Commit, commit_at, fetched, git
from shrinker.source.spec import GitSpec
from shrinker.values.errors import InputError
from shrinker.values.upstream import PACKAGE_PREFIX, Identity, UpstreamTree

_SUBMODULE = "160000 "
"""How its row in a list of files begins."""


def open_commit(spec: GitSpec, pins: Pins, folder: Path, progress: Progress) -> UpstreamTree:
    """Return the tree of a commit.

    Raises InputError: not a repository, no such commit, not fetchable, or not SGLang.
    """
    commit = fetched(spec, folder, progress) if spec.is_url else _local(spec)
    where, key = f"git@{commit.hash[:12]}", cache.tree_key("git", commit.hash)
    identity = Identity("git", f"git@{commit.hash}", version_of(commit, pins), commit.hash, False)
    return UpstreamTree(
        identity, *cache.tree(folder, key, lambda write: _unpack(commit, write, where), where)
    )


def version_of(commit: Commit, pins: Pins) -> str | None:
    """Return the release that has the same package as a commit, by its tags or as pinned; None
    where neither says so.
    """
    pinned = (release for release, other in pins.commit_of.items() if other == commit.hash)
    return version_of_tags(commit.tags) or next(pinned, None)


def version_of_tags(tags: tuple[str, ...]) -> str | None:
    """Return the highest version among tags of the form `vX`."""
    versions: list[Version] = []
    for tag in tags:
        if tag.startswith("v"):
            with contextlib.suppress(InvalidVersion):
                versions.append(Version(tag))
    return str(max(versions)) if versions else None


def _local(spec: GitSpec) -> Commit:
    repository = Path(spec.repository).expanduser()
    if not repository.is_dir():
        raise InputError(
            f"git:{spec.repository}: there is no such folder, and it is not a URL",
            "give a repository's folder or URL",
        )
    if not any((repository / name).exists() for name in (".git", "HEAD")):
        raise InputError(
            f"git:{spec.repository} is not a git repository",
            "use UPSTREAM=path:DIR for a plain folder",
        )
    # Fails in its own words where git reads nothing there.
    git("rev-parse", "--git-dir", at=repository)
    return commit_at(repository, spec.commit)


def _unpack(commit: Commit, write: Writer, where: str) -> Opened:
    rows = git("ls-tree", "-r", "-z", "--full-tree", commit.hash, at=commit.repository).split("\0")[
        :-1
    ]
    paths = [row.partition("\t")[2] for row in rows if not row.startswith(_SUBMODULE)]
    if not any(path.startswith(PACKAGE_PREFIX) for path in paths):
        raise InputError(
            f"{where} is not SGLang: it has no folder {PACKAGE_PREFIX}",
            "give a commit of the SGLang repository",
        )
    unread = {path: why for path in paths if (why := layout.why_unread(path))}
    read = [path for path in paths if path not in unread]
    return declared.from_repository(_contents(commit, read, where), write, where), unread


def _contents(commit: Commit, paths: Sequence[str], where: str) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of each file, by one `git cat-file --batch`.

    A link is the file that it leads to by the commit's own list of paths, as whose content a wheel
    has it, and none where it leads elsewhere.
    """
    asked = "".join(f"{commit.hash}:{layout.checked_path(path, where)}\n" for path in paths)
    said = git("cat-file", "--batch", "--follow-symlinks", at=commit.repository, given=asked)
    answer = io.BytesIO(said.encode("utf-8", "surrogateescape"))
    for path in paths:
        match answer.readline().split():
            case (_, b"blob" | b"tree" as kind, size) | (
                b"symlink" | b"dangling" | b"loop" | b"notdir" as kind,
                size,
            ):
                content = answer.read(int(size) + 1)
                if kind == b"blob":
                    yield path, content[:-1]
            case _:
                raise InputError(
                    f"{where}: the content of {path} is missing from the repository",
                    "fetch the whole commit there and run again",
                )


def open_folder(
    kind: Literal["submodule", "path"],
    folder: Path,
    where: str,
    pins: Pins,
    store: Path,
    progress: Progress,
) -> UpstreamTree:
    """Return the tree of a folder in the layout of upstream's repository, which was asked for as
    some `kind` and is called `where` in messages. Raises InputError when it is not there, or not
    SGLang.
    """
    if not folder.is_dir():
        raise InputError(f"{where}: there is no such folder", "give a checkout of SGLang")
    if not (folder / PACKAGE_PREFIX / "__init__.py").is_file():
        raise InputError(
            f"{where} is not SGLang: it has no {PACKAGE_PREFIX}__init__.py",
            "give the top folder of a checkout of SGLang",
        )
    commit, dirty, sources = _repository(folder, where, progress)
    # Read once, so that an edit made while shrinker runs cannot mix two states of the folder.
    contents = {path: source.read_bytes() for path, source in sources.items()}
    facts = [f"{path}\t{hashlib.sha256(content).hexdigest()}" for path, content in contents.items()]

    def build(write: Writer) -> Opened:
        if layout.PYPROJECT not in contents:
            progress(f"{where}: no {layout.PYPROJECT}: no dependency is known")
        return declared.from_repository(contents.items(), write, where), {}

    found = cache.tree(store, cache.tree_key("folder", *facts), build, where)
    if commit is None:
        return UpstreamTree(Identity(kind, kind, None, None, dirty), *found)
    if kind == "submodule" and commit.hash != pins.submodule_commit:
        progress(
            f"{where} is at {commit.hash[:12]}, not at the pinned {pins.submodule_commit[:12]}"
        )
    if dirty:
        progress(f"{where} differs from its commit {commit.hash[:12]}")
    spec = f"{kind}@{commit.hash}" if kind == "submodule" else kind
    version = None if dirty else version_of(commit, pins)
    return UpstreamTree(Identity(kind, spec, version, commit.hash, dirty), *found)


def _repository(
    folder: Path, where: str, progress: Progress
) -> tuple[Commit | None, bool, dict[str, Path]]:
    """Git's tracked files when the folder is a checkout, else all."""
    if not (folder / ".git").exists():
        found = (
            path for top in layout.NEEDED for path in (folder / top, *(folder / top).rglob("*"))
        )
        return None, True, _inside(folder, (path.relative_to(folder).as_posix() for path in found))
    head = git("rev-parse", "--verify", "--end-of-options", "HEAD^{commit}", at=folder).strip()
    sources = _inside(folder, git("ls-files", "-z", "--", *layout.NEEDED, at=folder).split("\0"))
    command = ("status", "--porcelain=v1", "-z", "--ignore-submodules=all", "--", *layout.NEEDED)
    status = git(*command, at=folder).split("\0")[:-1]
    if new := sum(row.startswith("??") for row in status):
        progress(
            f"{where}: {new} untracked files or folders are not read (`git add` them to include "
            "them)"
        )
    return commit_at(folder, head), new < len(status), sources


def _inside(folder: Path, paths: Iterable[str]) -> dict[str, Path]:
    """Regular files of the tree; a link counts as the file that it names when that lies in the
    folder, too. Tracked files that were deleted are left out (and make the checkout dirty).
    """
    real = folder.resolve()
    wanted = ((path, folder / path) for path in sorted(paths) if layout.in_tree(path))
    return {
        path: file
        for path, file in wanted
        if file.is_file() and file.resolve().is_relative_to(real)
    }
