"""What all phases that decide come to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shrinker.program.written import Written
from shrinker.values.distributions import Distributions
from shrinker.values.edits import Cut
from shrinker.values.folded import FoldedModule, Refinement
from shrinker.values.graph import Graph


@dataclass(frozen=True, slots=True)
class Analysis:
    """What is decided before anything is written."""

    graph: Graph
    folded: dict[str, FoldedModule]
    """By path."""
    rescued: dict[str, str]
    """Modules that stay although a rule removes them, and why."""
    written: Written
    """Imports of all of upstream, as they are written."""
    distributions: Distributions
    """What the generated package requires."""
    symbols: Mapping[str, Any]
    """What the search of symbols found, as `shrinker.program.symbols.why` reads it; nothing in a run that is not explained."""
    symbol_edges: Sequence[tuple[int, ...]]
    """The same of what names what."""
    refinements: Mapping[str, Refinement]
    """What was known of a module beside its text when it was folded last, by path; of others nothing was."""
    cuts: Mapping[str, tuple[Cut, ...]]
    """Lines that go of files that are no Python, by path."""
