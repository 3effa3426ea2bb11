"""Predicates that may ask for a platform that no rule knows yet.

Upstream gains platforms: a function `is_x()` that is defined beside known platform predicates, or imported together
with two of them, and that a condition of the generated tree asks, is a suspect even when its word says nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from shrinker.check.leftovers.vocabulary import Vocabulary
from shrinker.values.leftovers import Suspect

ENOUGH = 2
"""Known predicates in whose company an unknown one is a suspect."""

_IMPORT = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]*(?:\(([^)]*)\)|((?:[^\n\\]|\\\n)*))", re.MULTILINE)
_DEFINITION = re.compile(r"^def[ \t]+(\w+)\(\s*\)", re.MULTILINE)
_COMMENT = re.compile(r"#[^\n]*")
_PREDICATE = re.compile(r"_*is_\w+")


@dataclass(frozen=True, slots=True)
class Company:
    """An unknown predicate and the known ones beside it in one file of upstream."""

    name: str
    origin: str
    """Module that defines it, as the import writes it."""
    beside: tuple[str, ...]


def companies(module: str, upstream: str, words: Vocabulary) -> tuple[Company, ...]:
    """Unknown predicates of one file that stand beside enough known ones.

    Args:
        module: dotted name of the file.
        upstream: its text before folding, which takes the imports of known predicates away.
        words: which predicates are known, and which words are of the platform that is served.
    """
    known = words.predicates
    groups = [(module, set(_DEFINITION.findall(upstream)))]
    for source, inside, plain in _IMPORT.findall(upstream):
        rows = _COMMENT.sub("", inside or plain).replace("\\", " ").split(",")
        groups.append((source, {row.split()[0] for row in rows if row.split()}))
    found: list[Company] = []
    for origin, names in groups:
        beside = tuple(sorted(names & known))
        if len(beside) >= ENOUGH:
            unknown = sorted(n for n in names - known if _PREDICATE.fullmatch(n) and not words.own.within(n))
            found.extend(Company(name, origin, beside) for name in unknown)
    return tuple(found)


def suspects(found: Iterable[Company], asked: Iterable[tuple[str, str, int]]) -> tuple[Suspect, ...]:
    """Suspects by name.

    Args:
        found: of all files of upstream that are kept.
        asked: name, path and line of every condition in the generated tree that asks a function.
    """
    sites: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for name, path, line in asked:
        sites[name].add((path, line))
    by_name: dict[str, list[Company]] = defaultdict(list)
    for company in found:
        if company.name in sites:
            by_name[company.name].append(company)
    return tuple(
        Suspect(
            name,
            max((c.origin for c in group), key=lambda origin: (len(origin), origin)),
            max((c.beside for c in group), key=lambda beside: (len(beside), beside)),
            tuple(sorted(sites[name])),
        )
        for name, group in sorted(by_name.items())
    )
