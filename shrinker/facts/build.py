"""Build the closed world of a tree: outline every module that no rule removes, in worker processes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

from shrinker.cache import Cache
from shrinker.cache.workers import WorkerPool, without_gc, worker_context
from shrinker.facts.environment import Environment, like
from shrinker.facts.outline import Outline, outline, restore, store
from shrinker.ruleset.models import Ruleset
from shrinker.syntax.imports import with_packages
from shrinker.values.errors import InputError
from shrinker.values.upstream import UpstreamTree, module_name, modules_of

CHUNK_BYTES = 400_000
"""Files are handed to workers in chunks of about this many bytes."""


def chunks(tree: UpstreamTree, paths: list[str], limit: int = CHUNK_BYTES) -> Iterator[list[str]]:
    """Paths in groups of about `limit` bytes, larger files first."""
    group: list[str] = []
    size = 0
    for path in sorted(paths, key=lambda p: (-tree.by_path[p].size, p)):
        group.append(path)
        size += tree.by_path[path].size
        if size >= limit:
            yield group
            group, size = [], 0
    if group:
        yield group


def module_paths(tree: UpstreamTree) -> dict[str, str]:
    """Dotted name of every module of the package, to its path."""
    return modules_of(file.path for file in tree.files)


def build_environment(
    tree: UpstreamTree,
    rules: Ruleset,
    *,
    jobs: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
    cache: Cache | None = None,
) -> Environment:
    """Read the package and return the closed world.

    Args:
        tree: upstream.
        rules: the profile's rules.
        jobs: worker processes.
        progress: called with files done and files in all.
        cache: outlines of files that were read before; by default none.

    Raises:
        InputError: the tree holds no module, or a worker died.
    """
    paths = module_paths(tree)
    names = with_packages(paths)
    probe = Environment(rules, {}, names)
    wanted = [path for name, path in paths.items() if probe.removed_module(name) is None]
    if not wanted:
        raise InputError("the tree holds no Python module of sglang", "check UPSTREAM: it must hold python/sglang")
    # An outline depends on the file's text and its place in the package, and on nothing else.
    cache = cache or Cache.off()
    layer = cache.layer("outlines")
    keys = {path: layer.key(path, tree.by_path[path].sha256) for path in wanted}
    packed = layer.load(keys)
    found: dict[str, Outline | None] = {path: restore(data) for path, data in packed.items()}
    fresh: dict[str, bytes] = {}
    for group in _outlines(tree, [path for path in wanted if path not in packed], jobs):
        fresh |= group
        found |= {path: restore(data) for path, data in group.items()}
        progress(len(found), len(wanted))
    layer.save(keys, fresh)
    # In the order of the tree, whatever was found where.
    outlines = {each.module: each for path in wanted if (each := found[path]) is not None}
    return like(Environment(rules, outlines, names), probe)


def _outlines(tree: UpstreamTree, paths: list[str], jobs: int) -> Iterator[dict[str, bytes]]:
    groups = list(chunks(tree, paths))
    if jobs == 1 or len(groups) <= 1:
        for group in groups:
            yield _outline_files(tree.root, group)
        return
    with WorkerPool(jobs, mp_context=worker_context()) as pool:
        try:
            yield from pool.map(partial(_outline_files, tree.root), groups)
        except BrokenProcessPool as error:
            raise InputError(
                "a worker process was killed while reading the tree", "free memory or lower JOBS, and run again"
            ) from error


def _outline_files(root: Path, paths: list[str]) -> dict[str, bytes]:
    """Outlines by path, packed to travel and to be kept."""
    with without_gc():
        return {path: store(outline_file(root, path)) for path in paths}


def outline_file(root: Path, path: str, name: str | None = None) -> Outline | None:
    """Outline of one file, None when it does not parse; of a file outside the package `name` is its dotted name."""
    name = name or module_name(path)
    assert name is not None
    try:
        data = (root / path).read_bytes()
        tree = ast.parse(data, path)
    except (SyntaxError, ValueError):
        # Only a broken file that the server needs is an error: folding it says so, with its line.
        return None
    return outline(name, path.endswith("/__init__.py"), tree, walrus=b":=" in data)
