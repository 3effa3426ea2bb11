"""Where the upstream tree comes from: a release, a commit, the submodule or a folder, all giving the same value."""

import os
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from shrinker.source import cache as store
from shrinker.source.checkout import open_folder
from shrinker.source.git import open_commit, version_of_tags
from shrinker.source.pins import Pins, load_pins
from shrinker.source.spec import GitSpec, PathSpec, ReleaseSpec, Spec, SubmoduleSpec, parse_spec
from shrinker.values.errors import InputError
from shrinker.values.upstream import PACKAGE_PREFIX, Identity, UpstreamTree


def open_upstream(
    spec: str | None,
    *,
    cache: Path | None = None,
    repository: Path,
    progress: Callable[[str], None] = lambda line: None,
) -> UpstreamTree:
    """Open an upstream tree, whatever it comes from; its files then lie in the cache folder.

    Args:
        spec: `release:VERSION`, `git:PATH_OR_URL@COMMIT`, `submodule` or `path:DIR`; ``None`` or empty
            for the submodule when it is checked out, else the default release of upstream.toml.
        cache: the cache folder; by default `$SHRINKER_CACHE`, `$XDG_CACHE_HOME/shrinker` or `~/.cache/shrinker`.
        repository: root of the checkout of shrinker, which holds upstream.toml and perhaps `upstream/`.
        progress: called with one line for each thing that a person should know.

    Returns:
        Sorted files with hashes, the identity and what upstream declares of its package. Equal
        sources give equal files, whatever the machine, the Python version and the way they came.

    Raises:
        InputError: with the next step, for anything that keeps the tree from being had.
    """
    pins = load_pins(repository)
    folder = store.default_folder() if cache is None else cache.absolute()
    asked = parse_spec(spec) if spec else _default(pins, repository, progress)
    try:
        identity, found = _open(asked, pins, repository, folder, progress)
    except OSError as error:
        place = error.filename or folder
        raise InputError(
            f"{place}: {error.strerror or error}",
            "check permissions and free space, or set SHRINKER_CACHE to another folder",
        ) from error
    return UpstreamTree(identity, *found, by_path=MappingProxyType({file.path: file for file in found.files}))


def _default(pins: Pins, repository: Path, progress: Callable[[str], None]) -> Spec:
    if (repository / pins.submodule_path / PACKAGE_PREFIX / "__init__.py").is_file():
        progress(f"upstream: the submodule {pins.submodule_path}/ (UPSTREAM not given)")
        return SubmoduleSpec()
    progress(f"upstream: {pins.default_spec} (UPSTREAM not given and {pins.submodule_path}/ not checked out)")
    return parse_spec(pins.default_spec)


def _open(
    spec: Spec, pins: Pins, repository: Path, folder: Path, progress: Callable[[str], None]
) -> tuple[Identity, store.Materialised]:
    match spec:
        case ReleaseSpec(version):
            # Here and not above: the package index needs http, ssl and more, a commit or a folder does not.
            from shrinker.source.wheels import open_release

            commit = pins.commit_of.get(version)
            return Identity("release", f"release:{version}", version, commit, False), open_release(
                version, folder, progress
            )
        case GitSpec():
            read, found = open_commit(spec, folder, progress)
            equal = version_of_tags(read.tags) or pins.release_of(read.hash)
            return Identity("git", f"git@{read.hash}", equal, read.hash, False), found
        case PathSpec(asked):
            return _folder("path", asked.absolute(), f"path:{asked}", pins, folder, progress)
        case SubmoduleSpec():
            place = repository / pins.submodule_path
            if not place.is_dir() or not os.listdir(place):
                raise InputError(
                    f"the submodule {pins.submodule_path}/ is not checked out",
                    "run `make upstream`, or give UPSTREAM=release:VERSION",
                )
            return _folder("submodule", place, f"submodule {pins.submodule_path}/", pins, folder, progress)


def _folder(
    kind: Literal["submodule", "path"],
    place: Path,
    where: str,
    pins: Pins,
    folder: Path,
    progress: Callable[[str], None],
) -> tuple[Identity, store.Materialised]:
    commit, dirty, found = open_folder(place, where, folder, progress)
    if commit is None:
        return Identity(kind, kind, None, None, dirty), found
    if kind == "submodule" and commit.hash != pins.submodule_commit:
        progress(f"{where} is at {commit.hash[:12]}, not at the pinned {pins.submodule_commit[:12]}")
    if dirty:
        progress(f"{where} differs from its commit {commit.hash[:12]}")
    version = None if dirty else version_of_tags(commit.tags) or pins.release_of(commit.hash)
    spec = f"{kind}@{commit.hash}" if kind == "submodule" else kind
    return Identity(kind, spec, version, commit.hash, dirty), found
