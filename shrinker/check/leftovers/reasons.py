"""Give every leftover the rule that says why it is right, and tell which of them nothing names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from shrinker.ruleset import Leftover as Reason
from shrinker.ruleset.match import module_matches
from shrinker.values.leftovers import Leftover

_DEFINING = frozenset({"definition", "environment-declaration"})


def explain(found: Iterable[Leftover], reasons: Sequence[Reason]) -> tuple[Leftover, ...]:
    """The leftovers, each with the first rule that holds for it."""
    return tuple(replace(s, rule=next((r.id for r in reasons if holds(r, s)), "")) for s in found)


def holds(reason: Reason, leftover: Leftover) -> bool:
    """True when every key that the rule gives is met."""
    if reason.kind and leftover.kind not in reason.kind:
        return False
    if reason.positions and leftover.position not in reason.positions:
        return False
    if reason.where and not any(module_matches(pattern, leftover.where) for pattern in reason.where):
        return False
    if reason.idle is not None and reason.idle != leftover.idle:
        return False
    if not reason.words:
        return True
    names = {leftover.text, *leftover.text.removesuffix("()").split(".")}
    return any(fnmatchcase(name, pattern) for pattern in reason.words for name in names)


def mark_idle(found: Iterable[Leftover], uses: Iterable[tuple[str, str]]) -> tuple[Leftover, ...]:
    """Mark definitions that nothing kept names, and what stands inside them.

    What only an idle definition names is idle too. Names are compared as they are written, so a definition
    that shares its name with one in use is not idle, and one that is asked for by a computed name is.

    Args:
        uses: foreign identifiers that are read, each with the qualified definition that reads them.
    """
    users: dict[str, set[str]] = defaultdict(set)
    for name, where in uses:
        users[name].add(where)
    everything = list(found)
    candidates = {_defined(s) for s in everything if s.position in _DEFINING}
    idle: set[str] = set()
    while True:
        more = {
            where
            for where in candidates - idle
            if all(_inside(user, idle | {where}) for user in users[where.rpartition(".")[2]])
        }
        if not more:
            break
        idle |= more
    return tuple(replace(s, idle=_inside(_defined(s), idle)) for s in everything)


def _defined(leftover: Leftover) -> str:
    # A definition stands inside itself; a variable is declared in the class of them.
    declared = leftover.position == "environment-declaration"
    return f"{leftover.where}.{leftover.text}" if declared else leftover.where


def _inside(where: str, definitions: set[str]) -> bool:
    name = where
    while name:
        if name in definitions:
            return True
        name = name.rpartition(".")[0]
    return False
