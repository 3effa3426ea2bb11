"""Whether two foldings of one module, of two texts, look the same to everything but the search of symbols and what is written.

Rounds, rescues and the graph of files are functions of what is compared here, of the closed world and of the other modules, and
lines count by their order alone. So where every folding of an earlier run looks like today's, those phases say today what they
said then. What a module's units name is left to the search.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from shrinker.fold.imported_rows import LOADED
from shrinker.fold.propagate.calls import name_called
from shrinker.fold.propagate.refinement import Refinement
from shrinker.fold.propagate.said import RECORDED
from shrinker.fold.propagate.seen import seen
from shrinker.values.edits import Span
from shrinker.values.folded import FoldedModule
from shrinker.values.units import Units
from shrinker.values.usage import words_in

Folding = tuple[frozenset[str], Refinement]
"""The modules that were rescued when a module was folded, and what was known of it."""


@dataclass(frozen=True, slots=True)
class Refolded:
    """One folding of an earlier run, and of the module's text of today."""

    step: Folding
    """Of the earlier run."""
    refinement: Refinement
    """Of today: as there, but for the places of what is dropped."""
    before: FoldedModule
    now: FoldedModule

    @property
    def same(self) -> bool:
        """Whether the text is all that differs."""
        known = self.step[1] == self.refinement
        return known and replace(self.now, sha256=self.before.sha256, lines=self.before.lines) == self.before


def names_apart(before: FoldedModule, now: FoldedModule) -> frozenset[str] | None:
    """Names that one of them says, and the other does not or in another way.

    Returns:
        The names: who asks for none of them (`refine.said`) cannot tell the two apart but for lines. None where rounds, rescues or
        the graph of files may tell them apart by anything else.
    """
    if not named_alike(before, now):
        return None
    was, then = before.usage, now.usage
    blank: dict[str, Any] = dict.fromkeys(RECORDED, "")
    if was.dynamic:
        # It may get any module, and read any name of it.
        del blank["reads"]
    same = replace(before, usage=replace(was, **blank)), replace(now, usage=replace(then, **blank))
    if seen(same[0]) != seen(same[1]):
        return None
    names: set[str] = set()
    for field in blank:
        differ = words_in(getattr(was, field)) ^ words_in(getattr(then, field))
        if field == "calls" and any("!" in word for word in differ):
            # A round looks for the literals that folding wrote, whatever is called.
            return None
        names.update(name_called(word) if field == "calls" else word for word in differ)
    return frozenset(names)


def named_alike(before: FoldedModule, now: FoldedModule) -> bool:
    """Whether rescues and the graph of files cannot tell them apart but for lines."""
    return _named(before) == _named(now)


def _named(module: FoldedModule) -> tuple[object, ...]:
    loaded = {decision.rule for decision in module.decisions if decision.kind == LOADED}
    return (
        (module.path, module.is_package, frozenset(loaded)),
        tuple(replace(site, line=0) for site in module.imports),
        tuple(site.text for site in module.strings),
        tuple(replace(site, line=0) for site in module.dynamic),
        tuple(replace(site, line=0) for site in module.escapes),
    )


def moved_spans(dead: frozenset[Span], before: Units, now: Units) -> frozenset[Span] | None:
    """Where what was dropped from a module stands in another text of it.

    Args:
        dead: spans of units and of entries of ``__all__``.
        before: the units of the text that the spans are of.
        now: those of the other text.

    Returns:
        The spans there; None where the texts do not have the same units, one by one.
    """
    same = [(u.kind, u.names, u.parent) for u in before.units] == [(u.kind, u.names, u.parent) for u in now.units]
    if not same or [name for name, _ in before.entries] != [name for name, _ in now.entries]:
        return None
    places: dict[Span, set[Span]] = {}
    for was, unit in zip(before.units, now.units, strict=True):
        places.setdefault(was.span, set()).add(unit.span)
    for (_, old), (_, new) in zip(before.entries, now.entries, strict=True):
        places.setdefault(old, set()).add(new)
    # One place that became two, or none, is none of those that this knows.
    if any(len(places.get(span, ())) != 1 for span in dead):
        return None
    return frozenset(span for old in dead for span in places[old])
