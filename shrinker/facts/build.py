"""Build the closed world of a tree: outline every module that no rule removes, in worker processes."""

from functools import partial
from pathlib import Path

from shrinker.cache import Cache
from shrinker.cache.files import Progress, map_cached
from shrinker.facts.environment import Environment
from shrinker.facts.outline import Outline, outline
from shrinker.ruleset.models import Ruleset
from shrinker.syntax.imports import with_packages
from shrinker.syntax.parsing import parsed
from shrinker.values.errors import InputError
from shrinker.values.upstream import UpstreamTree, module_name, modules_of


def build_environment(
    tree: UpstreamTree,
    rules: Ruleset,
    *,
    jobs: int,
    progress: Progress = lambda done, total: None,
    cache: Cache | None = None,
) -> Environment:
    """Read the package and return the closed world; outlines of files that were read before are taken from the cache. Raises InputError:
    the tree holds no module; ShrinkerError: a worker was killed."""
    paths = modules_of(tree.by_path)
    names = with_packages(paths)
    probe = Environment(rules, {}, names)
    hashes = {path: tree.by_path[path].sha256 for name, path in paths.items() if probe.removed_module(name) is None}
    if not hashes:
        raise InputError("the tree holds no Python module of sglang", "check UPSTREAM: it must hold python/sglang")
    # An outline depends on the file's text and its place in the package, and on nothing else.
    layer = (cache or Cache.off()).layer("outlines")
    found = map_cached(partial(outline_file, tree.root), layer, hashes, tree.root, jobs=jobs, progress=progress)
    outlines = {each.module: each for each in found.values() if each is not None}
    return Environment(rules, outlines, names)


def outline_file(root: Path, path: str, name: str | None = None) -> Outline | None:
    """Outline of one file, None when it does not parse; of a file outside the package `name` is its dotted name."""
    # Only a broken file that the server needs is an error: folding it says so, with its line.
    tree = parsed((root / path).read_bytes(), path)
    return None if tree is None else outline(name or module_name(path) or "", path.endswith("/__init__.py"), tree)
