"""What is left of other platforms, for people and for scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from shrinker.values.leftovers import FORBIDDEN, KINDS, RESIDUES, Leftover, Leftovers, Residue

FORMAT = 2
_IDLE = "in a definition that no kept code names"


def leftovers_data(found: Leftovers) -> dict[str, Any]:
    """Everything as one JSON document: counts first, then every site."""
    return {
        "format": FORMAT,
        "clean": found.clean,
        "files": found.files,
        "leftovers": found.counts(),
        "residues": found.residue_counts(),
        "reasons": dict(sorted(Counter(s.rule for s in found.leftovers if s.rule).items())),
        "unexplained_by_position": _by_position(found),
        "sites": [asdict(s) for s in found.leftovers],
        "residue_sites": [asdict(item) for item in found.residues],
        "suspects": [asdict(s) for s in found.suspects],
        "unmatched_rules": list(found.unmatched),
    }


def leftovers_lines(found: Leftovers, why: Mapping[str, str], everything: bool) -> Iterator[str]:
    """The same as text.

    Args:
        found: what is left.
        why: reason by rule id.
        everything: list explained leftovers one by one, not only their number by reason.
    """
    yield f"{found.files:,} Python files. What is left of other platforms:"
    yield f"  {'':<20}{'count':>8}{'explained':>12}{'unexplained':>14}"
    for kind, row in found.counts().items():
        yield f"  {kind:<20}{row['total']:>8,}{row['explained']:>12,}{row['total'] - row['explained']:>14,}"
    total, open_ones = len(found.leftovers), len(found.unexplained)
    yield f"  {'all':<20}{total:>8,}{total - open_ones:>12,}{open_ones:>14,}"
    yield ""
    yield "What folding left behind (upstream's own not counted):"
    for kind, count in found.residue_counts().items():
        open_ones = sum(item.kind == kind for item in found.forbidden)
        note = "" if kind in FORBIDDEN else "  allowed: beside what has an effect"
        if kind == "orphaned imports" and count:
            note = f"  {count - open_ones:,} with a reason, {open_ones:,} without"
        yield f"  {kind:<20}{count:>8,}{note}"
    for kind in KINDS:
        rows = [s for s in found.unexplained if s.kind == kind]
        if rows:
            yield ""
            yield f"{kind}: {len(rows):,} without a reason"
            yield from map(_row, rows)
    for kind in RESIDUES:
        left = [item for item in found.residues if item.kind == kind]
        if left and (everything or kind in FORBIDDEN):
            yield ""
            yield f"{kind}: {len(left):,}"
            yield from map(_residue, left)
    for suspect in found.suspects:
        yield ""
        yield f"{suspect.name} of {suspect.defined} stands beside {', '.join(suspect.beside)} and no rule names it:"
        yield from (f"  {path}:{line}" for path, line in suspect.sites)
    counts = Counter(s.rule for s in found.leftovers if s.rule)
    for rule in sorted(counts):
        yield ""
        yield f"{rule}: {counts[rule]:,}. {why.get(rule, '')}"
        if everything:
            yield from map(_row, (s for s in found.leftovers if s.rule == rule))
    for rule in found.unmatched:
        yield ""
        yield f"{rule}: explains nothing in this tree"


def _by_position(found: Leftovers) -> dict[str, int]:
    rows = Counter(f"{s.kind}: {s.position}" + (", idle" if s.idle else "") for s in found.unexplained)
    return dict(sorted(rows.items()))


def _row(leftover: Leftover) -> str:
    idle = f", {_IDLE}" if leftover.idle else ""
    return f"  {leftover.path}:{leftover.line}: {leftover.text}  ({leftover.position} in {leftover.where}{idle})"


def _residue(item: Residue) -> str:
    reason = f"  ({item.reason})" if item.reason else ""
    return f"  {item.path}:{item.line}: {item.text}{reason}"
