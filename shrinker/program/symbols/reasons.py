"""Why something is live, and what a search is told of the world beside the modules."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from shrinker.program.symbols.program import Key
from shrinker.ruleset.match import name_matches
from shrinker.ruleset.models import Ruleset

Node = Key | str
"""A unit; or ``module:``, ``name:`` and ``root:`` with what they are of."""


class Reason(NamedTuple):
    """Why something is live."""

    source: Node
    kind: str
    """``name``, ``attribute``, ``string``, ``pattern``, ``import``, ``effect``, ``protocol`` …"""
    line: int = 0
    """Of the file of the source; 0 when no line says so."""


Named = Callable[[frozenset[str]], Mapping[str, tuple[str, int]]]
"""Of some names, those that any code of upstream looks up or spells, removed or not, with path and line of a place."""


@dataclass(frozen=True, slots=True)
class Outside:
    """What is kept or asked for beside the modules."""

    rules: Ruleset
    roots: Mapping[str, str] = field(default_factory=dict)
    """Modules that people run or import, and the nodes of the rules that say so."""
    words: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()
    """Of each kept Python file that imports the package and is no module of it: its words, and those that it may look up."""
    scripts: frozenset[tuple[str, str]] = frozenset()
    """Module and function, or ``Class.method``, of each command that installing the package makes."""
    edges: Mapping[str, Sequence[tuple[int, str, str]]] = field(default_factory=dict)
    """Of a module: line, kind and target of what the file graph found besides imports; line 0 for the whole module."""
    stay: frozenset[str] = frozenset()
    """Modules that stay as they are, with all that is in them."""
    named: Named = lambda names: dict.fromkeys(names, ("", 0))
    _protocols: dict[str, frozenset[str] | None] = field(default_factory=dict)

    def is_label(self, module: str, text: str) -> bool:
        """True for a text of a module, computed or not, that a rule says names nothing: it is shown or counted."""
        return any(rule.says(module, text) for rule in self.rules.labels)

    def protocol(self, base: str) -> frozenset[str] | None:
        """Names that a base outside the tree looks up on its objects; None for a base of which nothing is known: it may be any."""
        if base not in self._protocols:
            rules = self.rules.protocols
            found = [rule for rule in rules if base in rule.bases or (base != "*" and _names(rule.bases, base))]
            self._protocols[base] = frozenset(n for rule in found for n in rule.calls) if found else None
        return self._protocols[base]

    def holder(self, name: str) -> str | None:
        """The rule that says that people's own code holds objects of a class of the tree."""
        return next((rule.id for rule in self.rules.outsides if _names(rule.holds, name)), None)


def _names(patterns: Iterable[str], base: str) -> bool:
    return any(p != "*" and name_matches(p, base) for p in patterns)
