"""What strict mode refuses of a generated tree."""

from shrinker.check.leftovers import find_leftovers
from shrinker.check.trees import Trees
from shrinker.pipeline.analysis import Analysis
from shrinker.program.build import missing_roots
from shrinker.report.effects import rule_effects
from shrinker.report.strict import strict_findings
from shrinker.report.summary import measure
from shrinker.values.interface import Interface
from shrinker.values.outcome import Finding


def find_refused(trees: Trees, analysis: Analysis, interface: Interface) -> tuple[Finding, ...]:
    """What strict mode refuses.

    Args:
        trees: both trees.
        analysis: what was decided.
        interface: what command lines and servers take otherwise than upstream's.
    """
    tree, rules = trees.source, trees.stated
    effects = rule_effects(rules, analysis.graph, analysis.folded, measure(tree, trees.manifest), analysis.cuts)
    left = find_leftovers(trees)
    found = strict_findings(rules, effects, missing_roots(tree, rules), analysis.folded, left, tree)
    return (*found, *interface.unexplained())
