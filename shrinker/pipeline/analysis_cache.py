"""The analysis of an earlier run, used again where no file that it looked at differs.

Commits that touch documents, tests and what is not kept outside the package are many. What an analysis looks at: the rules and the
tool, all files of the package, the paths of all others, and those of them that were kept in any of its steps.
"""

from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from typing import Any, TypeVar, cast

from shrinker.cache import pack, unpack
from shrinker.cache.layer import Counts
from shrinker.cache.workers import Tell, run_in_child
from shrinker.pipeline.progress import Told
from shrinker.pipeline.request import Run
from shrinker.values.errors import ShrinkerError
from shrinker.values.upstream import PACKAGE_PREFIX

Analysis = TypeVar("Analysis")


def remember(run: Run, more: str, analyse: Callable[[Run], tuple[Analysis, set[str]]]) -> Analysis:
    """What an earlier run found, else what `analyse` finds in a process of its own: it takes three times the memory of all that follows.

    Args:
        run: what is analysed.
        more: what else the analysis depends on.
        analyse: gives the analysis, and the paths of all files that any of its steps kept.

    Raises:
        ShrinkerError: the process was killed.
    """
    tree, cache = run.tree, run.cache
    if not cache.enabled:
        return analyse(run)[0]
    layer = cache.layer("analyses", run.rules.model_dump_json(), more)
    lines = [f"{f.path} {f.sha256}" if f.path.startswith(PACKAGE_PREFIX) else f.path for f in tree.files]
    keys = {"analysis": layer.key("\n".join(lines), repr(tree.declared))}
    known = layer.load(keys, counted=False)
    found: Analysis
    if known:
        outside, packed = unpack(known["analysis"])
        if all(tree.by_path[path].sha256 == sha256 for path, sha256 in outside.items()):
            layer.count(1, 1)
            found = unpack(packed)
            return found
    layer.count(1, 0)

    def call(tell: Tell) -> tuple[bytes, dict[str, float], dict[str, Counts]]:
        there = replace(run, progress=Told(tell), timings={})
        found, kept = analyse(there)
        outside = {path: tree.by_path[path].sha256 for path in kept if not path.startswith(PACKAGE_PREFIX)}
        packed = pack(found)
        layer.save(keys, {"analysis": pack((outside, packed))})
        return packed, there.timings, cache.counts

    with run_in_child(call) as child:
        for name, *arguments in cast(Iterator[tuple[Any, ...]], child.hear()):
            getattr(run.progress, name)(*arguments)
        try:
            packed, took, counts = child()
        except BrokenProcessPool as error:
            raise ShrinkerError(
                "the process that decides what stays was killed (often: out of memory)", "run again with fewer JOBS"
            ) from error
    for name, seconds in took.items():
        run.timings[name] = run.timings.get(name, 0.0) + seconds
    cache.counts.update(counts)
    found = unpack(packed)
    return found
