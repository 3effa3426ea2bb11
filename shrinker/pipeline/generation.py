"""Analysis and emission: the tree, neither judged nor reported."""

from __future__ import annotations

from pathlib import Path

from shrinker import __version__
from shrinker.cache import Cache
from shrinker.cache.workers import without_gc
from shrinker.emit.modules import Unwritable
from shrinker.emit.tree import Emitted, emit_tree
from shrinker.pipeline.analysis import Analysis, analyse
from shrinker.pipeline.progress import Progress, timed
from shrinker.ruleset import Ruleset
from shrinker.values.manifest import Manifest
from shrinker.values.upstream import UpstreamTree


def generate(tree: UpstreamTree, rules: Ruleset, out: Path, jobs: int, progress: Progress, cache: Cache) -> Manifest:
    """Write a tree into an empty folder.

    Raises:
        InputError: rules and upstream cannot be brought together.
    """
    with without_gc():
        return decide_and_emit(tree, rules, out, jobs, {}, progress, cache)[1].manifest


def decide_and_emit(
    tree: UpstreamTree,
    rules: Ruleset,
    out: Path,
    jobs: int,
    timings: dict[str, float],
    progress: Progress,
    cache: Cache,
) -> tuple[Analysis, Emitted]:
    """Analyse and write; once more, with the files as upstream wrote them, where what was decided cannot be written.

    Args:
        tree: upstream.
        rules: of the profile.
        out: an empty folder.
        jobs: worker processes.
        timings: seconds by phase, to which these are added.
        progress: told what is going on.
        cache: of earlier runs.

    Raises:
        InputError: rules and upstream cannot be brought together, or a file cannot be read or written.
        Unwritable: a file cannot be written even as it was.
    """
    unwritable: dict[str, str] = {}
    while True:
        analysis = analyse(tree, rules, jobs, timings, progress, cache, unwritable)
        try:
            with timed("emit", timings, progress):
                emitted = emit_tree(
                    tree,
                    analysis.folded,
                    analysis.graph,
                    out=out,
                    rules=rules,
                    tool_version=__version__,
                    required=analysis.distributions,
                    cuts=analysis.cuts,
                    progress=progress.advance,
                    cache=cache,
                )
            return analysis, emitted
        except Unwritable as error:
            if error.reasons.keys() <= unwritable.keys():
                raise
            unwritable |= error.reasons
            for path, reason in sorted(error.reasons.items()):
                progress.note(f"{path} stays as upstream wrote it: {reason}")
