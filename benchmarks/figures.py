"""Statistics of repeated measurements: spread of each subject, ratios paired run by run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.process import Measurement


@dataclass(frozen=True, slots=True)
class Record:
    """One subject in one run."""

    subject: str
    run: int
    measurement: Measurement
    phases: Mapping[str, float]
    """Seconds by phase, as the subject itself reports them; empty when it reports none."""
    problem: str = ""
    """Why the run's figures are not used; a run that hit its time limit is one."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Smallest, middle and largest of some measurements."""

    minimum: float
    median: float
    maximum: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Raises ValueError when there are none."""
        if not values:
            raise ValueError("no measurements")
        return cls(min(values), median(values), max(values))


@dataclass(frozen=True, slots=True)
class Figures:
    """All sound runs of one subject."""

    runs: int
    wall_seconds: Spread
    cpu_seconds: Spread
    memory_bytes: Spread
    largest_process_bytes: Spread | None
    tree_rss_bytes: Spread | None
    tree_pss_bytes: Spread | None
    phases: Mapping[str, Spread]
    sampler_share: float
    """Largest share of one core that watching took, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """The reference's figure divided by another subject's, both of the same run."""

    subject: str
    runs: int
    wall: Spread
    cpu: Spread
    memory: Spread


def figures_of(records: Sequence[Record]) -> Figures | None:
    """Figures of one subject's records; ``None`` when no run ended well."""
    sound = [record for record in records if not record.problem]
    if not sound:
        return None
    taken = [record.measurement for record in sound]
    names = dict.fromkeys(name for record in sound for name in record.phases)
    return Figures(
        runs=len(sound),
        wall_seconds=Spread.of([m.wall_seconds for m in taken]),
        cpu_seconds=Spread.of([m.cpu_seconds for m in taken]),
        memory_bytes=Spread.of([m.memory_bytes for m in taken]),
        largest_process_bytes=_known([m.largest_process_bytes for m in taken]),
        tree_rss_bytes=_known([m.tree_rss_bytes for m in taken]),
        tree_pss_bytes=_known([m.tree_pss_bytes for m in taken]),
        phases={
            n: Spread.of([record.phases[n] for record in sound if n in record.phases])
            for n in names
        },
        sampler_share=max(m.sampler_cpu_seconds / m.wall_seconds for m in taken),
    )


def ratio(reference: Sequence[Record], other: Sequence[Record]) -> Ratio | None:
    """Ratios of the reference to another subject; ``None`` when no run has sound figures of both.

    Pairs are of the same run: what slows a machine for a minute then slows both.
    """
    by_run = {record.run: record.measurement for record in other if not record.problem}
    pairs = [
        (record.measurement, by_run[record.run])
        for record in reference
        if not record.problem and record.run in by_run
    ]
    if not pairs:
        return None

    def of(value: Callable[[Measurement], float]) -> Spread:
        return Spread.of([value(ours) / value(theirs) for ours, theirs in pairs])

    return Ratio(
        subject=other[0].subject,
        runs=len(pairs),
        wall=of(lambda m: m.wall_seconds),
        cpu=of(lambda m: m.cpu_seconds),
        memory=of(lambda m: m.memory_bytes),
    )


def parses_of(records: Sequence[Record]) -> Spread | None:
    """Return how many times the `ast.parse` of the same files deciding took; ``None`` when no run
    ended well.
    """
    found = [r.phases["deciding"] / r.phases["ast.parse"] for r in records if not r.problem]
    return Spread.of(found) if found else None


def _known(values: Sequence[int | None]) -> Spread | None:
    known = [value for value in values if value is not None]
    return Spread.of(known) if len(known) == len(values) else None
