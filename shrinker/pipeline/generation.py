"""Analysis and emission: the tree, neither judged nor reported."""

from pathlib import Path

from shrinker import __version__
from shrinker.cache.workers import without_gc
from shrinker.emit.rewrite import Unwritable
from shrinker.emit.tree import Emitted, emit_tree
from shrinker.pipeline.analysis import Analysis, analyse
from shrinker.pipeline.request import Run
from shrinker.values.manifest import Manifest


def generate(run: Run, out: Path) -> Manifest:
    """Write a tree into an empty folder.

    Raises:
        InputError: rules and upstream cannot be brought together.
    """
    with without_gc():
        return decide_and_emit(run, out)[1].manifest


def decide_and_emit(run: Run, out: Path) -> tuple[Analysis, Emitted]:
    """Analyse and write into an empty folder; once more, with the files as upstream wrote them, where what was decided cannot be written.

    Raises:
        InputError: rules and upstream cannot be brought together, or a file cannot be read or written.
        Unwritable: a file cannot be written even as it was.
    """
    unwritable: dict[str, str] = {}
    while True:
        analysis = analyse(run, unwritable)
        try:
            with run.timed("emit"):
                emitted = emit_tree(
                    run.tree,
                    analysis.folded,
                    analysis.graph,
                    out=out,
                    rules=run.rules,
                    tool_version=__version__,
                    required=analysis.distributions,
                    cuts=analysis.cuts,
                    progress=run.progress.advance,
                    cache=run.cache,
                )
            return analysis, emitted
        except Unwritable as error:
            if error.reasons.keys() <= unwritable.keys():
                raise
            unwritable |= error.reasons
            for path, reason in sorted(error.reasons.items()):
                run.progress.note(f"{path} stays as upstream wrote it: {reason}")
