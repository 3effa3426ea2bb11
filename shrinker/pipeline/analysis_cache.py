"""The analysis of an earlier run, used again where no file that it looked at differs.

Commits that touch documents, tests and what is not kept outside the package are many. What an analysis looks at: the rules and the
tool, all files of the package, the paths of all others, and those of them that were kept in any of its steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from shrinker.cache import Cache, pack, unpack
from shrinker.cache.layer import Counts
from shrinker.pipeline.apart import apart
from shrinker.pipeline.progress import Progress
from shrinker.ruleset import Ruleset
from shrinker.values.upstream import PACKAGE_PREFIX, UpstreamTree

Analysis = TypeVar("Analysis")


Analyse = Callable[[dict[str, float], Progress], tuple[Analysis, set[str]]]


def remember(
    cache: Cache,
    tree: UpstreamTree,
    rules: Ruleset,
    more: str,
    analyse: Analyse[Analysis],
    timings: dict[str, float],
    progress: Progress,
) -> Analysis:
    """What an earlier run found, else what `analyse` finds in a process of its own: it takes three times the memory of all that follows.

    Args:
        cache: of earlier runs.
        tree: upstream.
        rules: of the profile.
        more: what else the analysis depends on.
        analyse: is given where to add seconds by phase, and whom to tell; gives the analysis, and the paths of all files that any of its
            steps kept.
        timings: seconds by phase, to which these are added.
        progress: told what is going on.
    """
    if not cache.enabled:
        return analyse(timings, progress)[0]
    layer = cache.layer("analyses", rules.model_dump_json(), more)
    lines = [f"{f.path} {f.sha256}" if f.path.startswith(PACKAGE_PREFIX) else f.path for f in tree.files]
    keys = {"analysis": layer.key("\n".join(lines), repr(tree.declared))}
    known = layer.load(keys, counted=False)
    if known:
        outside, packed = unpack(known["analysis"])
        if all(tree.by_path[path].sha256 == sha256 for path, sha256 in outside.items()):
            layer.count(1, 1)
            found: Analysis = unpack(packed)
            return found
    layer.count(1, 0)

    def call(told: Progress) -> tuple[bytes, dict[str, float], dict[str, Counts]]:
        took: dict[str, float] = {}
        found, kept = analyse(took, told)
        outside = {path: tree.by_path[path].sha256 for path in kept if not path.startswith(PACKAGE_PREFIX)}
        packed = pack(found)
        layer.save(keys, {"analysis": pack((outside, packed))})
        return packed, took, cache.counts

    packed, took, counts = apart(call, progress)
    for name, seconds in took.items():
        timings[name] = timings.get(name, 0.0) + seconds
    for name, count in counts.items():
        cache.counts[name] = count
    again: Analysis = unpack(packed)
    return again
