"""What is left of other platforms, for people and for scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from shrinker.report.pages import render
from shrinker.values.leftovers import FORBIDDEN, KINDS, RESIDUES, Leftovers

FORMAT = 2


def leftovers_data(found: Leftovers) -> dict[str, Any]:
    """Everything as one JSON document: counts first, then every site."""
    positions = Counter(f"{s.kind}: {s.position}" + (", idle" if s.idle else "") for s in found.unexplained)
    return {
        "format": FORMAT,
        "clean": found.clean,
        "files": found.files,
        "leftovers": found.counts(),
        "residues": found.residue_counts(),
        "reasons": dict(sorted(Counter(s.rule for s in found.leftovers if s.rule).items())),
        "unexplained_by_position": dict(sorted(positions.items())),
        "sites": [asdict(s) for s in found.leftovers],
        "residue_sites": [asdict(item) for item in found.residues],
        "suspects": [asdict(s) for s in found.suspects],
        "unmatched_rules": list(found.unmatched),
    }


def leftovers_text(found: Leftovers, why: Mapping[str, str], everything: bool) -> str:
    """The same as text.

    Args:
        found: what is left.
        why: reason by rule id.
        everything: list explained leftovers one by one, not only their number by reason.
    """
    reasons = sorted(Counter(s.rule for s in found.leftovers if s.rule).items())
    known = {"forbidden": FORBIDDEN, "kinds": KINDS, "kinds_of_residues": RESIDUES, "reasons": reasons}
    return render("leftovers.txt.jinja", found=found, why=why, everything=everything, **known)
