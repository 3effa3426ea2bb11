"""The budgets of the whole run, and whether measured figures keep within them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import Figures, Spread

FILE = Path(__file__).with_name("budgets.toml")
_GIB = 2**30


@dataclass(frozen=True, slots=True)
class Budgets:
    """Content of ``budgets.toml``."""

    subject: str
    upstream: str
    cores: int
    wall_seconds: float
    memory_gib: float
    warm_subject: str = ""
    warm_seconds: float = 0.0
    deciding_subject: str = ""
    deciding_parses: float = 0.0
    """How many times the `ast.parse` of the same files deciding may take."""
    commit: str = ""
    """A commit that is judged like `upstream`; empty for none."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One budget beside what was measured."""

    what: str
    unit: str
    allowed: float
    measured: float | None
    """The worst run; ``None`` when there is no figure."""
    met: bool | None
    """``None`` when it was not measured under the budget's conditions; `reason` says what differs.
    """
    reason: str = ""


def load_budgets(path: Path = FILE) -> Budgets:
    """Read the file. Raises TypeError for an unknown or a missing key."""
    return Budgets(**tomllib.loads(path.read_text("utf-8")))


def judge(
    budgets: Budgets,
    figures: Figures | None,
    *,
    upstream: str,
    cores: int,
    warm: Figures | None = None,
    deciding: Spread | None = None,
) -> tuple[Verdict, ...]:
    """Compare the worst run with each budget.

    Args:
        figures: of the subject that the budgets are about; ``None`` when it gave none.
        warm: of the subject of a warm run.
        deciding: times of `ast.parse` that deciding took.
        upstream: what was measured.
        cores: how many the measured processes could use.
    """
    differs = []
    if upstream != budgets.upstream and not (
        budgets.commit and upstream.endswith(f"@{budgets.commit}")
    ):
        differs.append(f"measured {upstream}, the budget is for {budgets.upstream}")
    if cores != budgets.cores:
        differs.append(f"measured on {cores} core(s), the budget is for {budgets.cores}")
    reason = "; ".join(differs) if figures else "no run of it ended well"

    def verdict(
        what: str, unit: str, allowed: float, measured: float | None, strict: bool
    ) -> Verdict:
        if measured is None or reason:
            return Verdict(what, unit, allowed, measured, None, reason or "not measured")
        return Verdict(
            what, unit, allowed, measured, measured < allowed if strict else measured <= allowed
        )

    wall = figures.wall_seconds.maximum if figures else None
    again = warm.wall_seconds.maximum if warm else None
    # A ratio of two figures of one run: the middle of the runs, since a slow moment hits one of the
    # two.
    parses = deciding.median if deciding else None
    memory = figures.memory_bytes.maximum / _GIB if figures and figures.memory_bytes else None
    others = []
    if budgets.warm_subject:
        others.append(
            verdict(
                "wall time after one file changed, at most", "s", budgets.warm_seconds, again, False
            )
        )
    if budgets.deciding_subject:
        others.append(
            verdict("deciding, at most", "parses", budgets.deciding_parses, parses, False)
        )
    return (
        verdict("wall time, at most", "s", budgets.wall_seconds, wall, False),
        verdict("peak memory, under", "GiB", budgets.memory_gib, memory, True),
        *others,
    )
