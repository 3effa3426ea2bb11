"""What strict mode refuses of a generated tree."""

from __future__ import annotations

from pathlib import Path

from shrinker.check.leftovers import find_leftovers
from shrinker.check.trees import Trees
from shrinker.emit.tree import Emitted
from shrinker.pipeline.analysis import Analysis
from shrinker.program.build import missing_roots
from shrinker.report.effects import rule_effects
from shrinker.report.strict import strict_findings
from shrinker.report.summary import measure
from shrinker.ruleset import Ruleset
from shrinker.values.leftovers import Leftovers
from shrinker.values.outcome import Finding
from shrinker.values.upstream import UpstreamTree


def find_refused(
    tree: UpstreamTree, out: Path, rules: Ruleset, analysis: Analysis, emitted: Emitted, jobs: int
) -> tuple[tuple[Finding, ...], Leftovers]:
    """What strict mode refuses, and what of other platforms is left.

    Args:
        tree: upstream.
        out: the generated tree.
        rules: of the profile.
        analysis: what was decided.
        emitted: what was written.
        jobs: worker processes.
    """
    effects = rule_effects(rules, analysis.graph, analysis.folded, measure(tree, emitted.manifest), analysis.cuts)
    left = find_leftovers(Trees(tree, out, emitted.manifest, rules, jobs))
    found = strict_findings(rules, effects, missing_roots(tree, rules), analysis.folded, left, tree)
    return (*found, *emitted.interface.unexplained()), left
