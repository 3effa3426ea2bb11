"""What all phases that decide come to, and which of a module's decisions took a line of upstream
away.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from shrinker.values.distributions import Distributions
from shrinker.values.edits import Cut
from shrinker.values.folded import Decision, Folded, FoldedModule, Refinement
from shrinker.values.graph import Graph, Removal
from shrinker.values.outside import KnownNames


@dataclass(frozen=True, slots=True)
class Analysis:
    """What is decided before anything is written."""

    graph: Graph
    folded: dict[str, FoldedModule]
    rescued: dict[str, str]
    """Modules that stay although a rule removes them, and why."""
    written: Mapping[str, tuple[tuple[int, str], ...]]
    """Imports of all of upstream, see `shrinker.program.written`."""
    distributions: Distributions
    """What the generated package requires."""
    symbols: Mapping[str, Any]
    """What the search of symbols found, as `shrinker.program.symbols.why` reads it; nothing in a
    run that is not explained.
    """
    symbol_edges: Sequence[tuple[int, ...]]
    """The same of what names what."""
    refinements: Mapping[str, Refinement]
    """What was known of a module beside its text when it was folded last, by path; of others
    nothing was.
    """
    cuts: Mapping[str, tuple[Cut, ...]]
    """Lines that go of files that are no Python, by path."""
    known: Mapping[str, KnownNames] = field(default_factory=dict)
    """What is known of names that the tree may lack, by path; for code outside that asks."""


_PLACED = "refusal"
"""The kind that takes nothing away."""
_order = attrgetter("line", "rule")


def around(decisions: Iterable[Decision], line: int) -> Decision | None:
    """Of the decisions by which a line went, the one by which the fewest did."""
    found = (d for d in decisions if d.first <= line <= d.last)
    return min(found, key=lambda d: (d.last - d.first, d.line), default=None)


def deciding(decisions: Sequence[Decision], line: int) -> Decision | None:
    """Return the decision that removed a line: around it, or else the last at or above it."""
    above = (d for d in reversed(decisions) if d.line <= line)
    return around(decisions, line) or max(above, key=lambda d: d.line, default=None)


def looking(folded: Folded) -> frozenset[str]:
    """Ids of the rules for which some function looks at an argument."""
    return frozenset(
        r
        for module in folded.values()
        for d in module.decisions
        if d.kind == _PLACED
        for r in d.rules
    )


def told(decision: Decision) -> str:
    """Return a decision in words."""
    return f"`{decision.text}` is {decision.outcome} (line {decision.line})"


def folded_away(module: FoldedModule, line: int) -> str:
    """Return what became of a line of a module that folding took."""
    near = deciding(module.decisions, line)
    return f"folded away by {near.rule}: {told(near)}" if near else "folded away"


def rule_of(
    path: str,
    line: int,
    end_line: int,
    folded: Folded,
    removed: Mapping[str, Removal],
    word: str = "",
) -> str:
    """Return the rule by which what stands at some lines, from 1, went, or several joined by ``+``;
    empty when nothing was decided there. Of several decisions on these lines one that speaks of the
    word is meant.
    """
    if path in removed:
        return removed[path].rule
    decisions = [d for d in folded[path].decisions if d.kind != _PLACED] if path in folded else []
    own = [d for d in decisions if line <= d.line <= end_line]
    whole = (d for d in own if (word and word in d.text) or d.line + d.lines > end_line)
    before = (d for d in decisions if d.line < line and d.line + d.lines > end_line)
    nearest = min(whole, key=_order, default=None) or max(before, key=_order, default=None)
    chosen = nearest or min(own, key=_order, default=None)
    return chosen.rule if chosen else ""
