"""What is kept of an analysis: all that it says, and all that it looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from shrinker.fold.alike import Folding
from shrinker.program.symbols.saved import SymbolData
from shrinker.values.folded import Escape, FoldedModule
from shrinker.values.graph import Graph


@dataclass(frozen=True, slots=True)
class Analysed:
    """What facts, folding and reachability say of a tree."""

    graph: Graph
    folded: dict[str, FoldedModule]
    rescued: dict[str, str]
    """Modules that stay although a rule removes them, and why."""
    symbols: SymbolData | None
    """None when only files were looked at, or while the search is made anew."""
    proof: Callable[[], SymbolData | None] | None = None
    """Waits for that search: what it found, None where the rest does not hold."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An analysis, and all that it looked at but for what is in its key."""

    analysed: Analysed
    modules: Mapping[str, str]
    """Hash of every module of the package, by path."""
    others: Mapping[str, str]
    """The same of the files that were kept in some step, or that a rule names, and are no modules."""
    named: frozenset[str]
    """Paths outside the package that a rule names."""
    rescues: Mapping[str, tuple[str, Escape]]
    """Of each rescued module, the path and use that keep it."""
    history: Mapping[str, list[Folding]]
    """How each module was folded."""
    asked: frozenset[str]
    """Names that the modules import that rules remove."""
    asked_outside: frozenset[str]
    """Words of which a round asked whether a kept file that is no module writes them."""
    asked_inside: frozenset[str]
    """Names of which a round asked whether a kept module says them."""
    spelled: Mapping[str, str]
    """Hash of what the search of symbols read in the text of a module."""
    stay: frozenset[str] | None
    """Modules that the search left as they are; None where it had to be made more than once."""
