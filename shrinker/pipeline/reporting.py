"""The reports of a run but for what its evidence says."""

from __future__ import annotations

from pathlib import Path

from shrinker.cache import Cache
from shrinker.check.entries import judge_entries
from shrinker.check.trees import Trees
from shrinker.emit.tree import Emitted
from shrinker.pipeline.analysis import Analysis
from shrinker.report.write import Begun, Made, begin_reports, write_symbols
from shrinker.ruleset import Ruleset
from shrinker.values.upstream import UpstreamTree


def reports_before_evidence(
    folder: Path,
    tree: UpstreamTree,
    out: Path,
    rules: Ruleset,
    analysis: Analysis,
    emitted: Emitted,
    jobs: int,
    cache: Cache,
) -> Begun:
    """Write all reports that do not wait for the evidence.

    Args:
        folder: where they go.
        tree: upstream.
        out: the generated tree.
        rules: of the profile.
        analysis: what was decided.
        emitted: what was written.
        jobs: worker processes.
        cache: of this run.

    Raises:
        InputError: the folder cannot be written.
    """
    write_symbols(folder, analysis.symbols)
    made = Made(
        tree,
        rules,
        analysis.graph,
        analysis.folded,
        emitted.manifest,
        analysis.written,
        analysis.distributions,
        emitted.interface,
        emitted.lost,
        analysis.cuts,
        judge_entries(Trees(tree, out, emitted.manifest, rules, jobs, cache)),
        cache,
    )
    return begin_reports(folder, made)
